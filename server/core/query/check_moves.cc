#include "server/core/query/check_moves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/graph/search/graph_ray.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/grid/path/path.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/grid/search/octile.h"
#include "server/core/grid/search/snap.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "server/core/mesh/search/mesh_flood.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/query/places.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/core/store/recent_snapshots.h"

namespace waystar::core {
namespace {

constexpr double kAnywhere = std::numeric_limits<double>::infinity();

// Costs are sums rounded to 1e-8.
bool IsWithin(double cost, double most) { return cost <= most * (1.0 + 1e-9) + 1e-8; }

Location AtPosition(const WorldPoint& position) { return {.cell = {}, .position = position, .node = {}}; }

// The straight line of a move.
struct MoveLine {
  bool is_free = false;
  // Lower bound of what the line costs, exact if it is free.
  double cost = 0.0;
};

// Result of a search for a way.
struct FoundWay {
  Outcome outcome = Outcome::kUnreachable;
  // Cost of the way with kFound, and a lower bound of all ways with kTooCostly.
  double cost = 0.0;
  // Cells of a way on one grid, stored in the scratch until its next search.
  absl::Span<const Cell> cells;
};

// Judges moves on one snapshot. The steps of a judgement are virtual: each refers to the places of the last
// Place. Not thread-safe.
class MoveJudge {
 public:
  MoveJudge(SharedAgent agent, const MapSnapshot& snapshot, const std::optional<Snap>& snap, bool is_latest,
            const Budget& budget, QueryScratch& scratch)
      : agent_(std::move(agent)),
        budget_(BudgetOn(snapshot, budget)),
        snap_(snap),
        is_latest_(is_latest),
        scratch_(scratch),
        snapshot_(snapshot) {
    route_.snap = snap;
    route_.goals.resize(1);
  }
  virtual ~MoveJudge() = default;
  MoveJudge(const MoveJudge&) = delete;
  MoveJudge& operator=(const MoveJudge&) = delete;

  // Returns errors with fields of the move; `expanded` counts the expansions of all moves.
  absl::StatusOr<MoveJudgement> Judge(const Move& move, std::uint64_t& expanded) {
    const double payable = move.speed * absl::ToDoubleSeconds(move.time);
    MoveJudgement judgement{.nearest = move.from};
    WAYSTAR_ASSIGN_OR_RETURN(const bool are_free, Place(move, judgement));
    if (!are_free) {
      judgement.verdict = MoveVerdict::kBlocked;
      return judgement;
    }
    WAYSTAR_ASSIGN_OR_RETURN(const MoveLine line, Line());
    if (line.is_free && IsWithin(line.cost, payable)) {
      return MoveJudgement{.nearest = move.to};
    }
    WAYSTAR_ASSIGN_OR_RETURN(const bool is_reached, IsReached());
    judgement.verdict = is_reached ? MoveVerdict::kTooFast : MoveVerdict::kNotReachable;
    if (!is_reached) {
      return judgement;
    }
    judgement.least_cost = LeastCost();
    if (IsWithin(judgement.least_cost, payable)) {
      WAYSTAR_ASSIGN_OR_RETURN(const FoundWay way, Search(move, payable, expanded));
      if (way.outcome == Outcome::kFound && IsWithin(way.cost, payable)) {
        return MoveJudgement{.nearest = move.to};
      }
      if (way.outcome == Outcome::kUnreachable) {
        return MoveJudgement{.verdict = MoveVerdict::kNotReachable, .nearest = move.from};
      }
      judgement.least_cost = line.is_free ? std::min(line.cost, way.cost) : way.cost;
    }
    if (is_latest_ && !line.is_free && IsWithin(line.cost, payable)) {
      judgement.verdict = MoveVerdict::kBlocked;
      WAYSTAR_RETURN_IF_ERROR(FillBlocker(judgement));
    }
    return judgement;
  }

 protected:
  // Resolves the places. If the agent cannot be at one of them, returns false and fills the blocked place and
  // the one nearest to it if the snapshot is the latest.
  virtual absl::StatusOr<bool> Place(const Move& move, MoveJudgement& judgement) = 0;
  virtual absl::StatusOr<MoveLine> Line() = 0;
  // Returns false if components prove that there is no way.
  virtual absl::StatusOr<bool> IsReached() = 0;
  // Returns a lower bound of the cost of all ways.
  virtual double LeastCost() = 0;
  // Fills where the line is blocked, and by what.
  // REQUIRES: it is.
  virtual absl::Status FillBlocker(MoveJudgement& judgement) = 0;
  // Searches for a way that costs at most that much.
  virtual absl::StatusOr<FoundWay> Search(const Move& move, double most, std::uint64_t& expanded) {
    // More than any path costs.
    constexpr double kAny = 1e10;
    route_.start = move.from;
    route_.goals.front() = move.to;
    route_.max_cost = most < kAny ? std::optional(most * (1.0 + 1e-9)) : std::nullopt;
    Budget left = budget_;
    left.max_expansions -= std::min(left.max_expansions, expanded);
    WAYSTAR_ASSIGN_OR_RETURN(const ResolvedRoute resolved, ResolveFor(agent_, snapshot_, route_, left));
    WAYSTAR_ASSIGN_OR_RETURN(const Route route, Solve(resolved, left, scratch_));
    expanded += route.path.statistics.expanded;
    if (route.path.outcome == Outcome::kBudgetExhausted) {
      // On a mesh with costs, a search may also end because no further one would prove more.
      if (expanded < budget_.max_expansions && route.path.reason == OutcomeReason::kExpansionLimit) {
        return FoundWay{.outcome = Outcome::kFound, .cost = most};
      }
      return MakeError(ErrorReason::kRegionTooLarge, "",
                       absl::StrCat("the search for a way needs more than ", expanded, " expansions"));
    }
    return FoundWay{
        .outcome = route.path.outcome,
        .cost = route.path.outcome == Outcome::kTooCostly ? route.path.least_cost : route.path.cost,
        .cells = route.crossings.empty() ? route.path.points : absl::Span<const Cell>()};
  }

  const SharedAgent agent_;
  const Budget budget_;
  const std::optional<Snap>& snap_;
  // On other snapshots, only an OK counts.
  const bool is_latest_;
  QueryScratch& scratch_;
  RouteQuery route_;

 private:
  const MapSnapshot& snapshot_;
};

class GridMoveJudge final : public MoveJudge {
 public:
  template <typename... Arguments>
  explicit GridMoveJudge(Arguments&&... arguments) : MoveJudge(std::forward<Arguments>(arguments)...) {
    if (!map_.portals().empty()) {
      through_portals_.emplace(map_, own_, own_.agent());
    }
    // The cost of a diagonal has eight digits.
    const bool has_cheap_diagonals =
        map_.settings().connectivity == Connectivity::kEight && map_.settings().diagonal_cost < kSqrt2 - 1e-7;
    lines_are_shortest_ = map_.HasUniformCost() && !has_cheap_diagonals && !through_portals_;
  }

 private:
  struct End {
    Cell cell;
    // The position, or the centre of the cell.
    CellPoint point;
    bool is_centre = true;
    // Distance from the centre of the cell, in cells.
    double beside = 0.0;
  };

  absl::StatusOr<End> EndAt(absl::string_view field, const Location& location) const {
    absl::StatusOr<Cell> cell = PlaceOf(own_, snap_, budget_, field, location);
    if (!cell.ok() && ErrorReasonOf(cell.status()) == ErrorReasonName(ErrorReason::kOffMap)) {
      cell = Cell{-1, -1};
    }
    WAYSTAR_RETURN_IF_ERROR(cell.status());
    End end{.cell = *cell, .point = {double(cell->x), double(cell->y)}};
    // A position that was moved counts as the centre of its new cell.
    if (location.position && map_.Contains(*cell) && frame_.CellAt(*location.position) == *cell) {
      const WorldFrame::PlanePoint point = frame_.PointAt(*location.position);
      end.point = {point.x, point.y};
      end.is_centre = false;
      end.beside = LengthOf(point.x - cell->x, point.y - cell->y);
    }
    return end;
  }

  bool IsFree(const End& end) const { return map_.Contains(end.cell) && walk_->IsWalkable(end.cell); }

  double LengthOf(double dx, double dy) const {
    return std::sqrt(dx * dx + dy * dy + (map_.lattice() == Lattice::kHexagonal ? dx * dy : 0.0));
  }

  absl::StatusOr<bool> Place(const Move& move, MoveJudgement& judgement) override {
    WAYSTAR_ASSIGN_OR_RETURN(from_, EndAt("from", move.from));
    WAYSTAR_ASSIGN_OR_RETURN(to_, EndAt("to", move.to));
    if (!is_latest_ || (IsFree(from_) && IsFree(to_))) {
      return IsFree(from_) && IsFree(to_);
    }
    const Location& blocked = IsFree(to_) ? move.from : move.to;
    judgement.blocked_at = blocked;
    const std::optional<Cell> nearest = NearestTo(blocked);
    judgement.nearest.reset();
    if (nearest && blocked.position) {
      judgement.nearest = AtPosition(frame_.CenterOf(*nearest));
    } else if (nearest) {
      judgement.nearest = Location{.cell = *nearest, .position = {}, .node = {}};
    }
    return false;
  }

  // Returns the nearest cell where the agent can be, connected with the other place if it can be there.
  std::optional<Cell> NearestTo(const Location& blocked) {
    const End& other = IsFree(to_) ? to_ : from_;
    if (IsFree(other)) {
      const WorldFrame::PlanePoint point =
          blocked.position ? frame_.PointAt(*blocked.position)
                           : WorldFrame::PlanePoint{double(blocked.cell->x), double(blocked.cell->y)};
      const auto on_map = [](double place, int side) {
        return static_cast<int>(std::lround(std::clamp(place, 0.0, side - 1.0)));
      };
      std::vector<Cell> nearest;
      NearestConnected(components_, other.cell,
                       {on_map(point.x, map_.width()), on_map(point.y, map_.height())},
                       scratch_.scratch.nearest_connected_buffer(), nearest);
      return nearest.front();
    }
    return blocked.position ? NearestFree(*walk_, frame_, *blocked.position, kAnywhere)
                            : NearestFree(*walk_, frame_, *blocked.cell, kAnywhere);
  }

  double PriceAt(Cell cell) { return CostToDouble(map_.StraightCost(dearest_.Under(cell))); }

  absl::StatusOr<MoveLine> Line() override {
    if (from_.is_centre && to_.is_centre) {
      return HasLineOfSight(*walk_, rule_, from_.cell, to_.cell)
                 ? MoveLine{.is_free = true, .cost = LineCost(dearest_, from_.cell, to_.cell)}
                 : MoveLine{.is_free = false, .cost = cheapest_ * Length()};
    }
    WAYSTAR_ASSIGN_OR_RETURN(const RayHit hit, CastRay(map_, own_.agent(), from_.point, to_.point));
    if (hit.is_blocked) {
      return MoveLine{.is_free = false, .cost = cheapest_ * Length()};
    }
    // The price of a unit of length is that between the centres of the cells.
    const double between = LengthOf(to_.cell.x - from_.cell.x, to_.cell.y - from_.cell.y);
    const double price =
        between == 0.0 ? PriceAt(to_.cell) : LineCost(dearest_, from_.cell, to_.cell) / between;
    return MoveLine{.is_free = true, .cost = price * Length()};
  }

  double Length() const { return LengthOf(to_.point.x - from_.point.x, to_.point.y - from_.point.y); }

  absl::StatusOr<bool> IsReached() override {
    return through_portals_ ? through_portals_->Leads(from_.cell, to_.cell)
                            : components_.AreConnected(from_.cell, to_.cell);
  }

  // Returns what the ways between the centres of the cells cost more than those between the positions.
  double Beside() {
    return (from_.beside > 0.0 ? from_.beside * PriceAt(from_.cell) : 0.0) +
           (to_.beside > 0.0 ? to_.beside * PriceAt(to_.cell) : 0.0);
  }

  double LeastCost() override {
    if (through_portals_) {
      return 0.0;
    }
    const double straight = cheapest_ * Length();
    return lines_are_shortest_
               ? straight
               : std::clamp(CostToDouble(CostFloorHeuristic(map_, to_.cell)(from_.cell)) - Beside(), 0.0,
                            straight);
  }

  absl::StatusOr<FoundWay> Search(const Move& move, double most, std::uint64_t& expanded) override {
    // Steps along a free line over even ground cost at most so many times the line.
    constexpr double kDetour = kSqrt2;
    const double beside = Beside();
    WAYSTAR_ASSIGN_OR_RETURN(FoundWay way, MoveJudge::Search(move, (most + beside) * kDetour, expanded));
    if (way.outcome == Outcome::kTooCostly) {
      way.cost /= kDetour;
    } else if (!IsWithin(way.cost - beside, most) && !way.cells.empty()) {
      std::vector<Cell> points(way.cells.begin(), way.cells.end());
      Smooth(dearest_, *walk_, rule_, points);
      way.cost = std::min(way.cost, PolylineCost(dearest_, points));
    }
    way.cost = std::max(way.cost - beside, LeastCost());
    return way;
  }

  absl::Status FillBlocker(MoveJudgement& judgement) override {
    WAYSTAR_ASSIGN_OR_RETURN(const RayHit hit, CastRay(map_, own_.agent(), from_.point, to_.point));
    judgement.blocked_at = Location{.cell = hit.cell, .position = {}, .node = {}};
    return absl::OkStatus();
  }

  ResolvedAgent& own_ = **std::get_if<std::shared_ptr<ResolvedAgent>>(&agent_);
  const GridMap& map_ = own_.map();
  const WorldFrame& frame_ = map_.settings().frame;
  const std::shared_ptr<const WalkGrid> walk_ = map_.walk(own_.footprint());
  const SightRule rule_ = LineRule(map_.settings().connectivity, own_.corner_rule());
  const Components& components_ = walk_->components(AdjacencyOf(map_, own_.corner_rule()));
  DearestOnPath dearest_{map_, own_.footprint()};
  const double cheapest_ = CostToDouble(map_.min_straight());
  std::optional<PortalReach> through_portals_;
  // True if no way costs less than a straight line.
  bool lines_are_shortest_ = false;
  End from_;
  End to_;
};

class GraphMoveJudge final : public MoveJudge {
 public:
  using MoveJudge::MoveJudge;

 private:
  // Returns the position of a place, or nullopt if the agent cannot be there. Where it is seen, it needs no
  // node.
  absl::StatusOr<std::optional<WorldPoint>> EndAt(absl::string_view field, const GraphPlace& place,
                                                  bool is_seen) const {
    const auto* const position = std::get_if<WorldPoint>(&place);
    if (is_seen) {
      return *position;
    }
    const BudgetStop stop(budget_);
    const absl::StatusOr<GraphSeat> seat =
        FindSeat(graph_, place, route_.snap.value_or(Snap()).radius, field, &stop);
    if (seat.ok()) {
      return graph_.IsEnabled(seat->node) ? std::optional(seat->position) : std::nullopt;
    }
    const std::string reason = ErrorReasonOf(seat.status());
    if (reason == ErrorReasonName(ErrorReason::kNodeNotFound) ||
        reason == ErrorReasonName(ErrorReason::kNoNodeNear)) {
      return std::nullopt;
    }
    return seat.status();
  }

  absl::StatusOr<bool> Place(const Move& move, MoveJudgement& judgement) override {
    WAYSTAR_ASSIGN_OR_RETURN(const GraphPlace from, PlaceOf(own_, snap_, budget_, "from", move.from));
    WAYSTAR_ASSIGN_OR_RETURN(const GraphPlace to, PlaceOf(own_, snap_, budget_, "to", move.to));
    WAYSTAR_RETURN_IF_ERROR(CheckPlace(from, "from"));
    WAYSTAR_RETURN_IF_ERROR(CheckPlace(to, "to"));
    see_each_other_ = SeeEachOther(graph_, from, to, !own_.required_tags().empty());
    WAYSTAR_ASSIGN_OR_RETURN(from_, EndAt("from", from, see_each_other_));
    WAYSTAR_ASSIGN_OR_RETURN(to_, EndAt("to", to, see_each_other_));
    if (!is_latest_ || (from_ && to_)) {
      return from_ && to_;
    }
    judgement.blocked_at = to_ ? move.from : move.to;
    judgement.nearest = NearestTo(to_ ? from : to);
    return false;
  }

  // Returns the nearest node that is seen from a place.
  std::optional<Location> NearestTo(const GraphPlace& place) const {
    const auto* const id = std::get_if<std::string>(&place);
    const NodeNumber own = id == nullptr ? kNoNodeNumber : graph_.FindNode(*id);
    if (id != nullptr && own == kNoNodeNumber) {
      return std::nullopt;
    }
    const BudgetStop stop(budget_);
    const NodeNumber node = graph_.NearestVisible(
        id == nullptr ? Rounded(std::get<WorldPoint>(place)) : graph_.PositionOf(own), kAnywhere, &stop);
    return node == kNoNodeNumber
               ? std::nullopt
               : std::optional(Location{.cell = {}, .position = {}, .node = graph_.IdOf(node)});
  }

  // Only between positions that see each other is the line a way.
  absl::StatusOr<MoveLine> Line() override {
    return MoveLine{.is_free = see_each_other_, .cost = Distance(*from_, *to_)};
  }

  absl::StatusOr<bool> IsReached() override { return true; }

  double LeastCost() override { return see_each_other_ ? Distance(*from_, *to_) : 0.0; }

  absl::Status FillBlocker(MoveJudgement& judgement) override {
    WAYSTAR_ASSIGN_OR_RETURN(const GraphRayHit hit, CastGraphRay(graph_, *from_, *to_));
    if (hit.is_blocked) {
      judgement.blocked_at = AtPosition(hit.position);
      judgement.obstacle = hit.obstacle;
    } else {
      judgement.verdict = MoveVerdict::kTooFast;
    }
    return absl::OkStatus();
  }

  const GraphAgent& own_ = **std::get_if<std::shared_ptr<const GraphAgent>>(&agent_);
  const WaypointGraph& graph_ = own_.graph();
  bool see_each_other_ = false;
  std::optional<WorldPoint> from_;
  std::optional<WorldPoint> to_;
};

class MeshMoveJudge final : public MoveJudge {
 public:
  using MoveJudge::MoveJudge;

 private:
  absl::StatusOr<bool> Place(const Move& move, MoveJudgement& judgement) override {
    WAYSTAR_ASSIGN_OR_RETURN(from_, PlaceOf(own_, snap_, budget_, "from", move.from));
    WAYSTAR_ASSIGN_OR_RETURN(to_, PlaceOf(own_, snap_, budget_, "to", move.to));
    if (!is_latest_ || (from_ && to_)) {
      return from_ && to_;
    }
    const Location& blocked = to_ ? move.from : move.to;
    judgement.blocked_at = blocked;
    const FoundMeshPlace& other = to_ ? to_ : from_;
    FoundMeshPlace nearest;
    if (other) {
      WAYSTAR_ASSIGN_OR_RETURN(
          nearest, FindNearestInParts(own_.mesh(), *blocked.position, FindPartsAround(own_.mesh(), *other),
                                      BudgetStop(budget_)));
    } else {
      nearest =
          own_.mesh().FindNearest({.position = *blocked.position, .radius = kAnywhere, .height = kAnywhere});
    }
    judgement.nearest = nearest ? std::optional(AtPosition(nearest->point)) : std::nullopt;
    return false;
  }

  absl::StatusOr<MoveLine> Line() override {
    hit_ = CastMeshRay(own_.mesh(), *from_, *to_, &meter_);
    if (meter_.end()) {
      return StatusOfMeshFlood(*meter_.end(), meter_.visited());
    }
    const double length = DistanceInPlan(from_->point, to_->point);
    if (!hit_.reaches_goal || !own_.mesh().is_weighted()) {
      return MoveLine{.is_free = hit_.reaches_goal, .cost = own_.mesh().least_cost() * length};
    }
    return MoveLine{.is_free = true,
                    .cost = CostOfWalk(own_.mesh(), FindPlacesAround(own_.mesh(), *from_),
                                       FindPlacesAround(own_.mesh(), *to_))};
  }

  absl::StatusOr<bool> IsReached() override { return reached_.IsReached(*from_, *to_, BudgetStop(budget_)); }

  // A shortcut may be cheaper than the line.
  double LeastCost() override {
    const double straight = own_.mesh().least_cost() * DistanceInPlan(from_->point, to_->point);
    return own_.mesh().portals().empty() ? straight : 0.0;
  }

  absl::Status FillBlocker(MoveJudgement& judgement) override {
    judgement.blocked_at = AtPosition(hit_.end.point);
    return absl::OkStatus();
  }

  MeshAgent& own_ = **std::get_if<std::shared_ptr<MeshAgent>>(&agent_);
  ReachedMeshParts reached_{own_.portals()};
  PolygonMeter meter_{budget_};
  FoundMeshPlace from_;
  FoundMeshPlace to_;
  MeshRayHit hit_;
};

// Judges the open moves on one snapshot, which was replaced `age` ago, and closes those that are OK. On a
// past one, only an OK takes the place of the judgement on the latest.
absl::Status JudgeOpen(MoveJudge& judge, absl::Span<const Move> moves, absl::Duration age, bool is_latest,
                       const StopCheck& stop, std::vector<std::size_t>& open, CheckedMoves& checked) {
  for (std::size_t i = 0; i < open.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(stop.Check());
    absl::StatusOr<MoveJudgement> judged = judge.Judge(moves[open[i]], checked.expanded);
    if (!judged.ok()) {
      if (EndsAll(judged.status()) || ErrorReasonOf(judged.status()).empty()) {
        return judged.status();
      }
      const std::string field = ErrorFieldOf(judged.status());
      return WithField(judged.status(),
                       absl::StrCat(IndexedField("moves", open[i]), field.empty() ? "" : ".", field));
    }
    if (is_latest || judged->verdict == MoveVerdict::kOk) {
      judged->judged_back = age;
      checked.judgements[open[i]] = *std::move(judged);
    }
  }
  std::erase_if(open, [&](std::size_t i) { return checked.judgements[i].verdict == MoveVerdict::kOk; });
  return absl::OkStatus();
}

absl::Status JudgeOn(const MapSnapshot& snapshot, const SharedAgent& agent, const MovesQuery& query,
                     absl::Duration age, bool is_latest, const Budget& budget, QueryScratch& scratch,
                     std::vector<std::size_t>& open, CheckedMoves& checked) {
  const auto judge_with = [&](MoveJudge&& judge) {
    return JudgeOpen(judge, query.moves, age, is_latest, BudgetStop(BudgetOn(snapshot, budget)), open,
                     checked);
  };
  switch (snapshot.kind()) {
    case MapKind::kSquares:
    case MapKind::kHexagons:
      return judge_with(GridMoveJudge(agent, snapshot, query.snap, is_latest, budget, scratch));
    case MapKind::kWaypointGraph:
      return judge_with(GraphMoveJudge(agent, snapshot, query.snap, is_latest, budget, scratch));
    case MapKind::kMesh:
      if (const MeshAgent& own = **std::get_if<std::shared_ptr<MeshAgent>>(&agent);
          !own.mesh().portals().empty()) {
        WAYSTAR_RETURN_IF_ERROR(CheckUnweighted(own));
      }
      break;
  }
  return judge_with(MeshMoveJudge(agent, snapshot, query.snap, is_latest, budget, scratch));
}

}  // namespace

absl::StatusOr<CheckedMoves> CheckMoves(const SharedAgent& agent, const MapSnapshot& latest,
                                        const MovesQuery& query, const OtherMaps& others,
                                        const Budget& budget, QueryScratch& scratch) {
  WAYSTAR_RETURN_IF_ERROR(CheckListed("moves", query.moves.size(), kMaxMoves));
  CheckedMoves checked{.judgements = std::vector<MoveJudgement>(query.moves.size())};
  std::vector<std::size_t> open(query.moves.size());
  std::iota(open.begin(), open.end(), 0);
  WAYSTAR_RETURN_IF_ERROR(JudgeOn(latest, agent, query, absl::ZeroDuration(), /*is_latest=*/true, budget,
                                  scratch, open, checked));
  for (const PastSnapshot& old : others.store.AskPast(latest.id)) {
    std::erase_if(open, [&](std::size_t i) { return query.moves[i].time < old.age; });
    if (open.empty()) {
      break;
    }
    if (old.snapshot->epoch != latest.epoch || old.snapshot->revision >= latest.revision) {
      continue;
    }
    const absl::StatusOr<SharedAgent> own =
        ResolveAgent(*old.snapshot, query.agent, others, BudgetOn(*old.snapshot, budget), /*by_jumps=*/false);
    const absl::Status status = own.ok() ? JudgeOn(*old.snapshot, *own, query, old.age, /*is_latest=*/false,
                                                   budget, scratch, open, checked)
                                         : own.status();
    // The agent's profile may not exist there, or the snapshot or its view may be without memory.
    if (absl::IsAborted(status) || absl::IsNotFound(status) ||
        ErrorReasonOf(status) == ErrorReasonName(ErrorReason::kMapsMemoryFull)) {
      break;
    }
    WAYSTAR_RETURN_IF_ERROR(status);
  }
  return checked;
}

}  // namespace waystar::core
