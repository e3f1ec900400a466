#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>

#include "absl/base/attributes.h"
#include "server/base/memory_account.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/engines.h"
#include "server/core/grid/map/canonical_steps.h"
#include "server/core/grid/map/grid_cells.h"
#include "server/core/grid/map/plain_cells.h"
#include "server/core/grid/search/goal_set.h"
#include "server/core/grid/search/octile.h"
#include "server/core/search/interruption.h"
#include "server/geometry/cell.h"

namespace waystar::core {
namespace {

// Cost, in expansions, of judging a uniform tile and one neighbourhood.
constexpr std::uint64_t kExpansionsPerTile = 64;
constexpr std::uint64_t kExpansionsPerNeighbourhood = 4;

constexpr PlainCells::Tile kNonePlain;

// Plain cells of a map for one search, whose budget pays for the tiles that it is the first to use.
class PlainGround {
 public:
  PlainGround(const GridMap& map, const Budget& budget)
      : map_(map), plain_(map.plain_cells()), budget_(budget) {}

  // Return the tile as PlainCells does. Once the search must end, tiles that are not judged yet are returned
  // without plain cells. TileNear is faster if the previous tile was the same.
  const PlainCells::Tile& TileAt(std::size_t column, std::size_t row) {
    const PlainCells::Tile* tile = plain_.Find(column, row);
    return tile != nullptr ? *tile : Judge(column, row);
  }
  const PlainCells::Tile& TileNear(std::size_t column, std::size_t row) {
    const std::size_t place = row << 16 | column;
    if (place != place_) {
      tile_ = &TileAt(column, row);
      place_ = place;
    }
    return *tile_;
  }

  bool IsPlainForDiagonals(Cell cell) {
    const PlainCells::Tile& tile = TileNear(WordOf(cell.x), WordOf(cell.y));
    return TestBitOfWord(tile.diagonally[static_cast<unsigned>(cell.y + 1) % kWordBits], cell.x);
  }

  // Returns why the search must end, or nullopt while the budget lasts.
  std::optional<SearchEnd> end() const { return end_; }

 private:
  ABSL_ATTRIBUTE_NOINLINE const PlainCells::Tile& Judge(std::size_t column, std::size_t row) {
    if (!end_) {
      end_ = budget_.upkeep != nullptr && !budget_.upkeep->TryTake(kExpansionsPerTile)
                 ? SearchEnd::kExpansionLimit
                 : InterruptionAlone(budget_);
    }
    if (end_) {
      return kNonePlain;
    }
    PlainCells::Work work;
    const PlainCells::Tile& tile = plain_.Judge(map_, column, row, work);
    if (budget_.upkeep != nullptr) {
      budget_.upkeep->Take(kExpansionsPerNeighbourhood * work.neighbourhoods);
    }
    if (MemoryAccount* const account = map_.memory_account()) {
      account->Add(sizeof(tile));
    }
    return tile;
  }

  const GridMap& map_;
  const PlainCells& plain_;
  const Budget& budget_;
  std::optional<SearchEnd> end_;
  // Last tile returned by TileNear, and its position.
  const PlainCells::Tile* tile_ = nullptr;
  std::size_t place_ = static_cast<std::size_t>(-1);
};

// Row or column that a straight run follows. A cell's position on it is its x or y.
class PlainLine {
 public:
  // REQUIRES: `from` is on the map; `direction` is straight. `ground` outlives this.
  PlainLine(PlainGround& ground, Cell from, Direction direction)
      : ground_(ground),
        from_(from),
        is_row_(direction == Direction::kEast || direction == Direction::kWest),
        is_forward_(direction == Direction::kEast || direction == Direction::kSouth),
        tiles_(WordOf(is_row_ ? from.y : from.x)),
        line_(static_cast<unsigned>((is_row_ ? from.y : from.x) + 1) % kWordBits) {}

  bool Holds(Cell cell) const { return is_row_ ? cell.y == from_.y : cell.x == from_.x; }
  int PositionOf(Cell cell) const { return is_row_ ? cell.x : cell.y; }
  Cell CellAt(int position) const { return is_row_ ? Cell{position, from_.y} : Cell{from_.x, position}; }

  // Returns the first cell after `at` that is not plain.
  // REQUIRES: the cell after `at` is on the map.
  int NextStop(int at) const { return is_forward_ ? NextStop<1>(at) : NextStop<-1>(at); }

  // Returns true if a run from `at` to `stop` enters `position`.
  bool IsBetween(int at, int position, int stop) const {
    return is_forward_ ? at < position && position <= stop : stop <= position && position < at;
  }

 private:
  template <int kStep>
  int NextStop(int at) const {
    const auto bit = static_cast<unsigned>(at + 1 + kStep);
    const auto stops = [&, first = bit / kWordBits](std::size_t index) {
      return ~(index == first ? FirstPlainWord(index) : PlainWord(index));
    };
    return NextSetBit<kStep>(bit, stops) - 1;
  }

  // Cells at the border of the map are not plain, so that no run leaves it.
  Word PlainWord(std::size_t index) const {
    return is_row_ ? ground_.TileAt(index, tiles_).along_rows[line_]
                   : ground_.TileAt(tiles_, index).along_columns[line_];
  }
  Word FirstPlainWord(std::size_t index) const {
    return is_row_ ? ground_.TileNear(index, tiles_).along_rows[line_]
                   : ground_.TileNear(tiles_, index).along_columns[line_];
  }

  PlainGround& ground_;
  Cell from_;
  bool is_row_;
  bool is_forward_;
  // Index of the row or column of tiles that contains the line, and of the line in each tile.
  std::size_t tiles_;
  std::size_t line_;
};

// Proof of optimality: the canonical path (canonical_steps.h) consists of canonical steps only. If a node of
// it is reached at its cost and in its direction, the steps of that direction are expanded, whatever other
// directions reached it at the same cost. The run along the canonical path is then followed to its next node,
// because a run ends only where no step is canonical, or one that it cannot take itself. The heuristic is
// consistent, so all of that happens before the floor of the buckets passes the path's cost.
//
// With a tolerance, the heuristic is weighted and not consistent. Of the canonical path, a node waits at its
// cost until the goal is reached, with an f of at most the weight times the path's cost.
//
// Steps pruned because a run already passed a cell are no cheaper than that run, or repeat it.
template <typename Recorder, bool kHasOwnCosts, bool kIsWeighted>
class WeightedJpsSearch {
 public:
  WeightedJpsSearch(const GridMap& map, const PathQuery& query, const Budget& budget, Scratch& scratch,
                    Recorder& recorder)
      : map_(map),
        plain_(map, budget),
        costs_(map.step_costs()),
        step_costs_(map),
        query_(query),
        budget_(budget),
        scratch_(scratch),
        recorder_(recorder),
        heuristic_(map, query.goal, 1.0 + query.tolerance),
        nearest_(query.start, query.goal),
        goal_g_(budget.FirstForbiddenCost()) {
    statistics_.algorithm = Algorithm::kJumpPoint;
  }

  SearchReport Run() {
    const SearchEnd end = Search();
    const bool is_found = end == SearchEnd::kGoalReached;
    return {.end = end,
            .nearest = is_found ? query_.goal : nearest_.cell(),
            .cost = is_found ? scratch_.nodes()[scratch_.nodes().Find(query_.goal)].g : nearest_.cost(),
            .least_cost = least_pruned_,
            .statistics = statistics_};
  }

 private:
  using Open = JumpQueue<kIsWeighted>;

  static constexpr Cost kNone = std::numeric_limits<Cost>::max();
  // Maximum length of a diagonal run; it continues when its end is expanded. Distant cells are often reached
  // more cheaply by then. On game maps this is up to twice as fast as no limit.
  static constexpr int kMaxDiagonal = 8;

  SearchEnd Search() {
    scratch_.canonical_steps().Prepare(costs_);
    // No step costs less than the width of a bucket, so that nodes are not reexpanded repeatedly.
    const bool has_room = scratch_.StartJumpsOverCells(
        map_, heuristic_(query_.start),
        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(map_.min_straight()))) - 1);
    if (!has_room || !IsNews(query_.start, 0, Direction::kNorth)) {
      return SearchEnd::kScratchLimit;
    }
    const NodeIndex start = scratch_.FindOrAddNode(query_.start);
    if (start == kNoNode) {
      return SearchEnd::kScratchLimit;
    }
    Reach(start, query_.start, 0, start,
          GridMoves::For(Connectivity::kEight, query_.corner_rule).From(map_.walk(), query_.start));
    if (query_.start == query_.goal) {
      return SearchEnd::kGoalReached;
    }
    while (!is_full_ && !Open::IsEmpty(scratch_)) {
      const BucketQueue::Entry entry = Open::Pop(scratch_);
      const NodeIndex index = entry.node;
      if (Open::Floor(scratch_, entry) >= goal_g_) {
        break;
      }
      if (scratch_.nodes()[index].todo == 0) {
        continue;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, statistics_.expanded)) {
        return *end;
      }
      Expand(index);
      if (plain_.end()) {
        return *plain_.end();
      }
    }
    if (is_full_) {
      return SearchEnd::kScratchLimit;
    }
    if (is_found_) {
      return SearchEnd::kGoalReached;
    }
    return least_pruned_ < kNone ? SearchEnd::kCostLimit : SearchEnd::kExhausted;
  }

  void Expand(NodeIndex index) {
    JumpNode& node = scratch_.nodes()[index];
    const Cell cell = Unpack(node.cell);
    const Cost g = node.g;
    unsigned steps = node.todo;
    node.done |= node.todo;
    node.todo = 0;
    ++statistics_.expanded;
    recorder_.Expanded(cell, g, g + heuristic_(cell));
    nearest_.Consider(cell, g);
    for (; steps != 0; steps &= steps - 1) {
      const auto direction = static_cast<Direction>(std::countr_zero(steps));
      if (IsDiagonal(direction)) {
        JumpDiagonally(index, cell, direction, g);
      } else {
        JumpStraight(index, cell, direction, g);
      }
    }
  }

  // Jumps along a row or column from a cell that costs g to reach from `parent`, which may be that cell.
  void JumpStraight(NodeIndex parent, Cell from, Direction direction, Cost g) {
    const Cell first = Step(from, direction);
    // All cells up to the next stop cost the same: a plain cell costs as much as its neighbours on the line.
    Cost step_cost = step_costs_.Straight(first);
    if (!IsNews(first, g + step_cost, direction)) {
      return;
    }
    const PlainLine line(plain_, from, direction);
    const bool is_goal_on_line = line.Holds(query_.goal);
    const int goal = line.PositionOf(query_.goal);
    int at = line.PositionOf(from);
    while (true) {
      const int stop = line.NextStop(at);
      if (is_goal_on_line && line.IsBetween(at, goal, stop)) {
        ReachGoal(g + step_cost * std::abs(goal - at), parent);
        return;
      }
      const Cell cell = line.CellAt(stop);
      g += step_cost * std::abs(stop - at);
      if (cell != first && !IsNews(cell, g, direction)) {
        return;
      }
      const DirectionSet steps = StepsFrom(cell, direction);
      if (steps != SetOf(direction)) {
        if (steps != 0) {
          Generate(cell, g, steps, parent);
        }
        return;
      }
      at = stop;
      step_cost = step_costs_.Straight(Step(cell, direction));
    }
  }

  void JumpDiagonally(NodeIndex parent, Cell from, Direction direction, Cost g) {
    const DirectionSet natural = NaturalSteps(direction);
    const std::array<Direction, 2> sides = {Turned(direction, 1), Turned(direction, 7)};
    Cell cell = from;
    for (int length = 1;; ++length) {
      cell = Step(cell, direction);
      g += step_costs_.Diagonal(cell);
      if (cell == query_.goal) {
        ReachGoal(g, parent);
        return;
      }
      if (!IsNews(cell, g, direction)) {
        return;
      }
      const DirectionSet steps = plain_.IsPlainForDiagonals(cell) ? natural : StepsFrom(cell, direction);
      if ((steps & ~natural) != 0 || length == kMaxDiagonal) {
        Generate(cell, g, steps, parent);
        return;
      }
      for (const Direction side : sides) {
        if ((steps & SetOf(side)) != 0) {
          JumpStraight(parent, cell, side, g);
        }
      }
      if ((steps & SetOf(direction)) == 0) {
        return;
      }
    }
  }

  // Records that a run passes a cell. Returns false if the run need not continue, because the cell was
  // reached more cheaply, or at the same cost in the same direction. Without this, parallel runs from the
  // border of a terrain over open ground would each scan all of it.
  bool IsNews(Cell cell, Cost g, Direction arrival) {
    SearchNode* passed = scratch_.Find(cell);
    if (passed == nullptr) {
      is_full_ = true;
      return false;
    }
    if (scratch_.IsFresh(*passed) || g < passed->g) {
      scratch_.Reach(*passed, g, arrival);
      passed->arrivals = SetOf(arrival);
      return true;
    }
    if (g > passed->g || (passed->arrivals & SetOf(arrival)) != 0) {
      return false;
    }
    passed->arrivals |= SetOf(arrival);
    return true;
  }

  DirectionSet StepsFrom(Cell cell, Direction arrival) {
    if constexpr (kHasOwnCosts) {
      if (map_.cell_costs()->MayHaveNear(cell)) {
        const NearbyCosts costs(map_, cell);
        if (costs.has_own) {
          return CanonicalSteps(costs, query_.corner_rule, arrival);
        }
      }
    }
    return scratch_.canonical_steps().Steps(Neighbourhood(map_, cell), costs_, query_.corner_rule, arrival);
  }

  // Records a path of cost g to a cell after which `steps` are canonical.
  void Generate(Cell cell, Cost g, DirectionSet steps, NodeIndex parent) {
    if (const Cost f = g + heuristic_(cell); f >= goal_g_) {
      least_pruned_ = std::min(least_pruned_, f);
      return;
    }
    const NodeIndex index = scratch_.FindOrAddNode(cell);
    if (index == kNoNode) {
      is_full_ = true;
      return;
    }
    Reach(index, cell, g, parent, steps);
  }

  void Reach(NodeIndex index, Cell cell, Cost g, NodeIndex parent, DirectionSet steps) {
    if (!scratch_.nodes()[index].Reach(g, parent, steps)) {
      return;
    }
    const Cost f = g + heuristic_(cell);
    ++statistics_.generated;
    recorder_.Generated(cell, Unpack(scratch_.nodes()[parent].cell), g, f);
    if (!Open::Push(scratch_, f, g, index)) {
      is_full_ = true;
    }
  }

  void ReachGoal(Cost g, NodeIndex parent) {
    if (g >= goal_g_) {
      least_pruned_ = std::min(least_pruned_, g);
      return;
    }
    const NodeIndex index = scratch_.FindOrAddNode(query_.goal);
    if (index == kNoNode) {
      is_full_ = true;
      return;
    }
    goal_g_ = g;
    is_found_ = true;
    // Without directions: the search ends when the goal is taken from the open list.
    Reach(index, query_.goal, g, parent, 0);
  }

  const GridMap& map_;
  PlainGround plain_;
  const StepCosts& costs_;
  const StepCostLookup<kHasOwnCosts> step_costs_;
  const PathQuery& query_;
  const Budget& budget_;
  Scratch& scratch_;
  Recorder& recorder_;
  const CostFloorHeuristic heuristic_;
  NearestCell nearest_;
  SearchStatistics statistics_;
  // Cost of the cheapest path to the goal so far, or else the first forbidden one.
  Cost goal_g_;
  bool is_found_ = false;
  // Lowest f of the cells that were left because of it.
  Cost least_pruned_ = kNone;
  bool is_full_ = false;
};

}  // namespace

template <typename Recorder>
SearchReport RunWeightedJps(const GridMap& map, const PathQuery& query, const Budget& budget,
                            Scratch& scratch, Recorder& recorder) {
  const auto run = [&]<bool kHasOwnCosts>() {
    return query.tolerance > 0.0
               ? WeightedJpsSearch<Recorder, kHasOwnCosts, true>(map, query, budget, scratch, recorder).Run()
               : WeightedJpsSearch<Recorder, kHasOwnCosts, false>(map, query, budget, scratch, recorder)
                     .Run();
  };
  return map.cell_costs() != nullptr ? run.template operator()<true>() : run.template operator()<false>();
}

template SearchReport RunWeightedJps(const GridMap&, const PathQuery&, const Budget&, Scratch&, NoRecorder&);
template SearchReport RunWeightedJps(const GridMap&, const PathQuery&, const Budget&, Scratch&,
                                     EventRecorder&);

}  // namespace waystar::core
