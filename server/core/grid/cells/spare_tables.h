// Band tables of released versions, kept for reuse.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/core/grid/cells/band_set.h"
#include "server/core/grid/cells/band_version.h"

namespace waystar::core {

// Cache of spare band tables. Copying a version's whole table is slow on a large plane with few changes. A
// spare table refers to a live version and lists the bands in which it differs from that version's table, so
// that only these are copied.
//
// Not thread-safe.
template <typename T>
class SpareTables {
 public:
  struct Spare {
    std::unique_ptr<T*[]> starts;
    const BandVersion<T>* like = nullptr;
    BandSet but_for;
  };

  // Takes the spare nearest to `version` among those of `version` and its ancestors, and relates it to
  // `version`. Returns nothing if there is none within kMaxSteps.
  std::optional<Spare> TakeNearest(const BandVersion<T>& version, std::size_t bands) {
    if (spares_.empty()) {
      return std::nullopt;
    }
    BandSet but_for(bands);
    const BandVersion<T>* at = &version;
    for (int steps = 0; at != nullptr && !at->is_open && steps < kMaxSteps; ++steps) {
      const auto found = std::ranges::find(spares_, at, &Spare::like);
      if (found != spares_.end()) {
        Spare spare = std::move(*found);
        spares_.erase(found);
        spare.like = &version;
        spare.but_for.AddAll(but_for);
        return spare;
      }
      but_for.AddAll(at->own);
      at = at->parent;
    }
    return std::nullopt;
  }

  // Adds the table of `gone`. It and all spares related to `gone` are now related to `left`, with `bands` as
  // additional differences. Returns the oldest spare if there are too many.
  Spare Inherit(BandVersion<T>& gone, const BandVersion<T>& left, const BandSet& bands) {
    for (Spare& spare : spares_) {
      if (spare.like == &gone) {
        spare.like = &left;
        spare.but_for.AddAll(bands);
      }
    }
    spares_.push_back({std::move(gone.starts), &left, bands});
    Spare oldest;
    if (spares_.size() > kMaxSpares) {
      oldest = std::move(spares_.front());
      spares_.erase(spares_.begin());
    }
    return oldest;
  }

  void Clear() { spares_.clear(); }

 private:
  static constexpr std::size_t kMaxSpares = 2;
  // At a greater distance too many bands differ.
  static constexpr int kMaxSteps = 16;

  // Oldest first.
  std::vector<Spare> spares_;
};

}  // namespace waystar::core
