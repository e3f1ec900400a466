#include "server/core/watch/grid_answer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include "server/base/error.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/shapes/hex_line.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/portal/portal_legs.h"

namespace waystar::core {
namespace {

// Removes the points at which a path of steps does not change its direction.
void KeepCorners(std::vector<Cell>& points) {
  const auto is_straight = [](Cell before, Cell at, Cell after) {
    return Sign(at.x - before.x) == Sign(after.x - at.x) && Sign(at.y - before.y) == Sign(after.y - at.y);
  };
  std::size_t kept = 0;
  for (const Cell point : points) {
    if (kept >= 2 && is_straight(points[kept - 2], points[kept - 1], point)) {
      --kept;
    }
    points[kept++] = point;
  }
  points.resize(kept);
  points.shrink_to_fit();
}

// Exceeds the rounding error of a share of a run.
constexpr double kShareRounding = 1e-6;

bool IsBefore(const WordChange& a, const WordChange& b) {
  return a.index != b.index ? a.index < b.index : a.y < b.y;
}

// Collects every cell that an agent of `footprint` x `footprint` cells covers on straight lines between
// points, and the cells that the rule inspects along them. While their walkability and costs are unchanged,
// so are the path and its cost.
class DependentCells {
 public:
  DependentCells(SightRule rule, int footprint) : rule_(rule), footprint_(footprint) {}

  void Add(absl::Span<const Cell> points) {
    AddPosition(points.front().x, points.front().y);
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (rule_.lattice == Lattice::kHexagonal) {
        for (const HexPart& part : HexPartsOf(points[i - 1], points[i])) {
          AddPosition(part.cell.x, part.cell.y);
        }
        continue;
      }
      ForEachStepOnLine(points[i - 1], points[i], [this](Cell from, Cell to) {
        AddPosition(to.x, to.y);
        if (from.x != to.x && from.y != to.y && rule_.corner != CornerRule::kAlways) {
          AddPosition(to.x, from.y);
          AddPosition(from.x, to.y);
        }
        return true;
      });
    }
  }

  // Returns the cells as unique words, sorted by IsBefore.
  std::vector<WordChange> Finish() && {
    std::sort(words_.begin(), words_.end(), IsBefore);
    std::size_t last = 0;
    for (std::size_t i = 1; i < words_.size(); ++i) {
      if (IsBefore(words_[last], words_[i])) {
        words_[++last] = words_[i];
      } else {
        words_[last].flipped |= words_[i].flipped;
      }
    }
    words_.resize(std::min(words_.size(), last + 1));
    words_.shrink_to_fit();
    return std::move(words_);
  }

 private:
  void AddPosition(std::int32_t x, std::int32_t y) {
    ForEachWord(x, x + footprint_, [&](std::size_t index, Word mask) {
      for (std::int32_t row = y; row < y + footprint_; ++row) {
        words_.push_back({row, static_cast<std::int32_t>(index), mask});
      }
    });
  }

  const SightRule rule_;
  const int footprint_;
  std::vector<WordChange> words_;
};

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

GridChange::GridChange(const MapChanges& changes, const GridMap& map)
    : changes_(changes),
      map_(map),
      least_(LeastCosts::BetweenCheapPlaces(map)),
      shortcuts_(map),
      may_end_all_(changes.is_everything || changes.portals) {
  if (may_end_all_) {
    return;
  }
  const auto add_seen = [this](const auto& word) { Add({word.y, word.index, ~Word{0}}, seen_); };
  for (const WordChange& change : changes.walkability) {
    const Word free = map.walk().Row(change.y)[change.index];
    Add({change.y, change.index, change.flipped & ~free}, blocked_);
    Add({change.y, change.index, change.flipped & free}, opened_);
    add_seen(change);
  }
  for (const WordChange& change : changes.cost) {
    Add(change, blocked_);
    Add(change, opened_);
    add_seen(change);
  }
  std::ranges::for_each(changes.touched, add_seen);
  for (Words* const words : {&opened_, &seen_}) {
    words->gap = shortcuts_.GapTo(words->bounds);
    if (words->words.size() <= Words::kMost) {
      for (ChangedWord& word : words->words) {
        word.gap = shortcuts_.GapTo(word.bounds);
      }
    }
  }
}

void GridChange::Add(const WordChange& cells, Words& words) {
  if (cells.flipped != 0) {
    words.words.push_back({.cells = cells, .bounds = BoundsOf(cells)});
    words.bounds = Union(words.bounds, words.words.back().bounds);
  }
}

bool GridChange::MayBeCheaper(const Words& words, const CostBound& bound, const LeastCosts& least) const {
  if (!MayOpen(words, bound, least)) {
    return false;
  }
  if (words.words.size() > Words::kMost) {
    return true;
  }
  const Ground ground{least, shortcuts_};
  return std::ranges::any_of(words.words, [&](const ChangedWord& word) {
    bool may_be = false;
    if (bound.MayBeCheaperBy(word.bounds, ground, word.gap)) {
      ForEachCell(word.cells, [&](Cell cell) {
        may_be = may_be || bound.MayBeCheaperBy({cell.x, cell.y, 1, 1}, ground, word.gap);
      });
    }
    return may_be;
  });
}

GridAnswer::GridAnswer(const GridMap& map, const PathQuery& query, const absl::StatusOr<PortalPath>& result,
                       Basis basis)
    : query_(query), connectivity_(map.settings().connectivity), basis_(basis) {
  const std::shared_ptr<const WalkGrid> walk = map.walk(query.footprint);
  start_is_free_ = walk->IsWalkable(query.start);
  goal_is_free_ = walk->IsWalkable(query.goal);
  if (!result.ok()) {
    error_ = result.status();
    const std::string reason = ErrorReasonOf(error_);
    const bool is_blocked = reason == ErrorReasonName(ErrorReason::kStartBlocked) ||
                            reason == ErrorReasonName(ErrorReason::kGoalBlocked);
    kind_ = is_blocked && basis == Basis::kMap ? Kind::kNoPath : Kind::kUncertain;
    reach_.is_unlimited = true;
    return;
  }
  outcome_ = result->path.outcome;
  cost_ = result->path.cost;
  end_ = result->path.end;
  if (outcome_ != Outcome::kUnreachable) {
    TakePath(map, *result);
  }
  Place(map, basis);
}

GridAnswer::Kind GridAnswer::KindOn(const GridMap& map) const {
  if (basis_ == Basis::kMore || outcome_ == Outcome::kBudgetExhausted) {
    return Kind::kUncertain;
  }
  if (outcome_ == Outcome::kFound) {
    return Kind::kPath;
  }
  // The components of the map, which decide reachability, know neither views nor portals.
  if (basis_ == Basis::kView || ShortcutEnds(map).has_portals()) {
    return Kind::kUncertain;
  }
  return outcome_ == Outcome::kPartial ? Kind::kPartial : Kind::kNoPath;
}

void GridAnswer::Place(const GridMap& map, Basis basis) {
  basis_ = basis;
  least_ = LeastCosts::Of(map);
  kind_ = KindOn(map);
  reach_.is_unlimited = basis != Basis::kMap || kind_ != Kind::kPath;
}

GridAnswer GridAnswer::On(const GridMap& map, Basis basis) const {
  GridAnswer answer = *this;
  answer.Place(map, basis);
  return answer;
}

void GridAnswer::TakePath(const GridMap& map, const PortalPath& found) {
  const PathResult& result = found.path;
  is_lines_ =
      query_.path_form == PathForm::kSmoothed || result.statistics.algorithm == Algorithm::kLazyThetaStar;
  for (const PortalCrossing& crossing : found.crossings) {
    crossings_.push_back({.id = crossing.portal->id, .arrival = crossing.arrival, .index = crossing.index});
  }
  points_.assign(result.points.begin(), result.points.end());
  if (points_.empty()) {
    points_ = WalkDirections(query_.start, result.directions, crossings_);
  }
  if (crossings_.empty() && !is_lines_) {
    KeepCorners(points_);
  }
  const auto leaving = std::ranges::find_if(
      found.crossings, [](const PortalCrossing& crossing) { return !crossing.map.empty(); });
  points_on_map_ = leaving == found.crossings.end()
                       ? points_.size()
                       : crossings_[static_cast<std::size_t>(leaving - found.crossings.begin())].index;
  TakeReach(map);
}

void GridAnswer::TakeReach(const GridMap& map) {
  reach_ = {};
  const Connectivity connectivity = map.settings().connectivity;
  const SightRule sight = LineRule(connectivity, query_.corner_rule);
  DependentCells cells(sight, query_.footprint);
  double steps = 0.0;
  for (std::size_t i = 0; i <= crossings_.size(); ++i) {
    const absl::Span<const Cell> leg =
        LegOf(absl::MakeConstSpan(points_), absl::MakeConstSpan(crossings_), i);
    // The cost of a crossing is rounded too.
    steps += StepsOf(leg) + 2;
    cells.Add(leg);
  }
  cells_ = std::move(cells).Finish();
  for (const WordChange& word : cells_) {
    reach_.path = Union(reach_.path, BoundsOf(word));
  }
  // Rounding to units changes the cost of each step by at most half a unit.
  tolerance_ = steps / static_cast<double>(kCostScale);
  const bool passes_corners =
      !is_lines_ && connectivity == Connectivity::kEight && query_.corner_rule != CornerRule::kAlways;
  reach_.cheaper = {.start = query_.start,
                    .goal = query_.goal,
                    .limit = cost_ - tolerance_,
                    .is_lines = is_lines_,
                    .is_open = outcome_ != Outcome::kFound,
                    .passes_corners = passes_corners,
                    .footprint = query_.footprint};
}

bool GridAnswer::DependsOn(const GridChange::Words& words) const {
  return !Intersect(words.bounds, reach_.path).empty() &&
         std::ranges::any_of(words.words, [this](const GridChange::ChangedWord& word) {
           if (Intersect(word.bounds, reach_.path).empty()) {
             return false;
           }
           const auto it = std::lower_bound(cells_.begin(), cells_.end(), word.cells, IsBefore);
           return it != cells_.end() && !IsBefore(word.cells, *it) && (it->flipped & word.cells.flipped) != 0;
         });
}

bool GridAnswer::IsNearer(const GridMap& map, Cell a, Cell b) const {
  const Lattice lattice = LatticeOf(map.settings().connectivity);
  return SquaredDistance(lattice, a, query_.goal) < SquaredDistance(lattice, b, query_.goal);
}

bool GridAnswer::MayReachElse(const GridMap& map, bool has_opened) const {
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
  NearestConnectedBuffer buffer;
  std::vector<Cell> nearest;
  NearestConnected(components, query_.start, query_.goal, buffer, nearest);
  return nearest.empty() || IsNearer(map, nearest.front(), end_);
}

ChangeEffect GridAnswer::EffectOf(const GridChange& change) const {
  if (change.may_end_all_ || kind_ == Kind::kUncertain) {
    return ChangeEffect::kEnd;
  }
  const CostBound& bound = reach_.cheaper;
  if (basis_ == Basis::kView) {
    if (change.changes_.is_every_view || DependsOn(change.seen_)) {
      return ChangeEffect::kEnd;
    }
    return change.MayBeCheaper(change.seen_, bound, least_) ? ChangeEffect::kCheaper : ChangeEffect::kNone;
  }
  if (kind_ != Kind::kNoPath && DependsOn(change.blocked_)) {
    return ChangeEffect::kEnd;
  }
  if (kind_ != Kind::kPath && !change.changes_.walkability.empty() &&
      MayReachElse(change.map_, !change.opened_.words.empty())) {
    return ChangeEffect::kEnd;
  }
  return kind_ != Kind::kNoPath && change.MayBeCheaper(change.opened_, bound, change.least_)
             ? ChangeEffect::kCheaper
             : ChangeEffect::kNone;
}

ChangeEffect GridAnswer::EffectOf(const MapChanges& changes, const MapSnapshot& snapshot) const {
  return EffectOf(GridChange(changes, snapshot.grid()));
}

Course GridAnswer::CourseOn(const MapSnapshot& snapshot) const {
  const WorldFrame& frame = snapshot.grid().settings().frame;
  std::vector<WorldPoint> centres;
  centres.reserve(points_on_map_);
  for (const Cell point : absl::MakeConstSpan(points_).first(points_on_map_)) {
    centres.push_back(frame.CenterOf(point));
  }
  std::vector<std::size_t> leaps;
  for (const CrossedPortal& crossing : crossings_) {
    leaps.push_back(crossing.index);
  }
  return {std::move(centres), std::move(leaps)};
}

std::shared_ptr<const KeptAnswer> GridAnswer::Rest(const Course::Place& place,
                                                   const MapSnapshot& snapshot) const {
  NoWorld none;
  return kind_ == Kind::kPath && basis_ == Basis::kMap && crossings_.empty()
             ? RestOn(snapshot.grid(), place, {none})
             : nullptr;
}

std::shared_ptr<GridAnswer> GridAnswer::RestOn(const GridMap& map, const Course::Place& place,
                                               const Ways& ways) const {
  if (!has_path()) {
    return nullptr;
  }
  auto rest = std::make_shared<GridAnswer>(*this);
  std::size_t passed = place.next - 1;
  Cell start = points_[passed];
  const bool is_leap = std::ranges::any_of(
      crossings_, [&](const CrossedPortal& crossing) { return crossing.index == place.next; });
  if (place.next < points_on_map_ && is_leap) {
    start = points_[++passed];
  } else if (place.next < points_on_map_ && !is_lines_) {
    // The last cell of the run that the agent has entered.
    const Cell to = points_[place.next];
    const int steps = std::max(std::abs(to.x - start.x), std::abs(to.y - start.y));
    const int done = static_cast<int>(place.share * steps + kShareRounding);
    start = {start.x + done * Sign(to.x - start.x), start.y + done * Sign(to.y - start.y)};
    passed += start == to ? 1 : 0;
  }
  rest->points_.erase(rest->points_.begin(), rest->points_.begin() + static_cast<std::ptrdiff_t>(passed));
  rest->points_on_map_ -= passed;
  std::erase_if(rest->crossings_, [&](const CrossedPortal& crossing) { return crossing.index <= passed; });
  for (CrossedPortal& crossing : rest->crossings_) {
    crossing.index -= passed;
  }
  rest->points_.front() = start;
  rest->query_.start = start;
  const absl::StatusOr<Validation> now = rest->Validate(map, ways);
  if (!now.ok() || !now->walkable) {
    return nullptr;
  }
  rest->cost_ = now->cost;
  rest->TakeReach(map);
  rest->Place(map, basis_);
  return rest;
}

absl::StatusOr<Validation> GridAnswer::Validate(const GridMap& map, const Ways& ways) const {
  return ValidateThroughPortals(map, ways.world,
                                {.points = points_,
                                 .corner_rule = query_.corner_rule,
                                 .path_form = is_lines_ ? PathForm::kSmoothed : PathForm::kCorners,
                                 .footprint = query_.footprint},
                                crossings_, ways.required_tags);
}

bool GridAnswer::CanStillBeWalked(const GridMap& map, const Ways& ways) const {
  const absl::StatusOr<Validation> now = Validate(map, ways);
  return now.ok() && now->walkable && std::abs(now->cost - cost_) <= tolerance_;
}

bool GridAnswer::IsOutdatedBy(const GridMap& map, const absl::StatusOr<PortalPath>& found,
                              const Ways& ways) const {
  if (!found.ok() || !error_.ok()) {
    return found.ok() || found.status().code() != error_.code() ||
           ErrorReasonOf(found.status()) != ErrorReasonOf(error_);
  }
  const PathResult& result = found->path;
  if (outcome_ == Outcome::kUnreachable) {
    return result.outcome != Outcome::kUnreachable;
  }
  if (!CanStillBeWalked(map, ways)) {
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

namespace {

// Minimum sides of tiles in cells and maximum numbers of tiles per side, for paths and for larger regions.
constexpr int kPathSide = 32;
constexpr int kPathsPerSide = 64;
constexpr int kRegionSide = 64;
constexpr int kRegionsPerSide = 16;

}  // namespace

GridTiles::Layer::Layer(const Rectangle& map, int min_side, int max_tiles_per_side)
    : side(std::max(min_side, (std::max(map.width, map.height) - 1) / max_tiles_per_side + 1)),
      columns((map.width - 1) / side + 1),
      tiles(static_cast<std::size_t>(columns) * static_cast<std::size_t>((map.height - 1) / side + 1)) {}

GridTiles::GridTiles(const GridMap& map)
    : map_{0, 0, map.width(), map.height()},
      paths_(map_, kPathSide, kPathsPerSide),
      regions_(map_, kRegionSide, kRegionsPerSide),
      least_(LeastCosts::BetweenCheapPlaces(map)) {}

template <typename Visitor>
void GridTiles::VisitTiles(const Rectangle& cells, Layer& layer, Visitor visit) {
  const Rectangle part = Intersect(cells, map_);
  if (part.empty()) {
    return;
  }
  const int side = layer.side;
  for (int row = part.y / side; row <= (part.y + part.height - 1) / side; ++row) {
    for (int column = part.x / side; column <= (part.x + part.width - 1) / side; ++column) {
      visit(layer.tiles[static_cast<std::size_t>(row) * static_cast<std::size_t>(layer.columns) +
                        static_cast<std::size_t>(column)],
            Rectangle{column * side, row * side, side, side});
    }
  }
}

void GridTiles::Set(Bits& bits, std::size_t place, bool value) {
  const std::size_t word = place / kWordBits;
  const Word bit = Word{1} << (place % kWordBits);
  if (value && word >= bits.size()) {
    bits.resize(word + 1);
  }
  if (value) {
    bits[word] |= bit;
  } else if (word < bits.size()) {
    bits[word] &= ~bit;
  }
}

void GridTiles::Mark(std::size_t place, const GridAnswer& answer, bool value) {
  if (answer.reach().is_unlimited) {
    Set(everywhere_, place, value);
    return;
  }
  for (const WordChange& word : answer.cells()) {
    VisitTiles(BoundsOf(word), paths_, [&](Bits& bits, const Rectangle&) { Set(bits, place, value); });
  }
  MarkRegion(place, answer, value);
}

void GridTiles::MarkRegion(std::size_t place, const GridAnswer& answer, bool value) {
  const ShortcutEnds none;
  const auto may_pass = [&](const Rectangle& cells) {
    return answer.reach().cheaper.MayBeCheaperBy(cells, {least_, none}, ShortcutEnds::kNone);
  };
  if (!may_pass(map_)) {
    return;
  }
  VisitTiles(map_, regions_, [&](Bits& bits, const Rectangle& cells) {
    if (may_pass(cells)) {
      Set(bits, place, value);
    }
  });
}

void GridTiles::Take(const Rectangle& cells, Layer& layer) {
  VisitTiles(cells, layer, [&](const Bits& bits, const Rectangle&) {
    found_.resize(std::max(found_.size(), bits.size()));
    for (std::size_t i = 0; i < bits.size(); ++i) {
      found_[i] |= bits[i];
    }
  });
}

const std::vector<Word>* GridTiles::Find(const GridChange& change, std::size_t count, AnswerAt answer_at) {
  if (change.least_.IsBelow(least_)) {
    least_ = {
        {std::min(change.least_.straight, least_.straight), std::min(change.least_.rising, least_.rising),
         std::min(change.least_.falling, least_.falling)},
        least_.lattice};
    for (Bits& bits : regions_.tiles) {
      bits.clear();
    }
    for (std::size_t place = 0; place < count; ++place) {
      if (const GridAnswer& answer = answer_at(place); !answer.reach().is_unlimited) {
        MarkRegion(place, answer, true);
      }
    }
  }
  // A path over a shortcut may pass any place.
  if (change.may_end_all_ || (!change.opened_.words.empty() && !change.shortcuts_.empty())) {
    return nullptr;
  }
  found_ = everywhere_;
  for (const GridChange::ChangedWord& word : change.blocked_.words) {
    Take(word.bounds, paths_);
  }
  for (const GridChange::ChangedWord& word : change.opened_.words) {
    Take(word.bounds, regions_);
  }
  return &found_;
}

}  // namespace waystar::core
