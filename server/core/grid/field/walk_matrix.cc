#include "server/core/grid/field/walk_matrix.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/field/flood_matrix.h"
#include "server/core/grid/field/flood_sense.h"
#include "server/core/grid/field/passage_costs.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"

namespace waystar::core {
namespace {

// Fills a matrix from one side: `roots` are the starts and `ends` the goals, or vice versa.
class MatrixFiller {
 public:
  MatrixFiller(const GridMap& map, const WalkGrid& walk, const WalkMatrixQuery& query, const Budget& budget,
               FieldScratch& scratch)
      : map_(map),
        walk_(walk),
        query_(query),
        budget_(budget),
        field_(scratch),
        is_turned_(query.goals.size() < query.starts.size()),
        roots_(is_turned_ ? query.goals : query.starts),
        ends_(is_turned_ ? query.starts : query.goals) {
    matrix_.costs.assign(roots_.size() * ends_.size(), CostMatrix::kUnreachable);
  }

  absl::StatusOr<CostMatrix> Fill() {
    bool is_filled = false;
    if (roots_.size() * ends_.size() <= kFewPairs) {
      WAYSTAR_ASSIGN_OR_RETURN(is_filled, SearchPairs());
      return is_filled ? absl::StatusOr<CostMatrix>(std::move(matrix_)) : TooLarge();
    }
    if (map_.HasUniformCost() && map_.settings().connectivity != Connectivity::kSix) {
      WAYSTAR_ASSIGN_OR_RETURN(is_filled, FillOverJumps());
    }
    const bool may_flood = map_.bounds().area() <= kMaxFieldCells;
    if (!is_filled) {
      bool is_to_flood = false;
      if (may_flood) {
        WAYSTAR_ASSIGN_OR_RETURN(is_to_flood, AreFloodsQuicker());
      }
      if (!is_to_flood) {
        WAYSTAR_ASSIGN_OR_RETURN(is_filled, SearchPairs());
      }
    }
    if (!is_filled && may_flood) {
      WAYSTAR_RETURN_IF_ERROR(FloodRoots());
      is_filled = true;
    }
    return is_filled ? absl::StatusOr<CostMatrix>(std::move(matrix_)) : TooLarge();
  }

 private:
  double& At(std::size_t root, std::size_t end) {
    return matrix_.costs[is_turned_ ? end * roots_.size() + root : root * ends_.size() + end];
  }

  bool Leads(Cell root, Cell end) const {
    return is_turned_ ? query_.leads(end, root) : query_.leads(root, end);
  }

  std::vector<Cell> Free(absl::Span<const Cell> cells) const {
    std::vector<Cell> free;
    std::copy_if(cells.begin(), cells.end(), std::back_inserter(free),
                 [&](Cell cell) { return walk_.IsWalkable(cell); });
    return free;
  }

  // Returns false if there are so many jump points that floods are faster. A flood takes 10 ns per cell and
  // root; a jump point takes 50 ns per root, and 300 ns to explore.
  absl::StatusOr<bool> FillOverJumps() {
    PassageCosts through(query_.passages, is_turned_, ends_.size());
    const auto cells = static_cast<std::size_t>(map_.walkable_cells());
    const bool may_flood = map_.bounds().area() <= kMaxFieldCells;
    // A flood handles many passages faster than Improve, which takes 1 ns for each of these.
    const std::size_t exits = through.exits().size();
    if (may_flood && exits * (exits + query_.passages.size() + ends_.size()) > 10 * cells) {
      return false;
    }
    std::vector<Cell> explored_from = Free(roots_);
    explored_from.insert(explored_from.end(), through.exits().begin(), through.exits().end());
    const std::size_t root_count = roots_.size() + exits;
    const std::size_t max_nodes =
        may_flood ? cells * roots_.size() / (30 + 5 * root_count) + 1000 * roots_.size() / root_count
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
    for (std::size_t root = 0; root < roots_.size(); ++root) {
      if (!walk_.IsWalkable(roots_[root])) {
        continue;
      }
      WAYSTAR_RETURN_IF_ERROR(FillRow(roots_[root], leg_ends, row));
      through.Improve(row);
      for (std::size_t end = 0; end < ends_.size(); ++end) {
        if (row[end] != PassageCosts::kUnreached) {
          At(root, end) = CostToDouble(row[end]);
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
    for (const absl::Span<const Cell> list : {ends_, absl::MakeConstSpan(entrances)}) {
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

  absl::Status FloodRoots() {
    field_.ground().Read(map_, walk_, query_.agent.footprint, query_.agent.corner_rule, map_.bounds());
    return FillByFloods(
        {.starts = query_.starts, .goals = query_.goals, .passages = query_.passages, .leads = query_.leads},
        budget_, field_, matrix_);
  }

  // Returns false if the search exceeds the scratch memory; here and below.
  absl::StatusOr<bool> SearchPair(std::size_t root, std::size_t end) {
    if (!Leads(roots_[root], ends_[end])) {
      return true;
    }
    const PathQuery pair{.start = is_turned_ ? ends_[end] : roots_[root],
                         .goal = is_turned_ ? roots_[root] : ends_[end],
                         .corner_rule = query_.agent.corner_rule,
                         .path_form = PathForm::kCorners,
                         .footprint = query_.agent.footprint};
    WAYSTAR_ASSIGN_OR_RETURN(const PathResult path, query_.search(pair));
    matrix_.expanded += path.statistics.expanded;
    if (path.outcome == Outcome::kBudgetExhausted) {
      return false;
    }
    At(root, end) = path.cost;
    return true;
  }

  absl::StatusOr<bool> SearchPairs() {
    for (std::size_t root = 0; root < roots_.size(); ++root) {
      for (std::size_t end = 0; end < ends_.size(); ++end) {
        WAYSTAR_ASSIGN_OR_RETURN(const bool is_found, SearchPair(root, end));
        if (!is_found) {
          return false;
        }
      }
    }
    return true;
  }

  // Returns true if floods are faster than a search per pair, estimated from a sample of the pairs.
  absl::StatusOr<bool> AreFloodsQuicker() {
    const std::uint64_t before = matrix_.expanded;
    const std::size_t probes = std::min(kMostProbes, roots_.size() * ends_.size() / kPairsOfProbe);
    for (std::size_t probe = 0; probe < probes; ++probe) {
      WAYSTAR_ASSIGN_OR_RETURN(const bool is_found,
                               SearchPair(probe * roots_.size() / probes, probe * ends_.size() / probes));
      const std::uint64_t expansions = (matrix_.expanded - before) * ends_.size() / probes;
      if (!is_found || IsFloodQuicker(map_, query_.agent.footprint, expansions)) {
        return true;
      }
    }
    return false;
  }

  static absl::Status TooLarge() {
    return MakeError(ErrorReason::kRegionTooLarge, "",
                     "a search touches more of the map than the server's memory for one holds");
  }

  // Limit on maps too large for floods; about 100 MB.
  static constexpr std::size_t kMostJumpPoints = 500'000;
  static constexpr std::size_t kMostProbes = 16;
  // Sampled pairs are searched again with the others.
  static constexpr std::size_t kPairsOfProbe = 4;

  const GridMap& map_;
  const WalkGrid& walk_;
  const WalkMatrixQuery& query_;
  const Budget& budget_;
  FieldScratch& field_;
  const bool is_turned_;
  const absl::Span<const Cell> roots_;
  const absl::Span<const Cell> ends_;
  CostMatrix matrix_;
};

}  // namespace

absl::StatusOr<CostMatrix> ComputeWalkMatrix(const GridMap& map, const WalkMatrixQuery& query,
                                             const Budget& budget, FieldScratch& scratch) {
  const std::shared_ptr<const WalkGrid> walk = map.walk(query.agent.footprint);
  return MatrixFiller(map, *walk, query, budget, scratch).Fill();
}

}  // namespace waystar::core
