#include "server/core/mesh/search/mesh_move.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "server/core/mesh/search/mesh_wall.h"

namespace waystar::core {
namespace {

// Part of a segment that lies in a circle.
struct Cut {
  double low = 0.0;
  double high = 1.0;
};

class StepFlood {
 public:
  StepFlood(const NavMesh& mesh, const MeshPlace& start, const WorldPoint& target)
      : mesh_(mesh), start_(start), target_(target) {}

  // `hit` is that of the ray to the target, which a wall ends.
  // REQUIRES: the polygon of the start does not contain the target.
  MeshMove Run(const MeshRayHit& hit, PolygonMeter* meter) {
    move_ = {.end = hit.end, .is_blocked = true, .wall_normal = hit.wall_normal};
    least_ = SquaredPlanDistance(hit.end.point, target_);
    against_ = Against(hit.wall_normal, hit.end.point.x, hit.end.point.y);
    for (const PolygonNumber polygon : FindPolygonsAround(mesh_, FindPlacesAround(mesh_, start_))) {
      found_.Add(polygon);
      queue_.push_back(polygon);
    }
    for (std::size_t i = 0; i < queue_.size() && i < kMaxMovePolygons && Visit(meter); ++i) {
      // The first polygon is that of the start, which does not contain the target.
      if (i > 0) {
        if (const std::optional<WorldPoint> end = mesh_.PointAt(queue_[i], target_.x, target_.y)) {
          return {.end = {queue_[i], *end}};
        }
      }
      LookAt(queue_[i]);
    }
    if (nearest_) {
      move_.end = {wall_, mesh_.NearestPointBy(wall_, wall_corner_, nearest_->x, nearest_->y)};
    }
    return move_;
  }

 private:
  // Measures how much a wall with this normal opposes the direction from the point to the target; smaller
  // values oppose it more.
  double Against(const Point& normal, double x, double y) const {
    return normal.x * (target_.x - x) + normal.y * (target_.y - y);
  }

  // The point at share t of a segment lies in the circle if c - 2 h t + q t^2 <= 0, that is, if the
  // directions from it to the start and to the target form a right or obtuse angle.
  struct Circle {
    double q;
    double h;
    double c;
  };
  Circle CircleOver(const WorldPoint& a, const WorldPoint& b) const {
    const double dx = b.x - a.x;
    const double dy = b.y - a.y;
    const double from_x = start_.point.x - a.x;
    const double from_y = start_.point.y - a.y;
    const double to_x = target_.x - a.x;
    const double to_y = target_.y - a.y;
    return {dx * dx + dy * dy, 0.5 * (dx * (from_x + to_x) + dy * (from_y + to_y)),
            from_x * to_x + from_y * to_y};
  }

  bool IsInCircle(const WorldPoint& a, const WorldPoint& b) const {
    const auto [q, h, c] = CircleOver(a, b);
    return c <= 0.0 || c - 2.0 * h + q <= 0.0 || (h > 0.0 && h < q && h * h >= q * c);
  }

  // Returns the part of the segment in the circle.
  std::optional<Cut> CutOf(const WorldPoint& a, const WorldPoint& b) const {
    const auto [q, h, c] = CircleOver(a, b);
    const double root = h * h - q * c;
    if (root < 0.0) {
      return std::nullopt;
    }
    const double half = std::sqrt(root);
    const Cut cut{std::max((h - half) / q, 0.0), std::min((h + half) / q, 1.0)};
    return cut.low <= cut.high ? std::optional(cut) : std::nullopt;
  }

  void LookAt(PolygonNumber polygon) {
    const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon);
    ForEachEdge(mesh_, polygon, [&](std::uint32_t k, const WorldPoint& a, const WorldPoint& b) {
      if (neighbours[k] != kNoPolygon) {
        if (IsInCircle(a, b)) {
          const PolygonNumber next = mesh_.Behind(neighbours[k], b);
          if (found_.Add(next)) {
            queue_.push_back(next);
          }
        }
      } else if (Side(a, b, target_) <= 0.0) {
        // The surface is nearest to the target at a wall that has the target on its other side.
        LookAtWall(polygon, k, a, b);
      }
    });
  }

  // Considers the wall from this corner of the polygon, at a, to the next, at b.
  void LookAtWall(PolygonNumber polygon, std::size_t corner, const WorldPoint& a, const WorldPoint& b) {
    // Most walls are excluded without computing the circle.
    if (NearestOnPlanSegment(a, b, target_).squared_distance > least_) {
      return;
    }
    const std::optional<Cut> cut = CutOf(a, b);
    if (!cut) {
      return;
    }
    const SegmentPoint nearest = NearestOnPlanSegment(a, b, target_, cut->low, cut->high);
    if (nearest.squared_distance > least_) {
      return;
    }
    const Point normal = LeftOf(a, b);
    const double against = Against(normal, nearest.point.x, nearest.point.y);
    if (nearest.squared_distance == least_ && against >= against_) {
      return;
    }
    least_ = nearest.squared_distance;
    against_ = against;
    wall_ = polygon;
    wall_corner_ = corner;
    nearest_ = nearest.point;
    move_.wall_normal = normal;
  }

  const NavMesh& mesh_;
  const MeshPlace start_;
  const WorldPoint target_;
  // Polygons to visit; in most moves at most 32.
  absl::InlinedVector<PolygonNumber, 32> queue_;
  PolygonSet found_;
  MeshMove move_;
  // Squared distance of the nearest wall so far to the target, with the wall's polygon, the corner where it
  // starts, and the point. Until a wall is found, the end of the ray is used instead.
  double least_ = 0.0;
  double against_ = 0.0;
  PolygonNumber wall_ = kNoPolygon;
  std::size_t wall_corner_ = 0;
  std::optional<Point> nearest_;
};

}  // namespace

MeshMove MoveAlongSurface(const NavMesh& mesh, const MeshPlace& start, const WorldPoint& target,
                          PolygonMeter* meter) {
  const WorldPoint rounded = Rounded(target);
  // Most moves of a frame end in the polygon in which they start.
  if (const std::optional<WorldPoint> end = mesh.PointAt(start.polygon, rounded.x, rounded.y)) {
    return {.end = {start.polygon, *end}};
  }
  const MeshRayHit hit = CastMeshRay(mesh, start, rounded, meter);
  if (!hit.is_blocked) {
    return {.end = hit.end};
  }
  return StepFlood(mesh, start, rounded).Run(hit, meter);
}

}  // namespace waystar::core
