#include "server/core/field/round_trips.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

#include "server/base/status_macros.h"
#include "server/core/components/components.h"
#include "server/core/engine/find_path.h"
#include "server/core/field/walk_matrix.h"
#include "server/core/portal/portal_doors.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/core/search/reachability.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {
namespace {

class TripFinder {
 public:
  TripFinder(const GridMap& map, World& world, const Agent& agent, const Budget& budget, Scratch& scratch,
             FieldScratch& field_scratch, std::uint64_t& expanded)
      : agent_(agent),
        budget_(budget),
        scratch_(scratch),
        field_scratch_(field_scratch),
        expanded_(expanded) {
    PortalDoors finder(world, agent.footprint, agent.required_tags, maps_, doors_);
    finder.AddHome(map);
    finder.FindDoors();
  }

  absl::StatusOr<std::vector<Passage>> Find(absl::FunctionRef<absl::StatusOr<bool>(TripWork)> is_needless) {
    std::vector<Passage> trips;
    KeepWhatLeadsOutAndBack();
    WAYSTAR_ASSIGN_OR_RETURN(const bool ends_here, is_needless(Work()));
    if (ends_here) {
      return trips;
    }
    for (std::size_t map = 1; map < maps_.size(); ++map) {
      WAYSTAR_RETURN_IF_ERROR(MeasureWalks(map));
    }
    for (std::size_t door = 0; door < doors_.size(); ++door) {
      if (is_kept_[door] && doors_[door].from_map == 0) {
        WAYSTAR_RETURN_IF_ERROR(AddTripsThrough(door, trips));
      }
    }
    return trips;
  }

 private:
  static constexpr Cost kFar = std::numeric_limits<Cost>::max();
  static constexpr std::size_t kNoNumber = std::numeric_limits<std::size_t>::max();

  // The costs of walks on one map, from the doors that lead to it to those that lead from it.
  struct Walks {
    std::vector<std::size_t> departures;
    // A row for each of the former: see numbers_.
    std::vector<double> costs;
  };

  bool AreConnected(const Door& before, const Door& after) const {
    return maps_[before.to_map]
        .walk->components(AdjacencyOf(*maps_[before.to_map].map, agent_.corner_rule))
        .AreConnected(before.to, after.from);
  }

  // Which doors one can come to from the map without having come back to it; or, going `backwards`, from
  // which one can come back.
  std::vector<bool> DoorsReached(bool backwards) const {
    std::vector<std::size_t> open;
    std::vector<bool> is_reached(doors_.size(), false);
    const auto add = [&](std::size_t door) {
      if (!is_reached[door]) {
        is_reached[door] = true;
        open.push_back(door);
      }
    };
    const auto map_before = [&](const Door& door) { return backwards ? door.to_map : door.from_map; };
    const auto map_behind = [&](const Door& door) { return backwards ? door.from_map : door.to_map; };
    for (std::size_t door = 0; door < doors_.size(); ++door) {
      if (map_before(doors_[door]) == 0 && map_behind(doors_[door]) != 0) {
        add(door);
      }
    }
    while (!open.empty()) {
      const Door& door = doors_[open.back()];
      open.pop_back();
      if (map_behind(door) == 0) {
        continue;
      }
      const PortalScratch::Map& map = maps_[map_behind(door)];
      for (const std::uint32_t next : backwards ? map.arrivals : map.departures) {
        if (!is_reached[next] &&
            (backwards ? AreConnected(doors_[next], door) : AreConnected(door, doors_[next]))) {
          add(next);
        }
      }
    }
    return is_reached;
  }

  void KeepWhatLeadsOutAndBack() {
    is_kept_ = DoorsReached(/*backwards=*/false);
    const std::vector<bool> leads_back = DoorsReached(/*backwards=*/true);
    for (std::size_t door = 0; door < doors_.size(); ++door) {
      is_kept_[door] = is_kept_[door] && leads_back[door];
    }
  }

  TripWork Work() const {
    TripWork work{.doors = doors_.size()};
    for (std::size_t door = 0; door < doors_.size(); ++door) {
      if (is_kept_[door] && doors_[door].to_map != 0) {
        work.cells += static_cast<std::uint64_t>(maps_[doors_[door].to_map].map->walkable_cells());
      }
    }
    return work;
  }

  absl::Status MeasureWalks(std::size_t index) {
    walks_.resize(maps_.size());
    numbers_.resize(doors_.size(), kNoNumber);
    Walks& walks = walks_[index];
    std::vector<Cell> sources;
    std::vector<Cell> targets;
    for (const std::uint32_t door : maps_[index].arrivals) {
      if (is_kept_[door]) {
        numbers_[door] = sources.size();
        sources.push_back(doors_[door].to);
      }
    }
    for (const std::uint32_t door : maps_[index].departures) {
      if (is_kept_[door]) {
        walks.departures.push_back(door);
        targets.push_back(doors_[door].from);
      }
    }
    if (sources.empty()) {
      return absl::OkStatus();
    }
    const GridMap& map = *maps_[index].map;
    const Components& components = maps_[index].walk->components(AdjacencyOf(map, agent_.corner_rule));
    const auto leads = [&](Cell from, Cell to) { return components.AreConnected(from, to); };
    const auto search = [&](const PathQuery& pair) { return FindPath(map, pair, budget_, scratch_); };
    WAYSTAR_ASSIGN_OR_RETURN(
        CostMatrix matrix,
        ComputeWalkMatrix(
            map, {.sources = sources, .targets = targets, .agent = agent_, .leads = leads, .search = search},
            budget_, field_scratch_));
    expanded_ += matrix.expanded;
    walks.costs = std::move(matrix.costs);
    return absl::OkStatus();
  }

  // Adds the trips from a door of the map to all doors that lead back to it.
  absl::Status AddTripsThrough(std::size_t first, std::vector<Passage>& trips) {
    if (const std::optional<SearchEnd> end = Interruption(budget_)) {
      return StatusOfEnd(*end, expanded_);
    }
    using Entry = std::pair<Cost, std::size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    std::vector<Cost> least(doors_.size(), kFar);
    const auto reach = [&](std::size_t door, Cost cost) {
      if (cost < least[door]) {
        least[door] = cost;
        open.emplace(cost, door);
      }
    };
    reach(first, doors_[first].portal->cost);
    while (!open.empty()) {
      const auto [cost, index] = open.top();
      open.pop();
      const Door& door = doors_[index];
      if (cost > least[index]) {
        continue;
      }
      if (door.to_map == 0) {
        if (door.to != doors_[first].from) {
          trips.push_back({.from = doors_[first].from, .to = door.to, .cost = cost});
        }
        continue;
      }
      const Walks& walks = walks_[door.to_map];
      const double* row = walks.costs.data() + numbers_[index] * walks.departures.size();
      for (std::size_t i = 0; i < walks.departures.size(); ++i) {
        if (row[i] != CostMatrix::kUnreachable) {
          const std::size_t after = walks.departures[i];
          reach(after, cost + CostFromDouble(row[i]) + doors_[after].portal->cost);
        }
      }
    }
    return absl::OkStatus();
  }

  const Agent& agent_;
  const Budget& budget_;
  Scratch& scratch_;
  FieldScratch& field_scratch_;
  std::uint64_t& expanded_;
  std::vector<PortalScratch::Map> maps_;
  std::vector<Door> doors_;
  std::vector<bool> is_kept_;
  // The walks by map.
  std::vector<Walks> walks_;
  // For each door that leads to another map, its row there.
  std::vector<std::size_t> numbers_;
};

}  // namespace

absl::StatusOr<std::vector<Passage>> FindRoundTrips(
    const GridMap& map, World& world, const Agent& agent, const Budget& budget, Scratch& scratch,
    FieldScratch& field_scratch, std::uint64_t& expanded,
    absl::FunctionRef<absl::StatusOr<bool>(TripWork)> is_needless) {
  return TripFinder(map, world, agent, budget, scratch, field_scratch, expanded).Find(is_needless);
}

}  // namespace waystar::core
