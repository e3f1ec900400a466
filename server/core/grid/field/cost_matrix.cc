#include "server/core/grid/field/cost_matrix.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/field/flood_matrix.h"
#include "server/core/grid/field/passage_costs.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "server/core/grid/field/round_trips.h"
#include "server/core/grid/field/walk_matrix.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"

namespace waystar::core {
namespace {

// Searches pair by pair may cost this many times the minimum cost of floods over all maps: their cost is
// overestimated.
constexpr std::uint64_t kMostPairCells = 3;

absl::Status CheckList(const GridMap& map, absl::string_view list, absl::Span<const Cell> cells) {
  if (cells.empty()) {
    return MakeError(ErrorReason::kMissingField, list, absl::StrCat("at least one of ", list, " is needed"));
  }
  WAYSTAR_RETURN_IF_ERROR(CheckCount(list, cells.size(), kMaxMatrixSide));
  return CheckAllOnMap(map, list, cells);
}

absl::StatusOr<CostMatrix> OnFoot(const GridMap& map, const CostMatrixQuery& query, const Budget& budget,
                                  Scratch& scratch, FieldScratch& field_scratch) {
  const std::shared_ptr<const WalkGrid> walk = map.walk(query.agent.footprint);
  const Components& components = walk->components(AdjacencyOf(map, query.agent.corner_rule));
  const auto leads = [&](Cell from, Cell to) { return components.AreConnected(from, to); };
  const auto search = [&](const PathQuery& pair) { return FindPath(map, pair, budget, scratch); };
  return ComputeWalkMatrix(
      map,
      {.starts = query.starts, .goals = query.goals, .agent = query.agent, .leads = leads, .search = search},
      budget, field_scratch);
}

// Fills a matrix by one search per pair, as long as they cost no more than a given number of flooded cells.
class PairByPair {
 public:
  PairByPair(const CostMatrixQuery& query, absl::FunctionRef<bool(Cell from, Cell to)> leads,
             absl::FunctionRef<absl::StatusOr<PathResult>(const PathQuery& query)> search)
      : query_(query), leads_(leads), search_(search) {}

  // Returns true if the matrix is filled.
  absl::StatusOr<bool> TryFill(std::size_t doors, std::uint64_t most_cells) {
    std::uint64_t cells = 0;
    for (const Cell source : query_.starts) {
      for (const Cell target : query_.goals) {
        if (cells >= most_cells) {
          return false;
        }
        double cost = CostMatrix::kUnreachable;
        if (leads_(source, target)) {
          WAYSTAR_ASSIGN_OR_RETURN(const PathResult path, search_({.start = source,
                                                                   .goal = target,
                                                                   .corner_rule = query_.agent.corner_rule,
                                                                   .path_form = PathForm::kCorners,
                                                                   .footprint = query_.agent.footprint}));
          matrix_.expanded += path.statistics.expanded;
          cells += (path.statistics.expanded + doors) * kCellsOfAnExpansion;
          if (path.outcome == Outcome::kBudgetExhausted) {
            return false;
          }
          cost = path.cost;
        }
        matrix_.costs.push_back(cost);
      }
    }
    is_filled_ = true;
    return true;
  }

  bool is_filled() const { return is_filled_; }
  CostMatrix& matrix() { return matrix_; }

 private:
  // Upper bound of the cost of an expansion, or of checking a portal, in flooded cells.
  static constexpr std::uint64_t kCellsOfAnExpansion = 16;

  const CostMatrixQuery& query_;
  absl::FunctionRef<bool(Cell from, Cell to)> leads_;
  absl::FunctionRef<absl::StatusOr<PathResult>(const PathQuery& query)> search_;
  CostMatrix matrix_;
  bool is_filled_ = false;
};

// Floods the map and the maps that portals lead to as one ground, which has been read.
absl::StatusOr<CostMatrix> OverWorld(const CostMatrixQuery& query, absl::Span<const Passage> passages,
                                     absl::FunctionRef<bool(Cell from, Cell to)> leads, const Budget& budget,
                                     FieldScratch& field_scratch, std::uint64_t expanded) {
  CostMatrix matrix;
  matrix.costs.assign(query.starts.size() * query.goals.size(), CostMatrix::kUnreachable);
  matrix.expanded = expanded;
  WAYSTAR_RETURN_IF_ERROR(
      FillByFloods({.starts = query.starts, .goals = query.goals, .passages = passages, .leads = leads},
                   budget, field_scratch, matrix));
  return matrix;
}

absl::StatusOr<CostMatrix> ThroughPortals(const GridMap& map, World& world, const CostMatrixQuery& query,
                                          const Budget& budget, Scratch& scratch,
                                          FieldScratch& field_scratch) {
  PortalReach reach(map, world, query.agent);
  const auto leads = [&](Cell from, Cell to) { return reach.Leads(from, to); };
  const auto search = [&](const PathQuery& pair) -> absl::StatusOr<PathResult> {
    WAYSTAR_ASSIGN_OR_RETURN(
        const PortalPath found,
        FindPathThroughPortals(map, world, {.path = pair, .required_tags = query.agent.required_tags}, budget,
                               scratch));
    return found.path;
  };
  std::uint64_t expanded = 0;
  std::vector<Passage> passages;
  if (query.starts.size() * query.goals.size() > kFewPairs) {
    RoundTrips trips(map, world, query.agent);
    const std::size_t roots = std::min(query.starts.size(), query.goals.size());
    const std::optional<std::uint64_t> world_cells = trips.CellsOfWorld(roots);
    const bool is_world_quicker = world_cells && *world_cells < trips.CellsOfTrips(roots);
    PairByPair pairs(query, leads, search);
    WAYSTAR_ASSIGN_OR_RETURN(
        const bool is_filled,
        pairs.TryFill(trips.door_count(), is_world_quicker
                                              ? std::min(kMostPairCells * *world_cells, trips.flood_cells())
                                              : trips.flood_cells()));
    if (is_filled) {
      return std::move(pairs.matrix());
    }
    expanded = pairs.matrix().expanded;
    if (is_world_quicker) {
      passages = trips.ReadWorld(field_scratch.ground());
    } else {
      WAYSTAR_ASSIGN_OR_RETURN(passages, trips.Find(budget, scratch, field_scratch, expanded));
    }
    const std::vector<Passage> own = OwnPassages(map, query.agent);
    passages.insert(passages.end(), own.begin(), own.end());
    if (is_world_quicker) {
      return OverWorld(query, passages, leads, budget, field_scratch, expanded);
    }
  }
  WAYSTAR_ASSIGN_OR_RETURN(CostMatrix matrix, ComputeWalkMatrix(map,
                                                                {.starts = query.starts,
                                                                 .goals = query.goals,
                                                                 .agent = query.agent,
                                                                 .passages = passages,
                                                                 .leads = leads,
                                                                 .search = search},
                                                                budget, field_scratch));
  matrix.expanded += expanded;
  return matrix;
}

}  // namespace

absl::Status CheckMatrixSize(std::size_t starts, std::size_t goals) {
  if (starts * goals > kMaxMatrixEntries) {
    return MakeError(ErrorReason::kTooManyItems, "goals",
                     absl::StrCat("the matrix would have ", starts * goals, " entries; at most ",
                                  kMaxMatrixEntries, " are allowed"));
  }
  return absl::OkStatus();
}

absl::StatusOr<CostMatrix> ComputeCostMatrix(const GridMap& map, World& world, const CostMatrixQuery& query,
                                             const Budget& budget, Scratch& scratch,
                                             FieldScratch& field_scratch) {
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(query.agent.footprint));
  WAYSTAR_RETURN_IF_ERROR(CheckList(map, "starts", query.starts));
  WAYSTAR_RETURN_IF_ERROR(CheckList(map, "goals", query.goals));
  WAYSTAR_RETURN_IF_ERROR(CheckMatrixSize(query.starts.size(), query.goals.size()));
  absl::StatusOr<CostMatrix> matrix = map.portals().empty()
                                          ? OnFoot(map, query, budget, scratch, field_scratch)
                                          : ThroughPortals(map, world, query, budget, scratch, field_scratch);
  field_scratch.Trim();
  return matrix;
}

}  // namespace waystar::core
