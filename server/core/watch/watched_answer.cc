#include "server/core/watch/watched_answer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/path_legs.h"
#include "server/core/watch/dependent_cells.h"

namespace waystar::core {
namespace {

std::vector<Cell> CornersOf(Cell start, const PathResult& result) {
  std::vector<Cell> corners = {start};
  const auto add = [&corners](Cell cell) {
    const std::size_t size = corners.size();
    if (size >= 2) {
      const Cell before = corners[size - 2];
      const Cell last = corners[size - 1];
      if (Sign(last.x - before.x) == Sign(cell.x - last.x) &&
          Sign(last.y - before.y) == Sign(cell.y - last.y)) {
        corners.back() = cell;
        return;
      }
    }
    corners.push_back(cell);
  };
  Cell at = start;
  for (const Direction direction : result.directions) {
    at = Step(at, direction);
    add(at);
  }
  for (std::size_t i = 1; i < result.points.size(); ++i) {
    add(result.points[i]);
  }
  return corners;
}

bool IsBefore(const WordChange& a, const WordChange& b) {
  return a.index != b.index ? a.index < b.index : a.y < b.y;
}

// Merges `words` into `all`; both are sorted by IsBefore.
void Merge(const std::vector<WordChange>& words, std::vector<WordChange>& all) {
  const auto middle = static_cast<std::ptrdiff_t>(all.size());
  all.insert(all.end(), words.begin(), words.end());
  if (middle == 0) {
    return;
  }
  std::inplace_merge(all.begin(), all.begin() + middle, all.end(), IsBefore);
  std::size_t last = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (IsBefore(all[last], all[i])) {
      all[++last] = all[i];
    } else {
      all[last].flipped |= all[i].flipped;
    }
  }
  all.resize(last + 1);
}

// Returns a lower bound on the number of steps along straight lines.
double StepsOf(absl::Span<const Cell> points) {
  double steps = 0.0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    steps += std::max(std::abs(points[i].x - points[i - 1].x), std::abs(points[i].y - points[i - 1].y));
  }
  return steps;
}

}  // namespace

Rectangle BoundsOf(const WordChange& change) {
  const int first = std::countr_zero(change.flipped);
  const int last = kWordBits - 1 - std::countl_zero(change.flipped);
  return {change.index * kWordBits + first - 1, change.y, last - first + 1, 1};
}

bool MayBeCheaperBy(const WordChange& change, const CostBound& bound, const LeastCosts& least, double gap) {
  if (change.flipped == 0 || bound.IsTight(least) || !bound.MayBeCheaperBy(BoundsOf(change), least, gap)) {
    return false;
  }
  bool may_be = false;
  ForEachCell(change, [&](Cell cell) { may_be = may_be || bound.MayBeCheaperBy(cell, least, gap); });
  return may_be;
}

SplitChange Split(const WordChange& change, const GridMap& map) {
  const Word free = map.walk().Row(change.y)[change.index];
  return {.opened = {change.y, change.index, change.flipped & free},
          .closed = {change.y, change.index, change.flipped & ~free}};
}

WatchedAnswer::WatchedAnswer(const GridMap& map, const PathQuery& query,
                             const absl::StatusOr<PortalPath>& result, Basis basis)
    : query_(query), connectivity_(map.settings().connectivity), basis_(basis), least_(LeastCosts::Of(map)) {
  const std::shared_ptr<const WalkGrid> walk = map.walk(query.footprint);
  start_is_free_ = walk->IsWalkable(query.start);
  goal_is_free_ = walk->IsWalkable(query.goal);
  if (!result.ok()) {
    error_ = result.status();
    const std::string reason = ErrorReasonOf(error_);
    const bool is_blocked = reason == ErrorReasonName(ErrorReason::kStartBlocked) ||
                            reason == ErrorReasonName(ErrorReason::kGoalBlocked);
    kind_ = is_blocked && basis == Basis::kMap ? Kind::kNoPath : Kind::kUncertain;
    return;
  }
  outcome_ = result->path.outcome;
  cost_ = result->path.cost;
  end_ = result->path.end;
  if (outcome_ != Outcome::kUnreachable) {
    TakePath(map, *result);
  }
  kind_ = KindOn(map);
}

WatchedAnswer::Kind WatchedAnswer::KindOn(const GridMap& map) const {
  if (basis_ == Basis::kMore || outcome_ == Outcome::kBudgetExhausted) {
    return Kind::kUncertain;
  }
  if (outcome_ == Outcome::kFound) {
    return Kind::kPath;
  }
  // The components of the map, which decide reachability, know neither views nor portals.
  if (basis_ == Basis::kView || !ShortcutEnds::OfPortals(map).empty()) {
    return Kind::kUncertain;
  }
  return outcome_ == Outcome::kPartial ? Kind::kPartial : Kind::kNoPath;
}

WatchedAnswer WatchedAnswer::On(const GridMap& map, Basis basis) const {
  WatchedAnswer answer = *this;
  answer.basis_ = basis;
  answer.least_ = LeastCosts::Of(map);
  answer.kind_ = answer.KindOn(map);
  return answer;
}

void WatchedAnswer::TakePath(const GridMap& map, const PortalPath& found) {
  const PathResult& result = found.path;
  is_lines_ =
      query_.path_form == PathForm::kSmoothed || result.statistics.algorithm == Algorithm::kLazyThetaStar;
  for (const PortalCrossing& crossing : found.crossings) {
    crossings_.push_back({.id = crossing.portal->id, .arrival = crossing.arrival, .index = crossing.index});
  }
  if (!crossings_.empty()) {
    points_.assign(result.points.begin(), result.points.end());
    if (points_.empty()) {
      points_ = WalkDirections(query_.start, result.directions, crossings_);
    }
  } else if (is_lines_) {
    points_.assign(result.points.begin(), result.points.end());
    if (points_.empty()) {
      points_ = {query_.start};
    }
  } else {
    points_ = CornersOf(query_.start, result);
  }
  const Connectivity connectivity = map.settings().connectivity;
  const SightRule sight = LineRule(connectivity, query_.corner_rule);
  double steps = 0.0;
  for (std::size_t i = 0; i <= crossings_.size(); ++i) {
    const absl::Span<const Cell> leg =
        LegOf(absl::MakeConstSpan(points_), absl::MakeConstSpan(crossings_), i);
    // The cost of a crossing is rounded too.
    steps += StepsOf(leg) + 2;
    Merge(DependentCells(leg, sight, query_.footprint), cells_);
  }
  for (const WordChange& word : cells_) {
    cells_bounds_ = Union(cells_bounds_, BoundsOf(word));
  }
  // Rounding to units changes the cost of each step by at most half a unit.
  tolerance_ = steps / static_cast<double>(kCostScale);
  const bool passes_corners =
      is_lines_ || (connectivity == Connectivity::kEight && query_.corner_rule != CornerRule::kAlways);
  bound_ = {.start = query_.start,
            .goal = query_.goal,
            .limit = cost_ - tolerance_,
            .is_lines = is_lines_,
            .is_open = result.outcome != Outcome::kFound,
            .footprint = query_.footprint,
            .passes_corners = passes_corners};
}

bool WatchedAnswer::DependsOn(const WordChange& change) const {
  const auto it = std::lower_bound(cells_.begin(), cells_.end(), change, IsBefore);
  return it != cells_.end() && it->index == change.index && it->y == change.y &&
         (it->flipped & change.flipped) != 0;
}

CostBound WatchedAnswer::BoundWith(const ShortcutEnds& ends) const {
  CostBound bound = bound_;
  bound.start_gap = ends.GapTo(bound.start);
  bound.goal_gap = bound.is_open ? 0.0 : ends.GapTo(bound.goal);
  return bound;
}

bool WatchedAnswer::IsNearer(const GridMap& map, Cell a, Cell b) const {
  const Lattice lattice = LatticeOf(map.settings().connectivity);
  return SquaredDistance(lattice, a, query_.goal) < SquaredDistance(lattice, b, query_.goal);
}

bool WatchedAnswer::MayReachElse(const GridMap& map, bool has_opened, NearestConnectedBuffer& buffer,
                                 std::vector<Cell>& nearest) const {
  const std::shared_ptr<const WalkGrid> walk = map.walk(query_.footprint);
  if (kind_ == Kind::kNoPath &&
      (walk->IsWalkable(query_.start) != start_is_free_ || walk->IsWalkable(query_.goal) != goal_is_free_)) {
    return true;
  }
  if (!has_opened) {
    return false;
  }
  const Components& components = walk->components(AdjacencyOf(map, query_.corner_rule));
  if (kind_ == Kind::kNoPath) {
    return components.AreConnected(query_.start, query_.goal);
  }
  nearest.clear();
  NearestConnected(components, query_.start, query_.goal, buffer, nearest);
  return nearest.empty() || IsNearer(map, nearest.front(), end_);
}

ViewChanges::ViewChanges(const MapChanges& changes, const ShortcutEnds& ends)
    : is_everything(changes.is_every_view) {
  const auto add = [this](const auto& word) {
    const WordChange all{word.y, word.index, ~Word{0}};
    bounds = Union(bounds, BoundsOf(all));
    if (words.size() <= kMaxWords) {
      words.push_back(all);
    }
  };
  std::ranges::for_each(changes.walkability, add);
  std::ranges::for_each(changes.cost, add);
  std::ranges::for_each(changes.touched, add);
  if (words.size() > kMaxWords) {
    words.clear();
  }
  if (!bounds.empty()) {
    gap = ends.GapTo(bounds);
  }
  for (const WordChange& word : words) {
    gaps.push_back(ends.GapTo(BoundsOf(word)));
  }
}

bool WatchedAnswer::MayBeOutdatedInView(const ViewChanges& changes, const CostBound& bound) const {
  if (changes.is_everything || changes.bounds.empty()) {
    return changes.is_everything;
  }
  if (Intersect(changes.bounds, cells_bounds_).empty() &&
      (bound.IsTight(least_) || !bound.MayBeCheaperBy(changes.bounds, least_, changes.gap))) {
    return false;
  }
  for (std::size_t i = 0; i < changes.words.size(); ++i) {
    if (DependsOn(changes.words[i]) || MayBeCheaperBy(changes.words[i], bound, least_, changes.gaps[i])) {
      return true;
    }
  }
  return changes.words.empty();
}

bool WatchedAnswer::MayBeOutdatedBy(const MapChanges& changes, const GridMap& map,
                                    const ShortcutEnds& ends) const {
  if (changes.is_everything || changes.portals || kind_ == Kind::kUncertain) {
    return true;
  }
  if (basis_ == Basis::kView) {
    return MayBeOutdatedInView(ViewChanges(changes, ends), BoundWith(ends));
  }
  if (kind_ != Kind::kNoPath) {
    const LeastCosts least = LeastCosts::BetweenCheapPlaces(map);
    const CostBound bound = BoundWith(ends);
    const auto may_be_cheaper_by = [&](const WordChange& change) {
      return change.flipped != 0 && MayBeCheaperBy(change, bound, least, ends.GapTo(BoundsOf(change)));
    };
    for (const WordChange& change : changes.walkability) {
      const SplitChange split = Split(change, map);
      if (DependsOn(split.closed) || may_be_cheaper_by(split.opened)) {
        return true;
      }
    }
    for (const WordChange& change : changes.cost) {
      if (DependsOn(change) || may_be_cheaper_by(change)) {
        return true;
      }
    }
  }
  if (kind_ == Kind::kPath || changes.walkability.empty()) {
    return false;
  }
  const bool has_opened =
      std::any_of(changes.walkability.begin(), changes.walkability.end(),
                  [&](const WordChange& change) { return Split(change, map).opened.flipped != 0; });
  NearestConnectedBuffer buffer;
  std::vector<Cell> nearest;
  return MayReachElse(map, has_opened, buffer, nearest);
}

bool WatchedAnswer::MayEndBy(const MapChanges& changes, const MapSnapshot& snapshot) const {
  return MayBeOutdatedBy(changes, snapshot.grid(), ShortcutEnds::Of(snapshot.grid()));
}

bool WatchedAnswer::CanStillBeWalked(const GridMap& map, absl::Span<const std::string> required_tags) const {
  NoWorld world;
  const absl::StatusOr<Validation> now =
      ValidateThroughPortals(map, world,
                             {.points = points_,
                              .corner_rule = query_.corner_rule,
                              .path_form = is_lines_ ? PathForm::kSmoothed : PathForm::kCorners,
                              .footprint = query_.footprint},
                             crossings_, required_tags);
  return now.ok() && now->walkable && std::abs(now->cost - cost_) <= tolerance_;
}

bool WatchedAnswer::IsOutdatedBy(const GridMap& map, const absl::StatusOr<PortalPath>& found,
                                 absl::Span<const std::string> required_tags) const {
  if (!found.ok() || !error_.ok()) {
    return found.ok() || found.status().code() != error_.code() ||
           ErrorReasonOf(found.status()) != ErrorReasonOf(error_);
  }
  const PathResult& result = found->path;
  if (outcome_ == Outcome::kUnreachable) {
    return result.outcome != Outcome::kUnreachable;
  }
  if (!CanStillBeWalked(map, required_tags)) {
    return true;
  }
  if (outcome_ != result.outcome) {
    // A search that was cut short does not disprove a path that still leads to the goal.
    return outcome_ != Outcome::kFound || result.outcome != Outcome::kBudgetExhausted;
  }
  if (outcome_ == Outcome::kBudgetExhausted) {
    return result.end != end_ || std::abs(result.cost - cost_) > tolerance_;
  }
  return result.cost < cost_ - tolerance_ || IsNearer(map, result.end, end_) ||
         IsNearer(map, end_, result.end);
}

}  // namespace waystar::core
