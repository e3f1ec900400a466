#include "server/core/mesh_search/mesh_wall.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/mesh/plan.h"
#include "server/core/mesh/plan_segment.h"
#include "server/core/mesh_search/polygon_set.h"
#include "server/core/mesh_search/polygons_around.h"
#include "server/core/mesh_search/wall_normal.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

class WallFlood {
 public:
  WallFlood(const NavMesh& mesh, const MeshPlace& place, double radius)
      : mesh_(mesh), place_(place), least_(radius * radius) {}

  absl::StatusOr<MeshWallReport> Run(const Budget& budget) {
    std::vector<PolygonNumber> around;
    FindPolygonsAround(mesh_, place_, around);
    for (const PolygonNumber polygon : around) {
      Push({0.0, polygon, kNoPolygon});
    }
    while (!open_.empty()) {
      std::pop_heap(open_.begin(), open_.end(), IsAfter);
      const Entry entry = open_.back();
      open_.pop_back();
      if (entry.squared_distance > least_) {
        break;
      }
      if (!expanded_.Add(entry.polygon)) {
        continue;
      }
      if (report_.expanded >= budget.max_expansions) {
        return MakeError(ErrorReason::kRegionTooLarge, "",
                         "so large a part of the mesh would take more than the server's limits for one "
                         "answer");
      }
      if (++report_.expanded % Budget::kPollInterval == 0) {
        if (const std::optional<SearchEnd> end = Interruption(budget)) {
          return InterruptionError(*end, report_.expanded);
        }
      }
      Expand(entry.polygon, entry.from);
    }
    if (wall_ != kNoPolygon) {
      report_.wall = Wall();
    }
    return report_;
  }

 private:
  // A polygon that is entered through an edge at this distance from the place, and the one before it.
  struct Entry {
    double squared_distance;
    PolygonNumber polygon;
    PolygonNumber from;
  };
  static bool IsAfter(const Entry& a, const Entry& b) {
    return a.squared_distance != b.squared_distance ? a.squared_distance > b.squared_distance
                                                    : a.polygon > b.polygon;
  }

  void Push(const Entry& entry) {
    open_.push_back(entry);
    std::push_heap(open_.begin(), open_.end(), IsAfter);
  }

  void Expand(PolygonNumber polygon, PolygonNumber from) {
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
    const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon);
    const WorldPoint* a = &mesh_.VertexAt(corners[0]);
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const WorldPoint* const b = &mesh_.VertexAt(corners[k + 1 < corners.size() ? k + 1 : 0]);
      const SegmentPoint nearest = NearestOnPlanSegment(*a, *b, place_.point);
      if (neighbours[k] != kNoPolygon) {
        if (nearest.squared_distance <= least_ && neighbours[k] != from) {
          Push({nearest.squared_distance, neighbours[k], polygon});
        }
      } else if (nearest.squared_distance < least_ ||
                 (nearest.squared_distance == least_ && wall_ == kNoPolygon)) {
        least_ = nearest.squared_distance;
        wall_ = polygon;
        wall_edge_ = k;
        nearest_ = nearest;
      }
      a = b;
    }
  }

  MeshWall Wall() const {
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(wall_);
    const WorldPoint& a = mesh_.VertexAt(corners[wall_edge_]);
    const WorldPoint& b = mesh_.VertexAt(corners[wall_edge_ + 1 < corners.size() ? wall_edge_ + 1 : 0]);
    MeshWall wall{.end = {wall_, mesh_.NearestPoint(wall_, nearest_.point.x, nearest_.point.y)},
                  .distance = std::sqrt(least_),
                  .normal = LeftOf(a, b)};
    // Round the end of a wall it turns.
    if ((nearest_.share == 0.0 || nearest_.share == 1.0) && wall.distance > 0.0) {
      wall.normal = {(place_.point.x - nearest_.point.x) / wall.distance,
                     (place_.point.y - nearest_.point.y) / wall.distance};
    }
    return wall;
  }

  const NavMesh& mesh_;
  const MeshPlace place_;
  // The squared distance of the nearest wall so far, and its edge.
  double least_;
  PolygonNumber wall_ = kNoPolygon;
  std::size_t wall_edge_ = 0;
  SegmentPoint nearest_;
  // A heap, nearest first.
  absl::InlinedVector<Entry, 32> open_;
  PolygonSet expanded_;
  MeshWallReport report_;
};

}  // namespace

absl::StatusOr<MeshWallReport> FindNearestWall(const NavMesh& mesh, const MeshPlace& place, double radius,
                                               const Budget& budget) {
  return WallFlood(mesh, place, radius).Run(budget);
}

}  // namespace waystar::core
