#include "server/core/grid/field/walk_matrix.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "server/base/error.h"
#include "server/core/grid/field/flood.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// The sides of a matrix: `roots` are the starts and `ends` the goals, or vice versa if there are fewer goals.
class Sides {
 public:
  explicit Sides(const WalkMatrixQuery& query)
      : query_(query), is_turned_(query.goals.size() < query.starts.size()) {}

  bool is_turned() const { return is_turned_; }
  absl::Span<const Cell> roots() const { return is_turned_ ? query_.goals : query_.starts; }
  absl::Span<const Cell> ends() const { return is_turned_ ? query_.starts : query_.goals; }
  std::size_t StartOf(std::size_t root, std::size_t end) const { return is_turned_ ? end : root; }
  std::size_t GoalOf(std::size_t root, std::size_t end) const { return is_turned_ ? root : end; }
  std::size_t EntryOf(std::size_t root, std::size_t end) const {
    return StartOf(root, end) * query_.goals.size() + GoalOf(root, end);
  }
  bool Leads(std::size_t root, std::size_t end) const {
    return query_.leads(query_.starts[StartOf(root, end)], query_.goals[GoalOf(root, end)]);
  }

 private:
  const WalkMatrixQuery& query_;
  const bool is_turned_;
};

// Searches for the path of one pair. Returns false if the search exceeds the scratch memory.
// REQUIRES: the start leads to the goal.
absl::StatusOr<bool> FillPair(const WalkMatrixQuery& query, std::size_t start, std::size_t goal,
                              CostMatrix& matrix) {
  WAYSTAR_ASSIGN_OR_RETURN(const PathResult path, query.search({.start = query.starts[start],
                                                                .goal = query.goals[goal],
                                                                .corner_rule = query.agent.corner_rule,
                                                                .path_form = PathForm::kCorners,
                                                                .footprint = query.agent.footprint}));
  matrix.expanded += path.statistics.expanded;
  if (path.outcome == Outcome::kBudgetExhausted) {
    return false;
  }
  matrix.costs[start * query.goals.size() + goal] = path.cost;
  return true;
}

class MatrixFiller {
 public:
  MatrixFiller(const GridMap& map, const WalkGrid& walk, const WalkMatrixQuery& query, const Budget& budget,
               FieldScratch& scratch)
      : map_(map),
        walk_(walk),
        query_(query),
        budget_(budget),
        field_(scratch),
        sides_(query),
        may_flood_(map.bounds().area() <= kMaxFieldCells),
        matrix_(EmptyMatrix(query)) {}

  absl::StatusOr<CostMatrix> Fill() {
    WAYSTAR_ASSIGN_OR_RETURN(const bool is_filled, TryFill());
    if (!is_filled) {
      return MakeError(ErrorReason::kRegionTooLarge, "",
                       "a search touches more of the map than the server's memory for one holds");
    }
    return std::move(matrix_);
  }

 private:
  absl::StatusOr<bool> TryFill() {
    if (matrix_.costs.size() <= kFewPairs) {
      return SearchPairs();
    }
    if (MayJump(map_)) {
      WAYSTAR_ASSIGN_OR_RETURN(const bool is_filled, FillOverJumps());
      if (is_filled) {
        return true;
      }
    }
    if (!may_flood_) {
      return SearchPairs();
    }
    WAYSTAR_ASSIGN_OR_RETURN(const bool are_pairs_quicker, ArePairsQuicker());
    if (are_pairs_quicker) {
      WAYSTAR_ASSIGN_OR_RETURN(const bool is_filled, SearchPairs());
      if (is_filled) {
        return true;
      }
    }
    field_.ground().Read(map_, walk_, query_.agent.footprint, query_.agent.corner_rule, map_.bounds());
    WAYSTAR_RETURN_IF_ERROR(FillByFloods(query_, budget_, field_, matrix_));
    return true;
  }

  absl::StatusOr<bool> SearchPairs() {
    return FillByPairs(query_, /*doors=*/0, std::numeric_limits<std::uint64_t>::max(), matrix_);
  }

  std::vector<Cell> Free(absl::Span<const Cell> cells) const {
    std::vector<Cell> free;
    std::copy_if(cells.begin(), cells.end(), std::back_inserter(free),
                 [&](Cell cell) { return walk_.IsWalkable(cell); });
    return free;
  }

  // Fills the matrix over jump points. Returns false if there are so many that floods are faster. A flood
  // takes 10 ns per cell and root; a jump point takes 50 ns per root, and 300 ns to explore.
  absl::StatusOr<bool> FillOverJumps() {
    PassageCosts through(query_.passages, sides_.is_turned(), sides_.ends().size());
    const auto cells = static_cast<std::size_t>(map_.walkable_cells());
    // A flood handles many passages faster than Improve, which takes 1 ns for each of these.
    const std::size_t exits = through.exits().size();
    if (may_flood_ && exits * (exits + query_.passages.size() + sides_.ends().size()) > 10 * cells) {
      return false;
    }
    std::vector<Cell> explored_from = Free(sides_.roots());
    explored_from.insert(explored_from.end(), through.exits().begin(), through.exits().end());
    const std::size_t root_count = sides_.roots().size() + exits;
    const std::size_t max_nodes = may_flood_ ? cells * sides_.roots().size() / (30 + 5 * root_count) +
                                                   1000 * sides_.roots().size() / root_count
                                             : kMostJumpPoints;
    JumpGraph& graph = field_.jump_graph();
    const SearchEnd explored =
        graph.Explore(map_, walk_, query_.agent.corner_rule, explored_from, max_nodes, budget_);
    matrix_.expanded += graph.node_count();
    if (explored == SearchEnd::kScratchLimit) {
      return false;
    }
    WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(explored, matrix_.expanded));

    const std::vector<std::size_t> leg_ends = FindLegs(through.entrances());
    for (std::size_t exit = 0; exit < through.exits().size(); ++exit) {
      WAYSTAR_RETURN_IF_ERROR(FillRow(through.exits()[exit], leg_ends, through.RowOfExit(exit)));
    }
    std::vector<Cost> row;
    for (std::size_t root = 0; root < sides_.roots().size(); ++root) {
      if (!walk_.IsWalkable(sides_.roots()[root])) {
        continue;
      }
      WAYSTAR_RETURN_IF_ERROR(FillRow(sides_.roots()[root], leg_ends, row));
      through.Improve(row);
      for (std::size_t end = 0; end < sides_.ends().size(); ++end) {
        if (row[end] != PassageCosts::kUnreached) {
          matrix_.costs[sides_.EntryOf(root, end)] = CostToDouble(row[end]);
        }
      }
    }
    return true;
  }

  // Finds the legs to each end and then to each entrance. Returns, for each of these, the number of legs up
  // to and including its own.
  std::vector<std::size_t> FindLegs(const std::vector<Cell>& entrances) {
    JumpSight& sight = field_.jump_sight();
    sight.Start(map_, walk_, query_.agent.corner_rule, field_.jump_graph());
    std::vector<JumpSight::Leg>& legs = field_.legs();
    std::vector<std::size_t> leg_ends;
    legs.clear();
    for (const absl::Span<const Cell> list : {sides_.ends(), absl::MakeConstSpan(entrances)}) {
      for (const Cell end : list) {
        if (walk_.IsWalkable(end)) {
          sight.AddLegs(end, legs);
        }
        leg_ends.push_back(legs.size());
      }
    }
    return leg_ends;
  }

  // Fills a row with the costs of walks from an explored cell to the end of each leg.
  absl::Status FillRow(Cell from, const std::vector<std::size_t>& leg_ends, std::vector<Cost>& row) {
    JumpCosts& costs = field_.jump_costs();
    const JumpGraph& graph = field_.jump_graph();
    const SearchEnd end = costs.Run(graph, graph.Find(from), map_.min_straight(), budget_, matrix_.expanded);
    WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(end, matrix_.expanded));
    row.assign(leg_ends.size(), PassageCosts::kUnreached);
    const std::vector<JumpSight::Leg>& legs = field_.legs();
    std::size_t leg = 0;
    for (std::size_t i = 0; i < leg_ends.size(); ++i) {
      for (; leg < leg_ends[i]; ++leg) {
        if (const Cost cost = costs.CostTo(legs[leg].from); cost != JumpCosts::kUnreached) {
          row[i] = std::min(row[i], cost + legs[leg].cost);
        }
      }
    }
    return absl::OkStatus();
  }

  // Returns true if a search per pair is faster than floods, estimated from a sample of the pairs.
  absl::StatusOr<bool> ArePairsQuicker() {
    const std::uint64_t before = matrix_.expanded;
    const std::size_t roots = sides_.roots().size();
    const std::size_t ends = sides_.ends().size();
    const std::size_t probes = std::min(kMostProbes, roots * ends / kPairsOfProbe);
    for (std::size_t probe = 0; probe < probes; ++probe) {
      const std::size_t root = probe * roots / probes;
      const std::size_t end = probe * ends / probes;
      bool is_found = true;
      if (sides_.Leads(root, end)) {
        WAYSTAR_ASSIGN_OR_RETURN(
            is_found, FillPair(query_, sides_.StartOf(root, end), sides_.GoalOf(root, end), matrix_));
      }
      const std::uint64_t expansions = (matrix_.expanded - before) * ends / probes;
      if (!is_found || IsFloodQuicker(map_, query_.agent.footprint, expansions)) {
        return false;
      }
    }
    return true;
  }

  // Maximum number of jump points on maps too large for floods; about 100 MB.
  static constexpr std::size_t kMostJumpPoints = 500'000;
  static constexpr std::size_t kMostProbes = 16;
  // Minimum number of pairs per probe, because sampled pairs are searched again with the others.
  static constexpr std::size_t kPairsOfProbe = 4;

  const GridMap& map_;
  const WalkGrid& walk_;
  const WalkMatrixQuery& query_;
  const Budget& budget_;
  FieldScratch& field_;
  const Sides sides_;
  const bool may_flood_;
  CostMatrix matrix_;
};

}  // namespace

CostMatrix EmptyMatrix(const WalkMatrixQuery& query) {
  return {.costs = std::vector<double>(query.starts.size() * query.goals.size(), CostMatrix::kUnreachable)};
}

absl::StatusOr<bool> FillByPairs(const WalkMatrixQuery& query, std::uint64_t doors, std::uint64_t most_cells,
                                 CostMatrix& matrix) {
  // Upper bound of the cost of an expansion, or of checking a portal, in flooded cells.
  constexpr std::uint64_t kCellsOfAnExpansion = 16;
  std::uint64_t cells = 0;
  for (std::size_t start = 0; start < query.starts.size(); ++start) {
    for (std::size_t goal = 0; goal < query.goals.size(); ++goal) {
      if (cells >= most_cells) {
        return false;
      }
      if (!query.leads(query.starts[start], query.goals[goal])) {
        continue;
      }
      const std::uint64_t before = matrix.expanded;
      WAYSTAR_ASSIGN_OR_RETURN(const bool is_found, FillPair(query, start, goal, matrix));
      if (!is_found) {
        return false;
      }
      cells += (matrix.expanded - before + doors) * kCellsOfAnExpansion;
    }
  }
  return true;
}

absl::Status FillByFloods(const WalkMatrixQuery& query, const Budget& budget, FieldScratch& scratch,
                          CostMatrix& matrix) {
  const FloodGround& ground = scratch.ground();
  Flood& flood = scratch.flood();
  const Sides sides(query);
  const FloodSense sense = sides.is_turned() ? FloodSense::kToSeeds : FloodSense::kFromSeeds;
  scratch.gates().Read(ground, query.passages, sense);
  std::vector<std::uint32_t> until;
  for (std::size_t root = 0; root < sides.roots().size(); ++root) {
    // Floods of few cells on a large ground do not check the clock themselves.
    if (const std::optional<SearchEnd> end = Interruption(budget)) {
      return StatusOfEnd(*end, matrix.expanded);
    }
    until.clear();
    for (std::size_t end = 0; end < sides.ends().size(); ++end) {
      if (sides.Leads(root, end)) {
        until.push_back(ground.IndexOf(sides.ends()[end]));
      }
    }
    if (until.empty()) {
      continue;
    }
    const FloodSpec spec{
        .seeds = sides.roots().subspan(root, 1), .sense = sense, .until = until, .gates = &scratch.gates()};
    WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(flood.Run(ground, spec, budget, matrix.expanded), matrix.expanded));
    for (std::size_t end = 0; end < sides.ends().size(); ++end) {
      if (const Cost cost = flood.costs()[ground.IndexOf(sides.ends()[end])]; cost != Flood::kUnreached) {
        matrix.costs[sides.EntryOf(root, end)] = CostToDouble(cost);
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<CostMatrix> ComputeWalkMatrix(const GridMap& map, const WalkMatrixQuery& query,
                                             const Budget& budget, FieldScratch& scratch) {
  const std::shared_ptr<const WalkGrid> walk = map.walk(query.agent.footprint);
  return MatrixFiller(map, *walk, query, budget, scratch).Fill();
}

}  // namespace waystar::core
