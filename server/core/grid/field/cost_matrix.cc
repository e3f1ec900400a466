#include "server/core/grid/field/cost_matrix.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/passages.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Maximum cost (overestimated) of searches pair by pair, as a multiple of that of floods over all maps.
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

// The portals that lead from a map to others and back, and the costs of using them: either as trips between
// cells of the map, or by reading all maps as one ground. Portals within the map are added to both.
class RoundTrips {
 public:
  // The arguments must outlive this.
  RoundTrips(const PortalReach& reach, const Agent& agent)
      : agent_(agent),
        maps_(reach.maps()),
        doors_(reach.doors()),
        stops_(maps_.size()),
        rows_(doors_.size()) {
    const std::vector<bool> is_passed = reach.DoorsOfRoundTrips();
    for (std::uint32_t door = 0; door < doors_.size(); ++door) {
      const auto [from, to] = std::pair(doors_[door].from_map, doors_[door].to_map);
      if (is_passed[door]) {
        rows_[door] = stops_[to].arrivals.size();
        stops_[to].arrivals.push_back(door);
        stops_[from].departures.push_back(door);
      } else if (from == 0 && to == 0) {
        own_.push_back(PassageOf(door));
      }
    }
  }

  // Returns the number of cells of floods from the arrival of each portal on a round trip: an upper bound of
  // the cost of Find before it combines walks into trips. 0 if there are no round trips.
  std::uint64_t flood_cells() const {
    std::uint64_t cells = 0;
    for (std::size_t i = 1; i < maps_.size(); ++i) {
      cells += stops_[i].arrivals.size() * WalkableCells(i);
    }
    return cells;
  }

  // Returns the estimated cost, in flooded cells, of a matrix from `roots` cells by trips.
  std::uint64_t CellsOfTrips(std::size_t roots) const {
    // Checking a walk or trip takes a fifth of the time of a flooded cell; appending a trip takes four times
    // as long.
    constexpr std::uint64_t kLooksOfACell = 5;
    constexpr std::uint64_t kLooksOfATrip = 20;
    const std::size_t out = stops_[0].departures.size();
    std::uint64_t cells = roots * CellsOfRoot(0);
    std::uint64_t looks = out * stops_[0].arrivals.size() * (roots + kLooksOfATrip);
    for (std::size_t i = 1; i < maps_.size(); ++i) {
      const std::vector<std::uint32_t>& arrivals = stops_[i].arrivals;
      const std::size_t departures = stops_[i].departures.size();
      cells += std::min(arrivals.size(), departures) * CellsOfRoot(i);
      for (const std::uint32_t door : arrivals) {
        // A trip starts with one portal of the map, and may pass each of the others.
        looks += (doors_[door].from_map == 0 ? 1 : out) * departures;
      }
    }
    return cells + looks / kLooksOfACell;
  }

  // Returns the estimated cost of that matrix by floods of all maps as one, or nullopt if ReadWorld cannot
  // read them.
  std::optional<std::uint64_t> CellsOfWorld(std::size_t roots) const {
    // Clearing a cell for a flood takes a tenth of the time of flooding it. Maps of different widths leave
    // many cells that are only cleared.
    constexpr std::int64_t kClearedCellsOfACell = 10;
    std::int64_t width = 1;
    std::int64_t height = 0;
    std::uint64_t cells = 0;
    for (std::size_t i = 0; i < maps_.size(); ++i) {
      if (IsOfWorld(i)) {
        width = std::max<std::int64_t>(width, maps_[i].map->width());
        height += maps_[i].map->height();
        cells += WalkableCells(i);
      }
    }
    if (height > kMaxFieldCells / width) {
      return std::nullopt;
    }
    return roots * (cells + static_cast<std::uint64_t>(height * width / kClearedCellsOfACell));
  }

  // Returns the cheapest trip for each pair of a portal that leads from the map and one that leads back to
  // it, if there is one, except trips from a cell to itself. Computes a matrix of costs between portals on
  // each other map, and runs Dijkstra's algorithm over these for each portal that leads from the map. Adds to
  // `expanded`. Returns the errors of ComputeWalkMatrix.
  absl::StatusOr<std::vector<Passage>> Find(const Budget& budget, Scratch& scratch,
                                            FieldScratch& field_scratch, std::uint64_t& expanded) {
    for (std::size_t i = 1; i < maps_.size(); ++i) {
      Stop& stop = stops_[i];
      if (stop.arrivals.empty()) {
        continue;
      }
      std::vector<Cell> starts;
      std::vector<Cell> goals;
      for (const std::uint32_t door : stop.arrivals) {
        starts.push_back(doors_[door].to);
      }
      for (const std::uint32_t door : stop.departures) {
        goals.push_back(doors_[door].from);
      }
      WAYSTAR_ASSIGN_OR_RETURN(
          CostMatrix walks, OnFoot(*maps_[i].map, {.starts = starts, .goals = goals, .agent = agent_}, budget,
                                   scratch, field_scratch));
      expanded += walks.expanded;
      stop.costs = std::move(walks.costs);
    }
    std::vector<Passage> passages = own_;
    for (const std::uint32_t door : stops_[0].departures) {
      if (const std::optional<SearchEnd> end = Interruption(budget)) {
        return StatusOfEnd(*end, expanded);
      }
      AddTripsThrough(door, passages);
    }
    return passages;
  }

  // Reads the map and, below it, the others, whose cells have different rows there. Returns the passages that
  // lead out, back and between the other maps.
  // REQUIRES: CellsOfWorld returned a value.
  std::vector<Passage> ReadWorld(FloodGround& ground) const {
    std::vector<FloodGround::Layer> layers;
    std::vector<int> heights;
    int height = 0;
    for (std::size_t i = 0; i < maps_.size(); ++i) {
      heights.push_back(height);
      if (IsOfWorld(i)) {
        layers.push_back({.map = maps_[i].map, .walk = maps_[i].walk.get()});
        height += maps_[i].map->height();
      }
    }
    ground.ReadStacked(layers, agent_.footprint, agent_.corner_rule);
    std::vector<Passage> passages = own_;
    for (const Stop& stop : stops_) {
      for (const std::uint32_t door : stop.departures) {
        passages.push_back(PassageOf(door));
        passages.back().from.y += heights[doors_[door].from_map];
        passages.back().to.y += heights[doors_[door].to_map];
      }
    }
    return passages;
  }

 private:
  // The part of round trips on one map.
  struct Stop {
    // Portals that lead to the map and portals that lead from it.
    std::vector<std::uint32_t> arrivals;
    std::vector<std::uint32_t> departures;
    // Costs of walks between them: one row per arrival.
    std::vector<double> costs;
  };

  Passage PassageOf(std::uint32_t door) const {
    const Door& passed = doors_[door];
    return {.from = passed.from, .to = passed.to, .cost = passed.portal->cost, .portal = passed.portal};
  }

  bool IsOfWorld(std::size_t map) const { return map == 0 || !stops_[map].arrivals.empty(); }

  std::uint64_t WalkableCells(std::size_t map) const {
    return static_cast<std::uint64_t>(maps_[map].map->walkable_cells());
  }

  // Returns the estimated cost of a matrix from one cell on that map alone, in flooded cells.
  std::uint64_t CellsOfRoot(std::size_t map) const {
    // A matrix over jump points takes about an eighth of the time of floods.
    constexpr std::uint64_t kFloodsOfJumps = 8;
    return WalkableCells(map) / (MayJump(*maps_[map].map) ? kFloodsOfJumps : 1);
  }

  // Adds the trips from a portal of the map to all portals that lead back to it.
  void AddTripsThrough(std::uint32_t first, std::vector<Passage>& trips) const {
    const Cell start = doors_[first].from;
    DoorCosts<Cost> least(doors_.size());
    least.Reach(first, doors_[first].portal->cost);
    least
        .Spread([&](std::uint32_t index, Cost cost) {
          const Door& door = doors_[index];
          if (door.to_map == 0) {
            if (door.to != start) {
              trips.push_back({.from = start, .to = door.to, .cost = cost});
            }
            return absl::OkStatus();
          }
          const Stop& stop = stops_[door.to_map];
          const double* row = stop.costs.data() + rows_[index] * stop.departures.size();
          for (std::size_t i = 0; i < stop.departures.size(); ++i) {
            if (row[i] != CostMatrix::kUnreachable) {
              const std::uint32_t after = stop.departures[i];
              least.Reach(after, SaturatingSum(SaturatingSum(cost, CostFromDouble(row[i])),
                                               doors_[after].portal->cost));
            }
          }
          return absl::OkStatus();
        })
        .IgnoreError();
  }

  const Agent& agent_;
  const std::vector<GridLayer>& maps_;
  const std::vector<Door>& doors_;
  // Portals within the map.
  std::vector<Passage> own_;
  // Stops by map.
  std::vector<Stop> stops_;
  // Index of each door in the arrivals of its stop.
  std::vector<std::size_t> rows_;
};

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
  WalkMatrixQuery walk{
      .starts = query.starts, .goals = query.goals, .agent = query.agent, .leads = leads, .search = search};
  if (query.starts.size() * query.goals.size() <= kFewPairs) {
    return ComputeWalkMatrix(map, walk, budget, field_scratch);
  }
  RoundTrips trips(reach, query.agent);
  const std::size_t roots = std::min(query.starts.size(), query.goals.size());
  const std::optional<std::uint64_t> world_cells = trips.CellsOfWorld(roots);
  const bool is_world_quicker = world_cells && *world_cells < trips.CellsOfTrips(roots);
  CostMatrix matrix = EmptyMatrix(walk);
  WAYSTAR_ASSIGN_OR_RETURN(
      const bool is_filled,
      FillByPairs(walk, reach.doors().size(),
                  is_world_quicker ? std::min(kMostPairCells * *world_cells, trips.flood_cells())
                                   : trips.flood_cells(),
                  matrix));
  if (is_filled) {
    return matrix;
  }
  if (is_world_quicker) {
    const std::vector<Passage> passages = trips.ReadWorld(field_scratch.ground());
    walk.passages = passages;
    WAYSTAR_RETURN_IF_ERROR(FillByFloods(walk, budget, field_scratch, matrix));
    return matrix;
  }
  std::uint64_t expanded = matrix.expanded;
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<Passage> passages,
                           trips.Find(budget, scratch, field_scratch, expanded));
  walk.passages = passages;
  WAYSTAR_ASSIGN_OR_RETURN(matrix, ComputeWalkMatrix(map, walk, budget, field_scratch));
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
