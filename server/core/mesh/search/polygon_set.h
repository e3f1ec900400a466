// Sets of polygons, mostly small.
#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "server/core/mesh/map/mesh_spec.h"

namespace waystar::core {

// Set of polygons, usually small. Each call costs O(1), even on a mesh whose polygons all meet in one vertex.
// Not thread-safe.
class PolygonSet {
 public:
  // Returns false if the set already contains the polygon.
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
  // Up to this many are searched linearly.
  static constexpr std::size_t kFew = 32;

  bool IsAmongFew(PolygonNumber polygon) const {
    return std::find(few_.begin(), few_.end(), polygon) != few_.end();
  }

  absl::InlinedVector<PolygonNumber, kFew> few_;
  // Contains all polygons once there are more than kFew.
  absl::flat_hash_set<PolygonNumber> many_;
};

}  // namespace waystar::core
