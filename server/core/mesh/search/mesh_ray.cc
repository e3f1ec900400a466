#include "server/core/mesh/search/mesh_ray.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/search/mesh_wall.h"

namespace waystar::core {
namespace {

// Fast path for values that fit 64 bits; converting `__int128` is a library call.
double ToDouble(Int128 number) {
  const auto low = static_cast<std::int64_t>(number);
  return low == number ? static_cast<double>(low) : static_cast<double>(number);
}

// Fast path for the most frequent rays: start and goal lie in one polygon each, and the ray touches no vertex
// and no dented polygon, so that it leaves each polygon through one edge.
//
// Returns the result of MeshRayWalk, or nullopt if the ray is not of this kind.
std::optional<MeshRayHit> CastPlainRay(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal,
                                       PolygonMeter* meter) {
  const WorldPoint& from = start.point;
  const WorldPoint& to = goal.point;
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  // Upper bound of the rounding error of a side: twice the largest coordinates, times the ray, times 2^-52,
  // with some tolerance.
  const double least_side = (std::abs(dx) + std::abs(dy)) * kMaxReach / (std::uint64_t{1} << 48);
  if (least_side == 0.0 || !IsAlone(mesh, start) || (goal.polygon != kNoPolygon && !IsAlone(mesh, goal))) {
    return std::nullopt;
  }
  const auto side_of = [&](const WorldPoint& p) { return dx * (p.y - from.y) - dy * (p.x - from.x); };
  constexpr int kMostPolygons = 1 << 16;
  PolygonNumber polygon = start.polygon;
  for (int i = 0; i < kMostPolygons && Visit(meter); ++i) {
    if (polygon == goal.polygon) {
      return MeshRayHit{.reaches_goal = true, .end = goal, .length = DistanceInPlan(from, to)};
    }
    if (mesh.IsDented(polygon)) {
      return std::nullopt;
    }
    const absl::Span<const std::uint32_t> corners = mesh.VerticesOf(polygon);
    const std::size_t last = corners.size() - 1;
    // Edge that leads from the right of the ray to its left.
    std::size_t exit = last;
    const WorldPoint* a = &mesh.VertexAt(corners[last]);
    const WorldPoint* b = &mesh.VertexAt(corners[0]);
    double a_side = side_of(*a);
    double b_side = side_of(*b);
    bool is_clear = std::abs(a_side) > least_side && std::abs(b_side) > least_side;
    for (std::size_t k = 0; !(a_side < 0.0 && b_side > 0.0); ++k) {
      if (k == last) {
        return std::nullopt;
      }
      exit = k;
      a = b;
      a_side = b_side;
      b = &mesh.VertexAt(corners[k + 1]);
      b_side = side_of(*b);
      is_clear &= std::abs(b_side) > least_side;
    }
    const double goal_side = Side(*a, *b, to);
    if (!is_clear || goal_side == 0.0) {
      return std::nullopt;
    }
    if (goal_side > 0.0) {
      return MeshRayHit{.reaches_goal = goal.polygon == kNoPolygon,
                        .end = {polygon, mesh.NearestPoint(polygon, to.x, to.y)},
                        .length = DistanceInPlan(from, to)};
    }
    const PolygonNumber beyond = mesh.Across(polygon, exit);
    if (beyond == kNoPolygon) {
      const Int128 start_side = SideOf(ToFixed(*a), ToFixed(*b), ToFixed(from));
      const Int128 whole = start_side - SideOf(ToFixed(*a), ToFixed(*b), ToFixed(to));
      if (start_side <= 0) {
        return std::nullopt;
      }
      const double fraction = ToDouble(start_side) / ToDouble(whole);
      const WorldPoint end =
          mesh.NearestPointBy(polygon, exit, from.x + fraction * dx, from.y + fraction * dy);
      return MeshRayHit{.is_blocked = true,
                        .end = {polygon, end},
                        .fraction = fraction,
                        .length = DistanceInPlan(from, end),
                        .wall_normal = LeftOf(*a, *b)};
    }
    if (beyond == start.polygon) {
      return std::nullopt;
    }
    polygon = beyond;
  }
  return std::nullopt;
}

class MeshRayWalk {
 public:
  // The first of `starts` and of `goals` are the start and the goal; the others are the same point in other
  // fans of polygons. A goal without a polygon may be reached on any floor.
  MeshRayWalk(const NavMesh& mesh, const PlacesAround& starts, const PlacesAround& goals, PolygonMeter* meter)
      : mesh_(mesh),
        meter_(meter),
        start_(starts.front()),
        goal_(goals.front()),
        from_(ToFixed(start_.point)),
        to_(ToFixed(goal_.point)),
        whole_(AlongOf(to_)),
        steps_left_(mesh.corner_count() + mesh.polygon_count()),
        start_polygons_(FindPolygonsAround(mesh, starts)),
        furthest_{0.0, start_.polygon} {
    if (goal_.polygon != kNoPolygon) {
      goal_polygons_ = FindPolygonsAround(mesh, goals);
    }
  }

  MeshRayHit Run() {
    if (whole_ == 0) {
      Stay();
    } else {
      for (const PolygonNumber polygon : start_polygons_) {
        fronts_.push({0, polygon});
      }
    }
    while (!fronts_.empty() && !reaches_goal_) {
      const Front front = fronts_.top();
      fronts_.pop();
      if (front.along != along_) {
        along_ = front.along;
        entered_.clear();
      } else if (Has(entered_, front.polygon)) {
        continue;
      }
      entered_.push_back(front.polygon);
      WalkFrom(front.polygon);
    }
    return Hit();
  }

 private:
  // A polygon that is entered at a vertex on the ray, or along an edge that lies on the ray. `along` is the
  // position: see AlongOf.
  struct Front {
    Int128 along;
    PolygonNumber polygon;
  };
  struct IsAfter {
    bool operator()(const Front& a, const Front& b) const {
      return a.along != b.along ? a.along > b.along : a.polygon > b.polygon;
    }
  };

  // An edge through whose interior the ray leaves a polygon; the polygon is on its left.
  struct Exit {
    PolygonNumber beyond;
    // Positive if that end of the ray is on this side of the edge.
    Int128 start_side;
    Int128 goal_side;
    // Fraction of the ray's length at which it crosses the edge.
    double fraction;
    // Ends of the edge.
    const WorldPoint* a;
    const WorldPoint* b;
  };

  struct Furthest {
    double fraction;
    PolygonNumber polygon;
    // Ends of the wall; null where walls meet.
    const WorldPoint* a = nullptr;
    const WorldPoint* b = nullptr;
  };

  // Returns the distance along the ray of a point on its line, as a multiple of the ray's length.
  Int128 AlongOf(const FixedPoint& point) const {
    return Int128{point.x - from_.x} * (to_.x - from_.x) + Int128{point.y - from_.y} * (to_.y - from_.y);
  }
  double FractionOf(Int128 along) const { return static_cast<double>(along) / static_cast<double>(whole_); }

  template <typename Polygons>
  static bool Has(const Polygons& polygons, PolygonNumber polygon) {
    return std::find(polygons.begin(), polygons.end(), polygon) != polygons.end();
  }
  bool IsGoal(PolygonNumber polygon) const { return Has(goal_polygons_, polygon); }

  // Ends a ray of length 0.
  void Stay() {
    for (const PolygonNumber polygon : start_polygons_) {
      reaches_goal_ |= IsGoal(polygon);
      Arrive(polygon);
    }
  }

  void WalkFrom(PolygonNumber polygon) {
    fraction_ = FractionOf(along_);
    while (polygon != kNoPolygon && steps_left_ > 0 && Visit(meter_)) {
      --steps_left_;
      if (IsGoal(polygon)) {
        reaches_goal_ = true;
        return;
      }
      polygon = Cross(polygon);
    }
  }

  // Returns the polygon that the ray enters through the interior of an edge of this polygon, or kNoPolygon.
  // Queues polygons that it enters elsewhere, and records where the ray ends.
  PolygonNumber Cross(PolygonNumber polygon) {
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
    std::optional<Exit> exit;
    Int128 last_along = along_;
    const WorldPoint* a_vertex = &mesh_.VertexAt(corners[0]);
    double a_side = Side(start_.point, goal_.point, *a_vertex);
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const WorldPoint* const b_vertex = &mesh_.VertexAt(corners[k + 1 < corners.size() ? k + 1 : 0]);
      const double b_side = Side(start_.point, goal_.point, *b_vertex);
      if (a_side < 0.0 && b_side > 0.0) {
        Choose(exit, ExitThrough(*a_vertex, *b_vertex, mesh_.Across(polygon, k)));
      } else if (a_side == 0.0 || b_side == 0.0) {
        const Int128 a_along = AlongOf(ToFixed(a_side == 0.0 ? *a_vertex : *b_vertex));
        const Int128 b_along = AlongOf(ToFixed(b_side == 0.0 ? *b_vertex : *a_vertex));
        const Int128 low = std::max(std::min(a_along, b_along), along_);
        const Int128 high = std::max(a_along, b_along);
        last_along = std::max(last_along, high);
        const PolygonNumber next = mesh_.Across(polygon, k);
        if (next != kNoPolygon && high >= along_ && low <= whole_ &&
            !(low == along_ && Has(entered_, next))) {
          fronts_.push({low, next});
        }
      }
      a_vertex = b_vertex;
      a_side = b_side;
    }

    if (!exit) {
      if (last_along >= whole_) {
        Arrive(polygon);
      } else {
        EndAt({FractionOf(last_along), polygon});
      }
      return kNoPolygon;
    }
    if (exit->goal_side >= 0) {
      Arrive(polygon);
    }
    if (exit->goal_side > 0) {
      return kNoPolygon;
    }
    if (exit->beyond == kNoPolygon) {
      EndAt({exit->fraction, polygon, exit->a, exit->b});
      return kNoPolygon;
    }
    // A ray that starts on the edge also starts in the polygon beyond.
    if (exit->start_side <= 0 && Has(start_polygons_, exit->beyond)) {
      return kNoPolygon;
    }
    fraction_ = exit->fraction;
    return exit->beyond;
  }

  Exit ExitThrough(const WorldPoint& a, const WorldPoint& b, PolygonNumber beyond) const {
    const Int128 start_side = SideOf(ToFixed(a), ToFixed(b), from_);
    const Int128 goal_side = SideOf(ToFixed(a), ToFixed(b), to_);
    const double fraction = static_cast<double>(start_side) / static_cast<double>(start_side - goal_side);
    return {beyond, start_side, goal_side, std::clamp(fraction, 0.0, 1.0), &a, &b};
  }

  // A dented polygon may be left more than once; the first exit that the ray has not passed yet takes
  // precedence.
  void Choose(std::optional<Exit>& exit, const Exit& other) const {
    const bool is_better =
        !exit || (other.fraction > fraction_ ? exit->fraction <= fraction_ || other.fraction < exit->fraction
                                             : other.fraction > exit->fraction);
    if (is_better) {
      exit = other;
    }
  }

  void Arrive(PolygonNumber polygon) {
    const MeshPlace place{polygon, mesh_.NearestPoint(polygon, goal_.point.x, goal_.point.y)};
    const auto height = [&](const MeshPlace& at) { return std::abs(at.point.z - goal_.point.z); };
    if (!arrival_ || height(place) < height(*arrival_) ||
        (height(place) == height(*arrival_) && polygon < arrival_->polygon)) {
      arrival_ = place;
    }
  }

  void EndAt(const Furthest& end) {
    if (end.fraction > furthest_.fraction) {
      furthest_ = end;
    }
  }

  MeshRayHit Hit() const {
    if (reaches_goal_ || arrival_) {
      return {.reaches_goal = reaches_goal_ || goal_polygons_.empty(),
              .end = reaches_goal_ ? goal_ : *arrival_,
              .length = DistanceInPlan(start_.point, goal_.point)};
    }
    const WorldPoint& from = start_.point;
    const WorldPoint& to = goal_.point;
    MeshRayHit hit{.is_blocked = true, .end = start_, .fraction = furthest_.fraction};
    if (furthest_.fraction > 0.0) {
      hit.end = {furthest_.polygon,
                 mesh_.NearestPoint(furthest_.polygon, from.x + furthest_.fraction * (to.x - from.x),
                                    from.y + furthest_.fraction * (to.y - from.y))};
    }
    hit.length = DistanceInPlan(from, hit.end.point);
    if (furthest_.a != nullptr) {
      hit.wall_normal = LeftOf(*furthest_.a, *furthest_.b);
    } else {
      const double whole = DistanceInPlan(from, to);
      hit.wall_normal =
          WallNormalAt(mesh_, hit.end, {(to.x - from.x) / whole, (to.y - from.y) / whole}, meter_);
    }
    return hit;
  }

  const NavMesh& mesh_;
  PolygonMeter* const meter_;
  const MeshPlace start_;
  const MeshPlace goal_;
  const FixedPoint from_;
  const FixedPoint to_;
  // AlongOf(goal).
  const Int128 whole_;
  // Ensures termination if dents of polygons overlap.
  std::size_t steps_left_;
  const PolygonsAround start_polygons_;
  PolygonsAround goal_polygons_;
  // Nearest first.
  std::priority_queue<Front, absl::InlinedVector<Front, 4>, IsAfter> fronts_;
  // Position of the last front, and the polygons entered there.
  Int128 along_ = 0;
  absl::InlinedVector<PolygonNumber, 4> entered_;
  // Fraction at which the current polygon was entered.
  double fraction_ = 0.0;
  bool reaches_goal_ = false;
  std::optional<MeshPlace> arrival_;
  Furthest furthest_;
};

}  // namespace

MeshRayHit CastMeshRay(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal,
                       PolygonMeter* meter) {
  if (const std::optional<MeshRayHit> hit = CastPlainRay(mesh, start, goal, meter)) {
    return *hit;
  }
  return MeshRayWalk(mesh, FindPlacesAround(mesh, start),
                     goal.polygon == kNoPolygon ? PlacesAround{goal} : FindPlacesAround(mesh, goal), meter)
      .Run();
}

MeshRayHit CastMeshRay(const NavMesh& mesh, const MeshPlace& start, const WorldPoint& goal,
                       PolygonMeter* meter) {
  return CastMeshRay(mesh, start, MeshPlace{kNoPolygon, Rounded(goal)}, meter);
}

MeshRayHit CastMeshRayInFan(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal,
                            PolygonMeter* meter) {
  if (const std::optional<MeshRayHit> hit = CastPlainRay(mesh, start, goal, meter)) {
    return *hit;
  }
  return MeshRayWalk(mesh, {start}, {goal}, meter).Run();
}

}  // namespace waystar::core
