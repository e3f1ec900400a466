#include "server/core/mesh/search/mesh_wall.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Number of polygons to flood first. Most places are so near to a wall that the flood finds it faster than
// the tree.
constexpr std::uint64_t kFloodedAtFirst = 32;
// Maximum displacement by rounding of an edge from a line that meets it, and of a place from its wall, with
// some tolerance.
constexpr double kLineSlack = 4.0 / kFixedScale;

class WallSearch {
 public:
  WallSearch(const NavMesh& mesh, const MeshPlace& place, double radius, const Budget& budget)
      : mesh_(mesh), place_(place), budget_(budget), least_(radius * radius) {}

  absl::StatusOr<MeshWallReport> Run() {
    std::vector<PolygonNumber> around;
    FindPolygonsAround(mesh_, place_, around);
    for (const PolygonNumber polygon : around) {
      around_.Add(polygon);
      open_.push({0.0, polygon, kNoPolygon});
    }
    // The tree does not have the walls of cut polygons.
    if (Flood(mesh_.is_cut() ? std::numeric_limits<std::uint64_t>::max() : kFloodedAtFirst)) {
      LookAtWalls();
    }
    if (!status_.ok()) {
      return status_;
    }
    if (wall_.polygon != kNoPolygon) {
      report_.wall = Wall();
    }
    return report_;
  }

 private:
  // A polygon entered through an edge at this distance from the place, and the previous polygon.
  struct Entry {
    double squared_distance;
    PolygonNumber polygon;
    PolygonNumber from;
  };
  struct IsAfter {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.squared_distance != b.squared_distance ? a.squared_distance > b.squared_distance
                                                      : a.polygon > b.polygon;
    }
  };

  // Counts a polygon or a wall. Returns false if the search must stop.
  bool Count() {
    if (report_.expanded >= budget_.max_expansions) {
      status_ = MakeError(ErrorReason::kRegionTooLarge, "",
                          "so large a part of the mesh would take more than the server's limits for one "
                          "answer");
    } else if (++report_.expanded % Budget::kPollInterval == 0) {
      if (const std::optional<SearchEnd> end = Interruption(budget_)) {
        status_ = InterruptionError(*end, report_.expanded);
      }
    }
    return status_.ok();
  }

  // Runs until the flood has visited `count` polygons. Returns false if the search has ended.
  bool Flood(std::uint64_t count) {
    while (!open_.empty() && open_.top().squared_distance <= least_) {
      if (flooded_ >= count) {
        return true;
      }
      const Entry entry = open_.top();
      open_.pop();
      if (expanded_.Add(entry.polygon)) {
        if (!Count()) {
          return false;
        }
        ++flooded_;
        Expand(entry.polygon, entry.from);
      }
    }
    return false;
  }

  void Expand(PolygonNumber polygon, PolygonNumber from) {
    const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon);
    ForEachEdge(mesh_, polygon, [&](std::uint32_t k, const WorldPoint& a, const WorldPoint& b) {
      const SegmentPoint nearest = NearestOnPlanSegment(a, b, place_.point);
      if (neighbours[k] != kNoPolygon) {
        const PolygonNumber next = mesh_.Behind(neighbours[k], b);
        if (nearest.squared_distance <= least_ && next != from) {
          open_.push({nearest.squared_distance, next, polygon});
        }
      } else if (IsBetter({polygon, k}, nearest.squared_distance)) {
        Take({polygon, k}, nearest);
      }
    });
  }

  void LookAtWalls() {
    const auto distance_to = [&](std::uint32_t wall) {
      return NearestOf(mesh_.WallAt(wall)).squared_distance;
    };
    const WorldPoint position{place_.point.x, place_.point.y, 0.0};
    mesh_.wall_tree().VisitInOrder(
        position, least_, distance_to, [&](std::uint32_t wall, double squared_distance) {
          if (squared_distance > least_ || !Count()) {
            return false;
          }
          const WallEdge& edge = mesh_.WallAt(wall);
          if (!IsBetter(edge, squared_distance)) {
            return true;
          }
          const SegmentPoint nearest = NearestOf(edge);
          if (mesh_.PartOf(edge.polygon) == mesh_.PartOf(place_.polygon) && IsInSight(edge, nearest)) {
            Take(edge, nearest);
            return true;
          }
          return status_.ok() && Flood(report_.expanded - flooded_);
        });
  }

  // Returns true if a straight line along the surface leads from this point of the wall to the place.
  bool IsInSight(const WallEdge& wall, const SegmentPoint& nearest) {
    const WorldPoint end{nearest.point.x, nearest.point.y, 0.0};
    PolygonSet seen;
    absl::InlinedVector<PolygonNumber, 16> open{wall.polygon};
    seen.Add(wall.polygon);
    while (!open.empty()) {
      const PolygonNumber polygon = open.back();
      open.pop_back();
      if (around_.Has(polygon)) {
        return true;
      }
      if (!Count()) {
        return false;
      }
      const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon);
      ForEachEdge(mesh_, polygon, [&](std::uint32_t k, const WorldPoint& a, const WorldPoint& b) {
        if (neighbours[k] != kNoPolygon && MeetsLine(a, b, end)) {
          const PolygonNumber next = mesh_.Behind(neighbours[k], b);
          if (seen.Add(next)) {
            open.push_back(next);
          }
        }
      });
    }
    return false;
  }

  // Returns true if the edge from a to b meets the line from the place to `end`, or nearly does.
  bool MeetsLine(const WorldPoint& a, const WorldPoint& b, const WorldPoint& end) const {
    const WorldPoint& start = place_.point;
    const double dx = end.x - start.x;
    const double dy = end.y - start.y;
    const double side_a = dx * (a.y - start.y) - dy * (a.x - start.x);
    const double side_b = dx * (b.y - start.y) - dy * (b.x - start.x);
    const double slack = kLineSlack * (std::abs(dx) + std::abs(dy));
    if (std::min(side_a, side_b) > slack || std::max(side_a, side_b) < -slack) {
      return false;
    }
    const auto is_near = [](const SegmentPoint& point) {
      return point.squared_distance <= kLineSlack * kLineSlack;
    };
    const double side_start = (b.x - a.x) * (start.y - a.y) - (b.y - a.y) * (start.x - a.x);
    const double side_end = (b.x - a.x) * (end.y - a.y) - (b.y - a.y) * (end.x - a.x);
    // Rounding gives a wrong side only if an end is near the line.
    return (side_a * side_b < 0.0 && side_start * side_end < 0.0) ||
           is_near(NearestOnPlanSegment(a, b, start)) || is_near(NearestOnPlanSegment(a, b, end)) ||
           is_near(NearestOnPlanSegment(start, end, a)) || is_near(NearestOnPlanSegment(start, end, b));
  }

  // Returns true if the wall at this distance takes precedence over the nearest one so far.
  bool IsBetter(const WallEdge& wall, double squared_distance) const {
    if (squared_distance != least_) {
      return squared_distance < least_;
    }
    return wall_.polygon == kNoPolygon ||
           std::tuple(EntryDistance(wall.polygon), wall) < std::tuple(EntryDistance(wall_.polygon), wall_);
  }

  // Returns the squared distance of the nearest edge through which the polygon can be entered.
  double EntryDistance(PolygonNumber polygon) const {
    if (around_.Has(polygon)) {
      return 0.0;
    }
    double least = std::numeric_limits<double>::infinity();
    ForEachEdge(mesh_, polygon, [&](std::uint32_t k, const WorldPoint& a, const WorldPoint& b) {
      if (mesh_.NeighboursOf(polygon)[k] != kNoPolygon) {
        // The edge runs in the other direction in the polygon that is left, which may round differently.
        least = std::min(least, NearestOnPlanSegment(b, a, place_.point).squared_distance);
      }
    });
    return least;
  }

  void Take(const WallEdge& wall, const SegmentPoint& nearest) {
    least_ = nearest.squared_distance;
    wall_ = wall;
    nearest_ = nearest;
  }

  SegmentPoint NearestOf(const WallEdge& edge) const {
    const EdgeEnds ends = mesh_.EndsOf(edge);
    return NearestOnPlanSegment(ends.from, ends.to, place_.point);
  }

  MeshWall Wall() const {
    MeshWall wall{
        .end = {wall_.polygon, mesh_.NearestPoint(wall_.polygon, nearest_.point.x, nearest_.point.y)},
        .distance = std::sqrt(least_),
        .normal = LeftOf(mesh_.EndsOf(wall_).from, mesh_.EndsOf(wall_).to)};
    // At the end of a wall, the normal points to the place.
    if ((nearest_.share == 0.0 || nearest_.share == 1.0) && wall.distance > 0.0) {
      wall.normal = {(place_.point.x - nearest_.point.x) / wall.distance,
                     (place_.point.y - nearest_.point.y) / wall.distance};
    }
    return wall;
  }

  const NavMesh& mesh_;
  const MeshPlace place_;
  const Budget& budget_;
  // Polygons that contain the place.
  PolygonSet around_;
  // Nearest wall so far, and its squared distance.
  double least_;
  WallEdge wall_;
  SegmentPoint nearest_;
  // Nearest first.
  std::priority_queue<Entry, absl::InlinedVector<Entry, 32>, IsAfter> open_;
  PolygonSet expanded_;
  std::uint64_t flooded_ = 0;
  absl::Status status_;
  MeshWallReport report_;
};

}  // namespace

absl::StatusOr<MeshWallReport> FindNearestWall(const NavMesh& mesh, const MeshPlace& place, double radius,
                                               const Budget& budget) {
  return WallSearch(mesh, place, radius, budget).Run();
}

Point LeftOf(const WorldPoint& a, const WorldPoint& b) {
  const double left_x = a.y - b.y;
  const double left_y = b.x - a.x;
  const double length = std::sqrt(left_x * left_x + left_y * left_y);
  return {left_x / length, left_y / length};
}

Point WallNormalAt(const NavMesh& mesh, const MeshPlace& place, const Point& direction, PolygonMeter* meter) {
  const PolygonsAround polygons = FindPolygonsAround(mesh, place);
  Visit(meter, polygons.size());
  Point most{0.0 - direction.x, 0.0 - direction.y};
  double least = 0.0;
  for (const PolygonNumber polygon : polygons) {
    ForEachEdge(mesh, polygon, [&](std::uint32_t k, const WorldPoint& a, const WorldPoint& b) {
      if (mesh.NeighboursOf(polygon)[k] != kNoPolygon ||
          NearestOnPlanSegment(a, b, place.point).squared_distance > kLineSlack * kLineSlack) {
        return;
      }
      const Point normal = LeftOf(a, b);
      const double along = normal.x * direction.x + normal.y * direction.y;
      if (along < least) {
        least = along;
        most = normal;
      }
    });
  }
  return most;
}

}  // namespace waystar::core
