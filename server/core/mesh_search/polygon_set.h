// Sets of polygons, mostly small.
#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "server/core/mesh/mesh_spec.h"

namespace waystar::core {

// The polygons that a flood has come to, or that lie around a place. Each call costs O(1), also on a mesh all
// of whose polygons meet in a vertex. Thread safety: none.
class PolygonSet {
 public:
  // Returns false if it has the polygon already.
  bool Add(PolygonNumber polygon) {
    if (many_.empty()) {
      if (IsAmongFew(polygon)) {
        return false;
      }
      if (few_.size() < kFew) {
        few_.push_back(polygon);
        return true;
      }
      many_.insert(few_.begin(), few_.end());
    }
    return many_.insert(polygon).second;
  }

  bool Has(PolygonNumber polygon) const {
    return many_.empty() ? IsAmongFew(polygon) : many_.contains(polygon);
  }

 private:
  // So many are found by a look at all of them.
  static constexpr std::size_t kFew = 32;

  bool IsAmongFew(PolygonNumber polygon) const {
    return std::find(few_.begin(), few_.end(), polygon) != few_.end();
  }

  absl::InlinedVector<PolygonNumber, kFew> few_;
  // All of them, once there are more.
  absl::flat_hash_set<PolygonNumber> many_;
};

}  // namespace waystar::core
