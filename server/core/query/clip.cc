#include "server/core/query/clip.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/grid/path/path.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "server/core/portal/portal_legs.h"

namespace waystar::core {
namespace {

bool Exceeds(double sum, double limit) {
  constexpr double kRounding = 1e-8;
  return sum > limit + limit * kRounding;
}

// Measures a path step by step. Sums count as equal to a limit within a relative 1e-8.
class PathMeter {
 public:
  // End of a turn, at a share of the way through a step.
  struct Turn {
    std::size_t step = 0;
    double share = 0.0;
    // Cost of the path up to there.
    double cost = 0.0;
  };

  explicit PathMeter(const PathClip& clip) : clip_(clip) {}

  // Adds the next step. Returns the share of it that belongs to the clipped path: 1, or 0 from the clip on,
  // or a share between them for the step with the clip if it is divisible.
  double Add(double cost, double length, bool is_divisible) {
    const double share = is_clipped_ ? 0.0
                                     : std::min(ShareWithin(clip_.cost, cost_, cost, is_divisible),
                                                ShareWithin(clip_.length, length_, length, is_divisible));
    is_clipped_ |= share < 1.0;
    rest_.cost += cost * (1.0 - share);
    rest_.length += length * (1.0 - share);
    if (clip_.turn_budget && share > 0.0) {
      AddToTurns(cost, share, is_divisible);
    }
    cost_ += cost * share;
    length_ += length * share;
    ++step_;
    return share;
  }

  bool is_clipped() const { return is_clipped_; }
  // Sums of the steps that do not belong to the clipped path.
  const RouteRest& rest() const { return rest_; }
  // Ends of all turns but the last; more than kMaxTurnEnds if there are too many.
  const std::vector<Turn>& turns() const { return turns_; }

 private:
  // Returns the share of a step of this size that fits between the sum and the limit.
  static double ShareWithin(const std::optional<double>& limit, double sum, double size, bool is_divisible) {
    if (!limit || !Exceeds(sum + size, *limit)) {
      return 1.0;
    }
    return is_divisible ? std::clamp((*limit - sum) / size, 0.0, 1.0) : 0.0;
  }

  void AddToTurns(double cost, double share, bool is_divisible) {
    const double budget = *clip_.turn_budget;
    const double paid = cost * share;
    double done = 0.0;
    while (Exceeds(spent_ + paid - done, budget) && turns_.size() <= kMaxTurnEnds) {
      if (is_divisible) {
        done += std::max(budget - spent_, 0.0);
      } else if (spent_ == 0.0) {
        break;
      }
      turns_.push_back({step_, cost == 0.0 ? 0.0 : done / cost, cost_ + done});
      spent_ = 0.0;
    }
    spent_ += paid - done;
  }

  const PathClip clip_;
  double cost_ = 0.0;
  double length_ = 0.0;
  // Cost paid in the current turn.
  double spent_ = 0.0;
  std::size_t step_ = 0;
  bool is_clipped_ = false;
  RouteRest rest_;
  std::vector<Turn> turns_;
};

// Adds the end that make(turn) returns for each turn. Returns an error if there are too many.
template <typename Make>
absl::Status AddTurnEnds(const PathMeter& meter, Route& route, Make make) {
  if (meter.turns().size() > kMaxTurnEnds) {
    return MakeError(ErrorReason::kTooManyItems, "turn_budget",
                     absl::StrCat("the path takes more than ", kMaxTurnEnds, " turns"));
  }
  for (const PathMeter::Turn& turn : meter.turns()) {
    RouteTurn end = make(turn);
    end.cost = turn.cost;
    route.turn_ends.push_back(end);
  }
  return absl::OkStatus();
}

class GridClip {
 public:
  GridClip(const ResolvedRoute& resolved, Route& route)
      : query_(resolved.grid()), cells_(route.path.points), route_(route), meter_(resolved.clip) {}

  absl::Status Run() {
    ForLegs(cells_, route_.crossings, [&](const GridMap& map, absl::Span<const Cell> leg, std::size_t i) {
      Measure(map, leg);
      if (i < route_.crossings.size()) {
        Add(CostToDouble(route_.crossings[i].portal->cost), 0.0);
      }
    });
    // Step i leads from cell i.
    WAYSTAR_RETURN_IF_ERROR(AddTurnEnds(meter_, route_, [&](const PathMeter::Turn& turn) {
      return RouteTurn{.cell = cells_[turn.step], .crossings = CrossingsUpTo(turn.step)};
    }));
    Rewrite();
    return absl::OkStatus();
  }

 private:
  // Calls visit(map, cells, number) for each leg.
  template <typename Visit>
  void ForLegs(absl::Span<const Cell> cells, absl::Span<const PortalCrossing> crossings, Visit visit) {
    const GridMap* map = &query_.agent->map();
    for (std::size_t i = 0; i <= crossings.size(); ++i) {
      visit(*map, LegOf(cells, crossings, i), i);
      if (i < crossings.size()) {
        map = crossings[i].map.empty() ? &query_.agent->map() : query_.agent->Find(crossings[i].map);
      }
    }
  }

  void Measure(const GridMap& map, absl::Span<const Cell> leg) {
    DearestOnPath dearest(map, query_.path.footprint);
    const double size = map.settings().frame.cell_size;
    for (std::size_t i = 1; i < leg.size(); ++i) {
      const Cell paying = dearest.Under(leg[i]);
      const bool is_diagonal =
          map.lattice() == Lattice::kSquare && leg[i].x != leg[i - 1].x && leg[i].y != leg[i - 1].y;
      Add(CostToDouble(is_diagonal ? map.DiagonalCost(paying) : map.StraightCost(paying)),
          is_diagonal ? kSqrt2 * size : size);
    }
  }

  void Add(double cost, double length) { last_ += meter_.Add(cost, length, false) > 0.0 ? 1 : 0; }

  std::size_t CrossingsUpTo(std::size_t cell) const {
    return static_cast<std::size_t>(
        std::ranges::upper_bound(route_.crossings, cell, {}, &PortalCrossing::index) -
        route_.crossings.begin());
  }

  // Writes the path up to the last cell, in the form of the query.
  void Rewrite() {
    const absl::Span<const PortalCrossing> crossings = route_.crossings.first(CrossingsUpTo(last_));
    const double whole = route_.path.cost;
    auto clipped = std::make_shared<ClippedCells>();
    double steps = 0.0;
    double lines = 0.0;
    ForLegs(cells_.first(last_ + 1), crossings,
            [&](const GridMap& map, absl::Span<const Cell> leg, std::size_t i) {
              const std::vector<Cell> corners = CornersOf(leg);
              PathResult part{.cost = CostOf(map, query_.path.footprint, corners), .points = leg};
              steps += part.cost;
              std::vector<Cell> smoothed;
              if (query_.path.path_form == PathForm::kDirections) {
                part.points = {};
                ExpandDirections(corners, clipped->directions);
              } else if (query_.path.path_form == PathForm::kCorners) {
                part.points = corners;
              } else if (query_.path.path_form == PathForm::kSmoothed) {
                smoothed.assign(leg.begin(), leg.end());
                WriteSmoothed(map, *map.walk(query_.path.footprint), query_.path, smoothed, part);
              }
              lines += part.cost;
              clipped->points.insert(clipped->points.end(), part.points.begin(), part.points.end());
              if (i < crossings.size()) {
                const double cost = CostToDouble(crossings[i].portal->cost);
                steps += cost;
                lines += cost;
                clipped->crossings.push_back(crossings[i]);
                clipped->crossings.back().index = clipped->points.size() + clipped->directions.size();
              }
            });
    if (meter_.is_clipped()) {
      route_.rest = {.cost = whole - steps, .length = meter_.rest().length};
    }
    route_.path.cost = lines;
    route_.path.end = cells_[last_];
    route_.path.points = clipped->points;
    route_.path.directions = clipped->directions;
    route_.crossings = clipped->crossings;
    route_.crossing_versions.resize(crossings.size());
    route_.crossing_boards.resize(crossings.size());
    route_.clipped = std::move(clipped);
  }

  const GridRouteQuery& query_;
  const absl::Span<const Cell> cells_;
  Route& route_;
  PathMeter meter_;
  // Index of the last cell of the clipped path.
  std::size_t last_ = 0;
};

// Clips a path on meshes along its course over the surface.
class MeshClip {
 public:
  MeshClip(MeshAgent& agent, const PathClip& clip, MeshPortalPath& whole)
      : whole_(whole),
        meter_(clip),
        legs_(LegsOnMeshes(agent, whole.path.corners, whole.path.corridor, whole.crossings)) {}

  absl::Status Run(std::vector<WorldPoint>& corners, Route& route) {
    Measure();
    WAYSTAR_RETURN_IF_ERROR(AddTurnEnds(meter_, route, [&](const PathMeter::Turn& turn) {
      const Step& step = steps_[turn.step];
      return RouteTurn{.position = PlaceAt(step, turn.share).point, .crossings = step.leg};
    }));
    if (meter_.is_clipped()) {
      const double cost = whole_.path.cost;
      Cut(corners);
      route.rest = {.cost = cost - whole_.path.cost, .length = meter_.rest().length};
    }
    return absl::OkStatus();
  }

 private:
  // A segment of the surface line of a leg, to its point of that index, or the portal behind the leg.
  struct Step {
    std::size_t leg = 0;
    std::size_t point = 0;
    bool is_portal = false;
    double cost = 0.0;
  };

  void Measure() {
    for (std::size_t leg = 0; leg < legs_.size(); ++leg) {
      lines_.push_back(
          SurfaceLine(*legs_[leg].mesh, legs_[leg].corners, legs_[leg].corridor, &places_.emplace_back()));
      const std::vector<WorldPoint>& line = lines_.back();
      for (std::size_t i = 1; i < line.size(); ++i) {
        const NavMesh& mesh = *legs_[leg].mesh;
        const double unit = mesh.CostOf(legs_[leg].corridor[places_.back()[i].polygon]);
        Add({.leg = leg, .point = i}, unit * DistanceInPlan(line[i - 1], line[i]),
            Distance(line[i - 1], line[i]));
      }
      if (leg + 1 < legs_.size()) {
        Add({.leg = leg, .point = line.size(), .is_portal = true}, whole_.crossings[leg].portal->cost, 0.0);
      }
    }
  }

  void Add(Step step, double cost, double length) {
    step.cost = cost;
    const bool was_clipped = meter_.is_clipped();
    const double share = meter_.Add(cost, length, !step.is_portal);
    if (meter_.is_clipped() && !was_clipped) {
      last_ = step;
      share_ = share;
    }
    steps_.push_back(step);
  }

  // A point of a leg, and the index in the corridor of a polygon that it is in.
  struct Place {
    WorldPoint point;
    std::size_t polygon = 0;
  };

  Place PlaceAt(const Step& step, double share) const {
    const MeshLeg& leg = legs_[step.leg];
    const std::vector<WorldPoint>& line = lines_[step.leg];
    const WorldPoint& from = line[step.point - 1];
    const std::size_t first = places_[step.leg][step.point - 1].polygon;
    if (share == 0.0) {
      return {from, first};
    }
    const WorldPoint& to = line[step.point];
    const double x = Rounded(from.x + share * (to.x - from.x));
    const double y = Rounded(from.y + share * (to.y - from.y));
    // A segment to a corner leads over the first of the polygons around which the path turns there.
    const auto distance_to = [&](std::size_t i) {
      const PolygonNumber polygon = leg.corridor[i];
      const WorldPoint nearest = leg.mesh->NearestPoint(polygon, x, y);
      return leg.mesh->Contains(polygon, ToFixed(WorldPoint{x, y, 0.0}))
                 ? 0.0
                 : DistanceInPlan(nearest.x, nearest.y, x, y);
    };
    std::size_t best = first;
    for (std::size_t i = first + 1; i <= places_[step.leg][step.point].polygon; ++i) {
      best = distance_to(i) < distance_to(best) ? i : best;
    }
    return {{x, y, leg.mesh->HeightAt(leg.corridor[best], x, y)}, best};
  }

  // Ends the path at `share_` of the step `last_`.
  void Cut(std::vector<WorldPoint>& corners) {
    MeshPathResult& path = whole_.path;
    const std::size_t leg = last_.leg;
    const std::size_t first_corner = leg == 0 ? 0 : whole_.crossings[leg - 1].index;
    const std::size_t first_polygon = leg == 0 ? 0 : whole_.crossings[leg - 1].corridor_index;
    const Place place = PlaceAt(last_, share_);
    const WorldPoint& end = place.point;
    const std::size_t kept = first_corner + places_[leg][last_.point - 1].corner + 1;
    corners.assign(path.corners.begin(), path.corners.begin() + static_cast<std::ptrdiff_t>(kept));
    if (end.x != corners.back().x || end.y != corners.back().y) {
      corners.push_back(end);
    }
    path.corners = corners;
    path.corridor = path.corridor.first(last_.is_portal ? first_polygon + legs_[leg].corridor.size()
                                                        : first_polygon + place.polygon + 1);
    whole_.crossings.resize(leg);
    path.cost = legs_.front().mesh->is_weighted() ? CostUpToEnd() : CostOf(whole_);
  }

  double CostUpToEnd() const {
    double cost = 0.0;
    for (const Step& step : steps_) {
      if (step.leg == last_.leg && step.point == last_.point) {
        return cost + share_ * step.cost;
      }
      cost += step.cost;
    }
    return cost;
  }

  MeshPortalPath& whole_;
  PathMeter meter_;
  const std::vector<MeshLeg> legs_;
  // For each leg, its surface line and the places of its points.
  std::vector<std::vector<WorldPoint>> lines_;
  std::vector<std::vector<SurfacePlace>> places_;
  std::vector<Step> steps_;
  // Where the path is clipped.
  Step last_;
  double share_ = 0.0;
};

}  // namespace

absl::Status ClipOnGrid(const ResolvedRoute& resolved, Route& route) {
  return route.path.points.empty() ? absl::OkStatus() : GridClip(resolved, route).Run();
}

absl::Status ClipOnGraph(const WaypointGraph& graph, const PathClip& clip, Route& route) {
  PathMeter meter(clip);
  std::vector<WorldPoint>& positions = route.positions;
  const std::size_t first = route.starts_at_position ? 1 : 0;
  const auto is_node = [&](std::size_t i) { return i >= first && i - first < route.nodes.size(); };
  std::size_t last = 0;
  double kept = 0.0;
  for (std::size_t i = 0; i + 1 < positions.size(); ++i) {
    const double length = Distance(positions[i], positions[i + 1]);
    const double cost =
        is_node(i) && is_node(i + 1)
            ? CostToDouble(graph.FindArc(route.nodes[i - first], route.nodes[i + 1 - first])->cost)
            : Distance(Rounded(positions[i]), Rounded(positions[i + 1]));
    if (meter.Add(cost, length, false) > 0.0) {
      ++last;
      kept += cost;
    }
  }
  WAYSTAR_RETURN_IF_ERROR(AddTurnEnds(meter, route, [&](const PathMeter::Turn& turn) {
    return RouteTurn{.node = route.nodes[turn.step - first]};
  }));
  if (meter.is_clipped()) {
    route.rest = {.cost = route.path.cost - kept, .length = meter.rest().length};
    route.path.cost = kept;
    positions.resize(last + 1);
    route.nodes = route.nodes.first(last + 1 - first);
    route.ends_at_position = last == 0 && route.starts_at_position;
  }
  return absl::OkStatus();
}

absl::Status ClipOnMesh(MeshAgent& agent, const PathClip& clip, MeshPortalPath& whole,
                        std::vector<WorldPoint>& corners, Route& route) {
  return whole.path.corners.empty() ? absl::OkStatus() : MeshClip(agent, clip, whole).Run(corners, route);
}

}  // namespace waystar::core
