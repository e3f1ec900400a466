#include "server/core/field/cost_matrix.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/field/checks.h"
#include "server/core/grid/cost.h"
#include "server/core/search/find_path.h"
#include "server/core/search/reachability.h"
#include "server/core/walk/components.h"
#include "server/core/walk/footprint.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {
namespace {

absl::Status CheckList(const GridMap& map, absl::string_view list, absl::Span<const Cell> cells) {
  if (cells.empty()) {
    return InvalidArgument(ErrorReason::kMissingField, list,
                           absl::StrCat("at least one of ", list, " is needed"));
  }
  WAYSTAR_RETURN_IF_ERROR(CheckCount(list, cells.size(), kMaxMatrixSide));
  return CheckAllOnMap(map, list, cells);
}

// Fills a matrix from one side: `roots` are the sources and `ends` the targets, or the other way round.
class MatrixFiller {
 public:
  MatrixFiller(const GridMap& map, const WalkGrid& walk, const CostMatrixQuery& query, const Budget& budget,
               Scratch& scratch, FieldScratch& field_scratch)
      : map_(map),
        walk_(walk),
        query_(query),
        budget_(budget),
        scratch_(scratch),
        field_(field_scratch),
        components_(walk.components(AdjacencyOf(map, query.agent.corner_rule))),
        is_turned_(query.targets.size() < query.sources.size()),
        roots_(is_turned_ ? query.targets : query.sources),
        ends_(is_turned_ ? query.sources : query.targets) {
    matrix_.costs.assign(roots_.size() * ends_.size(), CostMatrix::kUnreachable);
  }

  absl::StatusOr<CostMatrix> Fill() {
    if (roots_.size() * ends_.size() <= kFewPairs) {
      WAYSTAR_RETURN_IF_ERROR(SearchPairs());
      return std::move(matrix_);
    }
    if (map_.HasUniformCost() && map_.settings().connectivity != Connectivity::kSix) {
      WAYSTAR_ASSIGN_OR_RETURN(const bool is_filled, FillOverJumps());
      if (is_filled) {
        return std::move(matrix_);
      }
    }
    WAYSTAR_RETURN_IF_ERROR(map_.bounds().area() <= kMaxFieldCells ? FloodRoots() : SearchPairs());
    return std::move(matrix_);
  }

 private:
  // Not worth more than a search each.
  static constexpr std::size_t kFewPairs = 4;

  double& At(std::size_t root, std::size_t end) {
    return matrix_.costs[is_turned_ ? end * roots_.size() + root : root * ends_.size() + end];
  }

  // False if there are so many jump points that floods are quicker, which takes 10 ns a cell and root, a jump
  // point 50, and 300 to be explored.
  absl::StatusOr<bool> FillOverJumps() {
    std::vector<Cell> free;
    for (const Cell root : roots_) {
      if (walk_.IsWalkable(root)) {
        free.push_back(root);
      }
    }
    const auto cells = static_cast<std::size_t>(map_.walkable_cells());
    const bool may_flood = map_.bounds().area() <= kMaxFieldCells;
    const std::size_t max_nodes =
        may_flood ? cells * roots_.size() / (30 + 5 * roots_.size()) + 1000 : kMostJumpPoints;
    JumpGraph& graph = field_.jump_graph();
    const SearchEnd explored = graph.Explore(map_, walk_, query_.agent.corner_rule, free, max_nodes, budget_);
    matrix_.expanded += graph.node_count();
    if (explored == SearchEnd::kScratchLimit) {
      return false;
    }
    WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(explored, matrix_.expanded));

    JumpSight& sight = field_.jump_sight();
    sight.Start(map_, walk_, query_.agent.corner_rule, graph);
    std::vector<JumpSight::Leg>& legs = field_.legs();
    std::vector<std::size_t> leg_ends;
    legs.clear();
    for (const Cell end : ends_) {
      if (walk_.IsWalkable(end)) {
        sight.AddLegs(end, legs);
      }
      leg_ends.push_back(legs.size());
    }
    JumpCosts& costs = field_.jump_costs();
    for (std::size_t root = 0; root < roots_.size(); ++root) {
      if (!walk_.IsWalkable(roots_[root])) {
        continue;
      }
      const SearchEnd end =
          costs.Run(graph, graph.Find(roots_[root]), map_.min_straight(), budget_, matrix_.expanded);
      WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(end, matrix_.expanded));
      FillRow(root, legs, leg_ends, costs);
    }
    return true;
  }

  void FillRow(std::size_t root, const std::vector<JumpSight::Leg>& legs,
               const std::vector<std::size_t>& leg_ends, const JumpCosts& costs) {
    std::size_t leg = 0;
    for (std::size_t end = 0; end < ends_.size(); ++end) {
      Cost least = JumpCosts::kUnreached;
      for (; leg < leg_ends[end]; ++leg) {
        if (const Cost cost = costs.CostTo(legs[leg].from); cost != JumpCosts::kUnreached) {
          least = std::min(least, cost + legs[leg].cost);
        }
      }
      if (least != JumpCosts::kUnreached) {
        At(root, end) = CostToDouble(least);
      }
    }
  }

  absl::Status FloodRoots() {
    FloodGround& ground = field_.ground();
    Flood& flood = field_.flood();
    ground.Read(map_, walk_, query_.agent.footprint, query_.agent.corner_rule, map_.bounds());
    std::vector<std::uint32_t> until;
    for (std::size_t root = 0; root < roots_.size(); ++root) {
      until.clear();
      for (const Cell end : ends_) {
        if (components_.AreConnected(roots_[root], end)) {
          until.push_back(ground.IndexOf(end));
        }
      }
      if (until.empty()) {
        continue;
      }
      const FloodSpec spec{.seeds = {&roots_[root], 1},
                           .sense = is_turned_ ? FloodSense::kToSeeds : FloodSense::kFromSeeds,
                           .until = until};
      WAYSTAR_RETURN_IF_ERROR(
          StatusOfEnd(flood.Run(ground, spec, budget_, matrix_.expanded), matrix_.expanded));
      for (std::size_t end = 0; end < ends_.size(); ++end) {
        if (const Cost cost = flood.costs()[ground.IndexOf(ends_[end])]; cost != Flood::kUnreached) {
          At(root, end) = CostToDouble(cost);
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status SearchPairs() {
    for (std::size_t root = 0; root < roots_.size(); ++root) {
      for (std::size_t end = 0; end < ends_.size(); ++end) {
        if (!components_.AreConnected(roots_[root], ends_[end])) {
          continue;
        }
        const PathQuery pair{.start = is_turned_ ? ends_[end] : roots_[root],
                             .goal = is_turned_ ? roots_[root] : ends_[end],
                             .corner_rule = query_.agent.corner_rule,
                             .path_form = PathForm::kCorners,
                             .footprint = query_.agent.footprint};
        WAYSTAR_ASSIGN_OR_RETURN(const PathResult path, FindPath(map_, pair, budget_, scratch_));
        matrix_.expanded += path.statistics.expanded;
        if (path.outcome == Outcome::kBudgetExhausted) {
          return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kRegionTooLarge, "",
                           "a search touches more of the map than the server's memory for one holds");
        }
        At(root, end) = path.cost;
      }
    }
    return absl::OkStatus();
  }

  // On maps that are not flooded; some 100 MB.
  static constexpr std::size_t kMostJumpPoints = 500'000;

  const GridMap& map_;
  const WalkGrid& walk_;
  const CostMatrixQuery& query_;
  const Budget& budget_;
  Scratch& scratch_;
  FieldScratch& field_;
  const Components& components_;
  const bool is_turned_;
  const absl::Span<const Cell> roots_;
  const absl::Span<const Cell> ends_;
  CostMatrix matrix_;
};

}  // namespace

absl::StatusOr<CostMatrix> ComputeCostMatrix(const GridMap& map, const CostMatrixQuery& query,
                                             const Budget& budget, Scratch& scratch,
                                             FieldScratch& field_scratch) {
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(query.agent.footprint));
  WAYSTAR_RETURN_IF_ERROR(CheckList(map, "sources", query.sources));
  WAYSTAR_RETURN_IF_ERROR(CheckList(map, "targets", query.targets));
  if (query.sources.size() * query.targets.size() > kMaxMatrixEntries) {
    return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, "targets",
                     absl::StrCat("the matrix would have ", query.sources.size() * query.targets.size(),
                                  " entries; at most ", kMaxMatrixEntries, " are allowed"));
  }
  const std::shared_ptr<const WalkGrid> walk = map.walk(query.agent.footprint);
  absl::StatusOr<CostMatrix> matrix = MatrixFiller(map, *walk, query, budget, scratch, field_scratch).Fill();
  field_scratch.Trim();
  return matrix;
}

}  // namespace waystar::core
