// Tables of where bands begin whose version is gone, to be used again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/core/grid/band_set.h"
#include "server/core/grid/band_version.h"

namespace waystar::core {

// Copying the whole table of a version for the next one is slow on a large plane of which little changes. A
// spare table remembers a version that still exists and the bands in which it differs from that version's
// table, so that only those need to be copied.
//
// Thread safety: none.
template <typename T>
class SpareTables {
 public:
  struct Spare {
    std::unique_ptr<T*[]> starts;
    const BandVersion<T>* like = nullptr;
    BandSet but_for;
  };

  // The spare that is nearest to `version` among those like it or like versions above, as one like `version`.
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

  // Keeps the table of `gone`, and what was like that: all are now like `left`, but for `bands` besides.
  // Returns what there is no room for.
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
  // Farther away too much is different.
  static constexpr int kMaxSteps = 16;

  // The oldest first.
  std::vector<Spare> spares_;
};

}  // namespace waystar::core
