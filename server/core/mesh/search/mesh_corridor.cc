#include "server/core/mesh/search/mesh_corridor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/search/polygons_around.h"

namespace waystar::core {
namespace {

bool Has(absl::Span<const PolygonNumber> polygons, PolygonNumber polygon) {
  return polygon == polygons.front() ||
         (polygons.size() > 1 && std::find(polygons.begin(), polygons.end(), polygon) != polygons.end());
}

// Fast path for the most frequent paths: walks from one polygon to the next, and around vertices on the side
// where the path has more room.
class PlainCorridorWalk {
 public:
  PlainCorridorWalk(const NavMesh& mesh, absl::Span<const PolygonNumber> goal_polygons,
                    std::vector<PolygonNumber>& corridor)
      : mesh_(mesh), goal_polygons_(goal_polygons), corridor_(corridor), steps_left_(mesh.corner_count()) {}

  // Finds the corridor. Returns false if the path is not of this kind, or does not start in this polygon.
  bool Find(absl::Span<const WorldPoint> corners, PolygonNumber start_polygon) {
    corridor_.assign(1, start_polygon);
    for (std::size_t i = 1; i < corners.size(); ++i) {
      from_ = &corners[i - 1];
      to_ = &corners[i];
      is_last_ = i + 1 == corners.size();
      if (i > 1) {
        const double turn = Side(corners[i - 2], *from_, *to_);
        if (turn == 0.0 || !GoRound(corner_, turn > 0.0)) {
          return false;
        }
      }
      if (!WalkLeg()) {
        return false;
      }
    }
    return true;
  }

 private:
  // Returns a positive number for a vertex on the left of the leg.
  double SideOfVertex(std::uint32_t vertex) const { return Side(*from_, *to_, mesh_.VertexAt(vertex)); }

  // Continues along the leg, to a polygon of the goal or one that has the vertex at the end of the leg.
  bool WalkLeg() {
    while (!(is_last_ && Has(goal_polygons_, corridor_.back()))) {
      const PolygonNumber polygon = corridor_.back();
      if (steps_left_-- == 0 || mesh_.IsDented(polygon)) {
        return false;
      }
      const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
      const std::size_t count = corners.size();
      // Edge, or else corner, where the leg leaves the polygon.
      std::size_t exit = count;
      std::size_t leave = count;
      bool is_left = false;
      std::size_t a = count - 1;
      double a_side = SideOfVertex(corners[a]);
      for (std::size_t b = 0; b < count; ++b) {
        const double b_side = SideOfVertex(corners[b]);
        if (a_side < 0.0 && b_side > 0.0) {
          exit = a;
          break;
        }
        if (b_side == 0.0) {
          const WorldPoint& point = mesh_.VertexAt(corners[b]);
          if (!is_last_ && point.x == to_->x && point.y == to_->y) {
            corner_ = b;
            return true;
          }
          if (a_side < 0.0) {
            leave = b;
            is_left = false;
          }
        } else if (a_side == 0.0 && b_side > 0.0) {
          is_left = leave == count;
          leave = a;
        }
        a = b;
        a_side = b_side;
      }
      if (exit == count ? !Pass(leave, is_left) : !Cross(exit)) {
        return false;
      }
    }
    return true;
  }

  // Continues through the interior of an edge.
  bool Cross(std::size_t edge) {
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(corridor_.back());
    const PolygonNumber beyond = mesh_.Across(corridor_.back(), edge);
    const WorldPoint& a = mesh_.VertexAt(corners[edge]);
    const WorldPoint& b = mesh_.VertexAt(corners[edge + 1 < corners.size() ? edge + 1 : 0]);
    // The start may lie on an edge of many polygons, most of which the leg leaves immediately.
    const bool is_at_once = corridor_.size() == 1 && Side(a, b, *from_) <= 0.0;
    if (beyond == kNoPolygon || is_at_once || Side(a, b, *to_) > 0.0) {
      return false;
    }
    corridor_.push_back(beyond);
    return true;
  }

  // Continues straight around a corner in the interior of the leg. `is_left` is true if the polygon is on the
  // left of the leg.
  bool Pass(std::size_t corner, bool is_left) {
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(corridor_.back());
    if (corner == corners.size()) {
      return false;
    }
    const WorldPoint& point = mesh_.VertexAt(corners[corner]);
    const double dx = to_->x - from_->x;
    const double dy = to_->y - from_->y;
    if ((point.x - from_->x) * dx + (point.y - from_->y) * dy <= 0.0 ||
        (to_->x - point.x) * dx + (to_->y - point.y) * dy <= 0.0) {
      return false;
    }
    const std::size_t size = corridor_.size();
    if (GoRound(corner, !is_left)) {
      return true;
    }
    corridor_.resize(size);
    return GoRound(corner, is_left);
  }

  // Walks around a corner of the last polygon, counterclockwise or clockwise, to the polygon that the leg
  // enters there.
  bool GoRound(std::size_t corner, bool is_counterclockwise) {
    while (steps_left_-- > 0) {
      const PolygonNumber polygon = corridor_.back();
      const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
      const std::size_t after = corner + 1 < corners.size() ? corner + 1 : 0;
      const std::size_t before = corner > 0 ? corner - 1 : corners.size() - 1;
      if (SideOfVertex(corners[after]) <= 0.0 && SideOfVertex(corners[before]) >= 0.0) {
        return true;
      }
      const PolygonNumber beyond = mesh_.Across(polygon, is_counterclockwise ? before : corner);
      if (beyond == kNoPolygon || mesh_.IsDented(beyond)) {
        return false;
      }
      corner = mesh_.CornerAt(beyond, corners[corner]);
      corridor_.push_back(beyond);
    }
    return false;
  }

  const NavMesh& mesh_;
  const absl::Span<const PolygonNumber> goal_polygons_;
  std::vector<PolygonNumber>& corridor_;
  std::size_t steps_left_;
  // The current leg.
  const WorldPoint* from_ = nullptr;
  const WorldPoint* to_ = nullptr;
  bool is_last_ = false;
  // Corner of the last polygon that is the end of the last leg.
  std::size_t corner_ = 0;
};

// Walks leg by leg, as MeshRayWalk does, to all polygons that each leg touches, and records predecessors.
class CorridorWalk {
 public:
  CorridorWalk(const NavMesh& mesh, absl::Span<const PolygonNumber> goal_polygons)
      : mesh_(mesh), goal_polygons_(goal_polygons) {}

  bool Find(absl::Span<const WorldPoint> corners, absl::Span<const PolygonNumber> start_polygons,
            std::vector<PolygonNumber>& corridor) {
    for (const PolygonNumber polygon : start_polygons) {
      arrived_.push_back(Add(polygon, kNone));
    }
    for (std::size_t i = 1; i < corners.size(); ++i) {
      is_last_ = i + 1 == corners.size();
      if (!WalkLeg(corners[i - 1], corners[i])) {
        return false;
      }
    }
    if (corners.size() == 1) {
      std::erase_if(arrived_, [&](std::uint32_t step) { return !IsGoal(steps_[step].polygon); });
      if (arrived_.empty()) {
        return false;
      }
    }
    corridor.clear();
    for (std::uint32_t step = arrived_.front(); step != kNone; step = steps_[step].before) {
      corridor.push_back(steps_[step].polygon);
    }
    std::reverse(corridor.begin(), corridor.end());
    return true;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  // A polygon, and the step from which it was entered.
  struct Step {
    PolygonNumber polygon;
    std::uint32_t before;
  };
  // A step that starts at a vertex on the leg, or at the start of an edge on the leg. `along` is the distance
  // along the leg, as a multiple of its length.
  struct Front {
    Int128 along;
    std::uint32_t step;
  };
  struct IsAfter {
    bool operator()(const Front& a, const Front& b) const {
      return std::tie(a.along, a.step) > std::tie(b.along, b.step);
    }
  };

  std::uint32_t Add(PolygonNumber polygon, std::uint32_t before) {
    steps_.push_back({polygon, before});
    return static_cast<std::uint32_t>(steps_.size() - 1);
  }

  Int128 AlongOf(const FixedPoint& point) const {
    return Int128{point.x - from_.x} * (to_.x - from_.x) + Int128{point.y - from_.y} * (to_.y - from_.y);
  }

  // Walks from the steps that arrived at the first corner to those that arrive at the second. Returns false
  // if none arrives.
  bool WalkLeg(const WorldPoint& from, const WorldPoint& to) {
    start_ = from;
    goal_ = to;
    from_ = ToFixed(from);
    to_ = ToFixed(to);
    whole_ = AlongOf(to_);
    PolygonSet entered;
    fronts_ = {};
    for (const std::uint32_t step : arrived_) {
      fronts_.push({0, step});
    }
    arrived_.clear();
    while (!fronts_.empty()) {
      const Front front = fronts_.top();
      fronts_.pop();
      std::uint32_t step = front.step;
      while (step != kNone && entered.Add(steps_[step].polygon)) {
        if (is_last_ && IsGoal(steps_[step].polygon)) {
          arrived_.assign(1, step);
          return true;
        }
        step = Cross(step, front.along, entered);
      }
    }
    return !is_last_ && !arrived_.empty();
  }

  bool IsGoal(PolygonNumber polygon) const { return Has(goal_polygons_, polygon); }

  // Returns the step through the edge whose interior the leg crosses, or kNone. Queues steps through edges
  // with a corner on the leg.
  std::uint32_t Cross(std::uint32_t step, Int128 along, const PolygonSet& entered) {
    const PolygonNumber polygon = steps_[step].polygon;
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
    const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon);
    bool has_exit = false;
    bool is_goal_inside = false;
    bool is_goal_before = true;
    PolygonNumber beyond = kNoPolygon;
    Int128 last_along = along;
    const WorldPoint* a = &mesh_.VertexAt(corners[0]);
    double a_side = Side(start_, goal_, *a);
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const WorldPoint* const b = &mesh_.VertexAt(corners[k + 1 < corners.size() ? k + 1 : 0]);
      const double b_side = Side(start_, goal_, *b);
      if (a_side < 0.0 && b_side > 0.0) {
        const double goal_side = Side(*a, *b, goal_);
        has_exit = true;
        is_goal_inside = goal_side >= 0.0;
        is_goal_before = goal_side > 0.0;
        beyond = mesh_.Behind(neighbours[k], *b);
      } else if (a_side == 0.0 || b_side == 0.0) {
        const Int128 a_along = AlongOf(ToFixed(a_side == 0.0 ? *a : *b));
        const Int128 b_along = AlongOf(ToFixed(b_side == 0.0 ? *b : *a));
        const Int128 low = std::max(std::min(a_along, b_along), along);
        const Int128 high = std::max(a_along, b_along);
        last_along = std::max(last_along, high);
        const PolygonNumber next = mesh_.Behind(neighbours[k], *b);
        if (next != kNoPolygon && high >= along && low <= whole_ && !entered.Has(next)) {
          fronts_.push({low, Add(next, step)});
        }
      }
      a = b;
      a_side = b_side;
    }
    if (has_exit ? is_goal_inside : last_along >= whole_) {
      arrived_.push_back(step);
    }
    return has_exit && !is_goal_before && beyond != kNoPolygon ? Add(beyond, step) : kNone;
  }

  const NavMesh& mesh_;
  const absl::Span<const PolygonNumber> goal_polygons_;
  std::vector<Step> steps_;
  // Steps to polygons that contain the corner that was reached.
  std::vector<std::uint32_t> arrived_;
  // Nearest first.
  std::priority_queue<Front, std::vector<Front>, IsAfter> fronts_;
  WorldPoint start_;
  WorldPoint goal_;
  FixedPoint from_;
  FixedPoint to_;
  // AlongOf(to_), where the leg ends.
  Int128 whole_ = 0;
  bool is_last_ = false;
};

}  // namespace

bool FindCorridor(const NavMesh& mesh, absl::Span<const WorldPoint> corners,
                  absl::Span<const PolygonNumber> start_polygons,
                  absl::Span<const PolygonNumber> goal_polygons, std::vector<PolygonNumber>& corridor) {
  if (corners.size() > 1) {
    PlainCorridorWalk walk(mesh, goal_polygons, corridor);
    for (const PolygonNumber polygon : start_polygons) {
      if (walk.Find(corners, polygon)) {
        return true;
      }
    }
  }
  return CorridorWalk(mesh, goal_polygons).Find(corners, start_polygons, corridor);
}

namespace {

// REQUIRES: the polygons are adjacent.
EdgeEnds EdgeBetween(const NavMesh& mesh, PolygonNumber polygon, PolygonNumber next) {
  std::uint32_t corner = 0;
  while (mesh.Across(polygon, corner) != next) {
    ++corner;
  }
  return mesh.EndsOf({polygon, corner});
}

// Returns the point of the edge on the line from a to b, seen from above.
WorldPoint CrossingOf(const EdgeEnds& edge, const WorldPoint& a, const WorldPoint& b) {
  const auto side = [&](const WorldPoint& p) {
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
  };
  const double of_begin = side(edge.from);
  const double of_end = side(edge.to);
  // The signs differ, unless the line runs along the edge.
  const double share = of_begin == of_end ? 0.0 : std::clamp(of_begin / (of_begin - of_end), 0.0, 1.0);
  return {edge.from.x + share * (edge.to.x - edge.from.x), edge.from.y + share * (edge.to.y - edge.from.y),
          edge.from.z + share * (edge.to.z - edge.from.z)};
}

// Collects the points of a surface line.
class GroundLine {
 public:
  explicit GroundLine(const NavMesh& mesh) : mesh_(mesh) {}

  // Adds a point to which the line leads over this polygon, after those between where the ground bends.
  void Add(const WorldPoint& point, PolygonNumber polygon) {
    if (!points_.empty() && !mesh_.detail().empty()) {
      AddBends(point, polygon);
    }
    if (points_.empty() || points_.back() != point) {
      points_.push_back(point);
    }
  }

  std::size_t size() const { return points_.size(); }
  std::vector<WorldPoint> Take() { return std::move(points_); }

 private:
  // A point of the ground by its share of the way from one point to the next.
  struct GroundPoint {
    double share;
    double z;
  };

  // Adds the points between the last one and `to` where the ground bends, except those without which the line
  // is still as near to the ground as kLevel.
  void AddBends(const WorldPoint& to, PolygonNumber polygon) {
    constexpr double kLevel = 1e-3;
    const WorldPoint from = points_.back();
    shares_.clear();
    mesh_.detail().Of(mesh_.WholeOf(polygon)).AddCrossings(from, to, shares_);
    std::ranges::sort(shares_);
    shares_.erase(std::unique(shares_.begin(), shares_.end()), shares_.end());
    const auto point_at = [&](double share) {
      WorldPoint point{from.x + share * (to.x - from.x), from.y + share * (to.y - from.y), 0.0};
      point.z = mesh_.HeightAt(polygon, point.x, point.y);
      return point;
    };
    ground_.clear();
    for (const double share : shares_) {
      ground_.push_back({share, point_at(share).z});
    }
    ground_.push_back({1.0, to.z});
    GroundPoint before{0.0, from.z};
    std::size_t first = 0;
    for (std::size_t i = 0; i + 1 < ground_.size(); ++i) {
      const GroundPoint& after = ground_[i + 1];
      const double slope = (after.z - before.z) / (after.share - before.share);
      const auto is_off = [&](const GroundPoint& point) {
        return std::abs(before.z + (point.share - before.share) * slope - point.z) > kLevel;
      };
      const absl::Span<const GroundPoint> between =
          absl::MakeConstSpan(ground_).subspan(first, i + 1 - first);
      if (std::ranges::any_of(between, is_off)) {
        points_.push_back(point_at(ground_[i].share));
        before = ground_[i];
        first = i + 1;
      }
    }
  }

  const NavMesh& mesh_;
  std::vector<WorldPoint> points_;
  std::vector<double> shares_;
  std::vector<GroundPoint> ground_;
};

}  // namespace

std::vector<WorldPoint> SurfaceLine(const NavMesh& mesh, absl::Span<const WorldPoint> corners,
                                    absl::Span<const PolygonNumber> corridor,
                                    std::vector<SurfacePlace>* places) {
  GroundLine line(mesh);
  // The corner passed last.
  std::size_t at = 0;
  const auto note = [&](std::size_t polygon, std::size_t before) {
    if (places != nullptr) {
      places->resize(line.size(), {polygon, before});
      places->back().corner = at;
    }
  };
  for (std::size_t i = 0; i < corridor.size(); ++i) {
    if (i == 0) {
      line.Add(corners.front(), corridor.front());
      note(0, 0);
    }
    const bool is_last = i + 1 == corridor.size();
    const EdgeEnds edge =
        is_last ? EdgeEnds{corners.back(), corners.back()} : EdgeBetween(mesh, corridor[i], corridor[i + 1]);
    const auto side_of = [&](const WorldPoint& point) {
      return SideOf(ToFixed(edge.from), ToFixed(edge.to), ToFixed(point));
    };
    // The path turns in a polygon before it leaves it.
    while (at + 1 < corners.size() && (is_last || side_of(corners[at + 1]) > 0)) {
      line.Add(corners[++at], corridor[i]);
      note(i, at - 1);
    }
    // It may turn last where it leaves it, at an end of the edge.
    const auto is_at = [](const WorldPoint& a, const WorldPoint& b) { return a.x == b.x && a.y == b.y; };
    if (at + 1 < corners.size() && (is_at(corners[at + 1], edge.from) || is_at(corners[at + 1], edge.to))) {
      line.Add(corners[++at], corridor[i]);
      note(i, at - 1);
    }
    if (at + 1 < corners.size() && side_of(corners[at + 1]) < 0 && side_of(corners[at]) > 0) {
      WorldPoint crossing = CrossingOf(edge, corners[at], corners[at + 1]);
      if (!mesh.detail().empty()) {
        crossing.z = mesh.HeightAt(corridor[i], crossing.x, crossing.y);
      }
      line.Add(crossing, corridor[i]);
      note(i, at);
    }
  }
  return line.Take();
}

namespace {

// The part of a straight walk between two shares of it.
struct WalkPart {
  const WorldPoint& from;
  const WorldPoint& to;
  double begin = 0.0;
  double end = 1.0;

  WorldPoint PointAt(double share) const {
    return {from.x + share * (to.x - from.x), from.y + share * (to.y - from.y), 0.0};
  }
  // Returns the share of the walk at its point nearest to the line across it through `point`.
  double ShareOf(const WorldPoint& point) const {
    const double x = to.x - from.x;
    const double y = to.y - from.y;
    return ((point.x - from.x) * x + (point.y - from.y) * y) / (x * x + y * y);
  }
  bool RunsAlong(const WorldPoint& a, const WorldPoint& b) const {
    // Maximum displacement of an end of a walk by rounding, with some tolerance.
    constexpr double kRounding = 2.0 / kFixedScale;
    const double length = DistanceInPlan(a, b);
    return std::ranges::all_of(std::array{PointAt(begin), PointAt(end)}, [&](const WorldPoint& point) {
      const double twice_area = (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x);
      return std::abs(twice_area) <= kRounding * length;
    });
  }
};

// Returns the share of the walk at which it leaves the polygon, at most 1.
double EndWithin(const NavMesh& mesh, PolygonNumber polygon, const WorldPoint& from, const WorldPoint& to) {
  double end = 1.0;
  ForEachEdge(mesh, polygon, [&](std::uint32_t, const WorldPoint& a, const WorldPoint& b) {
    const double before = Side(a, b, from);
    const double after = Side(a, b, to);
    if (after < 0.0) {
      end = std::min(end, before > after ? before / (before - after) : 0.0);
    }
  });
  return end;
}

// Returns what the part costs in the polygon, or in those beyond the edges along which it runs, if the whole
// walk has a length of 1.
double CostWithin(const NavMesh& mesh, PolygonNumber polygon, const WalkPart& part) {
  const double cost = mesh.CostOf(polygon);
  // The savings of edges on the right and on the left of the polygon.
  std::array<double, 2> saved = {};
  ForEachEdge(mesh, polygon, [&](std::uint32_t k, const WorldPoint& a, const WorldPoint& b) {
    const PolygonNumber next = mesh.Across(polygon, k);
    if (next == kNoPolygon || mesh.CostOf(next) >= cost || !part.RunsAlong(a, b)) {
      return;
    }
    const auto [low, high] = std::minmax({part.ShareOf(a), part.ShareOf(b)});
    const double share = std::min(high, part.end) - std::max(low, part.begin);
    saved[part.ShareOf(a) < part.ShareOf(b) ? 0 : 1] += std::max(share, 0.0) * (cost - mesh.CostOf(next));
  });
  return cost * (part.end - part.begin) - std::ranges::max(saved);
}

}  // namespace

double CostOfWalk(const NavMesh& mesh, absl::Span<const MeshPlace> starts,
                  absl::Span<const MeshPlace> goals) {
  const std::array<WorldPoint, 2> ends = {starts.front().point, goals.front().point};
  const double length = DistanceInPlan(ends[0], ends[1]);
  if (!mesh.is_weighted() || length == 0.0) {
    return length;
  }
  const auto around = [&](absl::Span<const MeshPlace> places) {
    std::vector<PolygonNumber> polygons;
    for (const MeshPlace& place : places) {
      FindPolygonsAround(mesh, place, polygons);
    }
    return polygons;
  };
  std::vector<PolygonNumber> corridor;
  if (!FindCorridor(mesh, ends, around(starts), around(goals), corridor)) {
    return mesh.least_cost() * length;
  }
  double cost = 0.0;
  WalkPart part{.from = ends[0], .to = ends[1], .end = 0.0};
  for (const PolygonNumber polygon : corridor) {
    part.begin = part.end;
    part.end = polygon == corridor.back() ? 1.0 : EndWithin(mesh, polygon, ends[0], ends[1]);
    part.end = std::max(part.begin, part.end);
    cost += CostWithin(mesh, polygon, part);
  }
  return cost * length;
}

double LengthInSpace(absl::Span<const WorldPoint> points) {
  double length = 0.0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    length += Distance(points[i - 1], points[i]);
  }
  return length;
}

}  // namespace waystar::core
