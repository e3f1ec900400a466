// Lists of slots by tile, with constant-time removal per list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace waystar::core {

// Position of a slot in the list of a tile.
struct TileEntry {
  std::uint32_t tile = 0;
  std::uint32_t place = 0;
};

// Each slot has a vector of entries, owned by the caller, that locates it in its lists. A slot may be in a
// list once.
//
// Thread safety: none.
template <typename Value>
class TileLists {
 public:
  struct Listed {
    std::uint32_t slot = 0;
    // Index in the slot's entries.
    std::uint32_t entry = 0;
    [[no_unique_address]] Value value;
  };

  explicit TileLists(std::size_t tiles) : tiles_(tiles) {}

  absl::Span<const Listed> At(std::size_t tile) const { return tiles_[tile]; }

  // Appends a slot to the list of a tile; `entries` are the slot's entries.
  void Add(std::size_t tile, std::uint32_t slot, std::vector<TileEntry>& entries, Value value) {
    entries.push_back({static_cast<std::uint32_t>(tile), static_cast<std::uint32_t>(tiles_[tile].size())});
    tiles_[tile].push_back({slot, static_cast<std::uint32_t>(entries.size() - 1), std::move(value)});
  }

  // Removes the slot with these entries from all its lists. `entries_of(slot)` returns the entries of any
  // slot.
  template <typename EntriesOf>
  void Remove(std::vector<TileEntry>& entries, EntriesOf entries_of) {
    for (const TileEntry entry : entries) {
      std::vector<Listed>& list = tiles_[entry.tile];
      if (entry.place + 1 < list.size()) {
        list[entry.place] = std::move(list.back());
        entries_of(list[entry.place].slot)[list[entry.place].entry].place = entry.place;
      }
      list.pop_back();
    }
    entries.clear();
  }

 private:
  std::vector<std::vector<Listed>> tiles_;
};

}  // namespace waystar::core
