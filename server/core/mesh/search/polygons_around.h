// Sets of polygons of a navigation mesh, a budget of walks over them, and the polygons that contain a place
// on an edge or a vertex.
//
// A query that starts or ends on a vertex starts or ends in all polygons with that vertex at its height.
// Where a mesh touches itself, these form several fans (SplitFans), which no edge connects. A query therefore
// first finds the places of all fans, and then the polygons around each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "server/core/mesh/map/cell_layer.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/search/interruption.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Set of polygons, usually small. Each call costs O(1), even on a mesh whose polygons all meet in one vertex.
// Not thread-safe.
class PolygonSet {
 public:
  // Adds a polygon. Returns false if the set already contains it.
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

// Counts the polygons that successive walks visit as expansions, and checks the budget every
// Budget::kPollInterval of them, also within a walk. Not thread-safe.
class PolygonMeter {
 public:
  // The targets of the budget's pointers must outlive this.
  explicit PolygonMeter(const Budget& budget) : budget_(budget), next_look_(NextLook()) {}

  // Counts `count` more polygons. Returns false if the walk must stop; its result must not be used then.
  bool Visit(std::uint64_t count = 1) {
    visited_ += count;
    return visited_ < next_look_ || Look();
  }

  std::uint64_t visited() const { return visited_; }
  // Returns the reason that ended the walks: kExpansionLimit, or the result of Interruption.
  std::optional<SearchEnd> end() const { return end_; }

 private:
  // Returns the count at which to check the budget next: the next multiple of the interval, or the end of the
  // budget.
  std::uint64_t NextLook() const {
    const std::uint64_t poll = (visited_ / Budget::kPollInterval + 1) * Budget::kPollInterval;
    return budget_.max_expansions < poll ? budget_.max_expansions + 1 : poll;
  }

  bool Look() {
    if (!end_) {
      end_ = visited_ > budget_.max_expansions ? SearchEnd::kExpansionLimit : Interruption(budget_);
      next_look_ = end_ ? 0 : NextLook();
    }
    return !end_;
  }

  const Budget budget_;
  std::uint64_t visited_ = 0;
  std::uint64_t next_look_;
  std::optional<SearchEnd> end_;
};

// Calls PolygonMeter::Visit. A null meter never stops a walk.
inline bool Visit(PolygonMeter* meter, std::uint64_t count = 1) {
  return meter == nullptr || meter->Visit(count);
}

// Returns the place and, if it lies on a vertex, a place at the same point in each other fan of polygons with
// a vertex there, within kMeshTolerance in height, in the order of their lowest polygons. Costs O(corners of
// the polygon) and, on a vertex at a wall, O(log polygons) plus the corners of the polygons there.
using PlacesAround = absl::InlinedVector<MeshPlace, 1>;
PlacesAround FindPlacesAround(const NavMesh& mesh, const MeshPlace& place);

// Returns the labels of the connected parts of these places, in ascending order, at the same cost.
using PartsAround = absl::InlinedVector<std::uint32_t, 1>;
PartsAround FindPartsAround(const NavMesh& mesh, const MeshPlace& place);

// Returns true if they have a label in common: a path then leads from one place to the other.
bool HaveSharedPart(const PartsAround& a, const PartsAround& b);

// Appends the polygon of the place and those that its point connects to it: across an edge on which it lies,
// and around a vertex. Only edges connect polygons; walls separate them. A point that rounding has moved off
// an edge still counts as on it. The order is by the number of edges from the polygon of the place. Costs
// O(corners of those polygons).
// REQUIRES: `polygons` contains none of them.
void FindPolygonsAround(const NavMesh& mesh, const MeshPlace& place, std::vector<PolygonNumber>& polygons);

// Append the same among cells. The polygon of the place is the number of a cell.
void FindPolygonsAround(const CellLayer& cells, const MeshPlace& place, std::vector<PolygonNumber>& polygons);
void FindPolygonsAround(const CutCellLayer& cells, const MeshPlace& place,
                        std::vector<PolygonNumber>& polygons);

// Appends the polygons around each place that FindPlacesAround returns.
void FindPolygonsOfAllFans(const NavMesh& mesh, const MeshPlace& place, std::vector<PolygonNumber>& polygons);

// Returns true if the place is in the interior of its polygon, away from other polygons and vertices, as most
// are. The functions above then find only that polygon.
bool IsAlone(const NavMesh& mesh, const MeshPlace& place);

// Return these polygons, usually without heap allocation.
using PolygonsAround = absl::InlinedVector<PolygonNumber, 8>;
PolygonsAround FindPolygonsAround(const NavMesh& mesh, const MeshPlace& place);
PolygonsAround FindPolygonsAround(const NavMesh& mesh, const PlacesAround& places);

// Adds these polygons to a set.
// REQUIRES: the set contains all or none of the polygons connected to each other there.
void AddPolygonsAround(const NavMesh& mesh, const MeshPlace& place, PolygonSet& polygons);

}  // namespace waystar::core
