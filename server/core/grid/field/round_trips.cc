#include "server/core/grid/field/round_trips.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

#include "server/base/status_macros.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/field/walk_matrix.h"
#include "server/core/grid/portal/portal_doors.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

constexpr Cost kFar = std::numeric_limits<Cost>::max();
constexpr std::size_t kNoNumber = std::numeric_limits<std::size_t>::max();

// Returns the estimated cost of a matrix from one cell on a single map, in flooded cells.
std::uint64_t CellsOfRoot(const GridMap& map) {
  // A matrix over jump points takes about an eighth of the time of floods.
  constexpr std::uint64_t kFloodsOfJumps = 8;
  const bool has_jumps = map.HasUniformCost() && map.settings().connectivity != Connectivity::kSix;
  return static_cast<std::uint64_t>(map.walkable_cells()) / (has_jumps ? kFloodsOfJumps : 1);
}

}  // namespace

RoundTrips::RoundTrips(const GridMap& map, World& world, const Agent& agent) : agent_(agent) {
  PortalDoors finder(world, agent.footprint, agent.required_tags, maps_, doors_);
  finder.AddHome(map);
  finder.FindDoors();
  const Parts parts = FindParts();
  is_kept_ = DoorsReached(parts, /*backwards=*/false);
  const std::vector<bool> leads_back = DoorsReached(parts, /*backwards=*/true);
  for (std::size_t door = 0; door < doors_.size(); ++door) {
    is_kept_[door] = is_kept_[door] && leads_back[door];
  }
}

RoundTrips::Parts RoundTrips::FindParts() const {
  std::vector<PortalScratch::PartId> ids;
  const auto add = [&](std::uint32_t map, Cell cell) {
    const ComponentId id =
        maps_[map].walk->components(AdjacencyOf(*maps_[map].map, agent_.corner_rule)).Find(cell);
    ids.emplace_back(map, id.block, id.number);
  };
  for (const Door& door : doors_) {
    add(door.from_map, door.from);
    add(door.to_map, door.to);
  }
  std::vector<PortalScratch::PartId> sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const auto number_of = [&](const PortalScratch::PartId& id) {
    return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), id) - sorted.begin());
  };
  Parts parts{.from = {}, .to = {}, .count = sorted.size()};
  for (std::size_t door = 0; door < doors_.size(); ++door) {
    parts.from.push_back(number_of(ids[2 * door]));
    parts.to.push_back(number_of(ids[2 * door + 1]));
  }
  return parts;
}

// Returns the doors that can be reached from the map without having returned to it; with `backwards`, the
// doors from which the map can be reached again.
std::vector<bool> RoundTrips::DoorsReached(const Parts& parts, bool backwards) const {
  const std::vector<std::size_t>& before = backwards ? parts.to : parts.from;
  const std::vector<std::size_t>& behind = backwards ? parts.from : parts.to;
  std::vector<std::vector<std::size_t>> doors_of(parts.count);
  for (std::size_t door = 0; door < doors_.size(); ++door) {
    doors_of[before[door]].push_back(door);
  }
  const auto map_before = [&](const Door& door) { return backwards ? door.to_map : door.from_map; };
  const auto map_behind = [&](const Door& door) { return backwards ? door.from_map : door.to_map; };
  std::vector<std::size_t> open;
  std::vector<bool> is_reached(doors_.size(), false);
  std::vector<bool> is_part_reached(parts.count, false);
  const auto pass = [&](std::size_t door) {
    is_reached[door] = true;
    const std::size_t part = behind[door];
    if (map_behind(doors_[door]) != 0 && !is_part_reached[part]) {
      is_part_reached[part] = true;
      open.push_back(part);
    }
  };
  for (std::size_t door = 0; door < doors_.size(); ++door) {
    if (map_before(doors_[door]) == 0 && map_behind(doors_[door]) != 0) {
      pass(door);
    }
  }
  while (!open.empty()) {
    const std::size_t part = open.back();
    open.pop_back();
    for (const std::size_t door : doors_of[part]) {
      pass(door);
    }
  }
  return is_reached;
}

std::uint64_t RoundTrips::flood_cells() const {
  std::uint64_t cells = 0;
  for (std::size_t door = 0; door < doors_.size(); ++door) {
    if (is_kept_[door] && doors_[door].to_map != 0) {
      cells += static_cast<std::uint64_t>(maps_[doors_[door].to_map].map->walkable_cells());
    }
  }
  return cells;
}

std::uint64_t RoundTrips::KeptCount(const std::vector<std::uint32_t>& doors) const {
  return static_cast<std::uint64_t>(
      std::count_if(doors.begin(), doors.end(), [&](std::uint32_t door) { return is_kept_[door]; }));
}

std::uint64_t RoundTrips::CellsOfTrips(std::size_t roots) const {
  // Checking a walk or trip takes a fifth of the time of a flooded cell; appending a trip takes four times as
  // long.
  constexpr std::uint64_t kLooksOfACell = 5;
  constexpr std::uint64_t kLooksOfATrip = 20;
  std::uint64_t cells = roots * CellsOfRoot(*maps_[0].map);
  std::vector<std::uint64_t> departures(maps_.size(), 0);
  for (std::size_t i = 1; i < maps_.size(); ++i) {
    departures[i] = KeptCount(maps_[i].departures);
    cells += std::min(KeptCount(maps_[i].arrivals), departures[i]) * CellsOfRoot(*maps_[i].map);
  }
  std::uint64_t out = 0;
  std::uint64_t back = 0;
  std::uint64_t looks = 0;
  std::uint64_t looks_of_each = 0;
  for (std::size_t door = 0; door < doors_.size(); ++door) {
    if (!is_kept_[door]) {
      continue;
    }
    if (doors_[door].from_map == 0) {
      ++out;
      looks += departures[doors_[door].to_map];
    } else if (doors_[door].to_map == 0) {
      ++back;
    } else {
      looks_of_each += departures[doors_[door].to_map];
    }
  }
  looks += out * looks_of_each + out * back * (roots + kLooksOfATrip);
  return cells + looks / kLooksOfACell;
}

std::optional<std::uint64_t> RoundTrips::CellsOfWorld(std::size_t roots) const {
  // Clearing a cell for a flood takes a tenth of the time of flooding it. Maps of different widths leave many
  // cells that are only cleared.
  constexpr std::int64_t kClearedCellsOfACell = 10;
  std::int64_t width = 1;
  std::int64_t height = 0;
  std::uint64_t cells = 0;
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    if (i != 0 && KeptCount(maps_[i].arrivals) == 0) {
      continue;
    }
    width = std::max<std::int64_t>(width, maps_[i].map->width());
    height += maps_[i].map->height();
    cells += static_cast<std::uint64_t>(maps_[i].map->walkable_cells());
  }
  if (height > kMaxFieldCells / width) {
    return std::nullopt;
  }
  return roots * (cells + static_cast<std::uint64_t>(height * width / kClearedCellsOfACell));
}

std::vector<Passage> RoundTrips::ReadWorld(FloodGround& ground) const {
  std::vector<FloodGround::Layer> layers;
  std::vector<int> rows;
  int height = 0;
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    rows.push_back(height);
    if (i == 0 || KeptCount(maps_[i].arrivals) != 0) {
      layers.push_back({.map = maps_[i].map, .walk = maps_[i].walk.get()});
      height += maps_[i].map->height();
    }
  }
  ground.ReadStacked(layers, agent_.footprint, agent_.corner_rule);
  const auto at = [&](std::uint32_t map, Cell cell) { return Cell{cell.x, cell.y + rows[map]}; };
  std::vector<Passage> passages;
  for (std::size_t i = 0; i < doors_.size(); ++i) {
    const Door& door = doors_[i];
    if (is_kept_[i]) {
      passages.push_back({.from = at(door.from_map, door.from),
                          .to = at(door.to_map, door.to),
                          .cost = door.portal->cost,
                          .portal = door.portal});
    }
  }
  return passages;
}

absl::StatusOr<std::vector<Passage>> RoundTrips::Find(const Budget& budget, Scratch& scratch,
                                                      FieldScratch& field_scratch, std::uint64_t& expanded) {
  walks_.assign(maps_.size(), {});
  numbers_.assign(doors_.size(), kNoNumber);
  for (std::size_t map = 1; map < maps_.size(); ++map) {
    WAYSTAR_RETURN_IF_ERROR(MeasureWalks(map, budget, scratch, field_scratch, expanded));
  }
  std::vector<Passage> trips;
  for (std::size_t door = 0; door < doors_.size(); ++door) {
    if (LeadsOut(door)) {
      if (const std::optional<SearchEnd> end = Interruption(budget)) {
        return StatusOfEnd(*end, expanded);
      }
      AddTripsThrough(door, trips);
    }
  }
  return trips;
}

absl::Status RoundTrips::MeasureWalks(std::size_t index, const Budget& budget, Scratch& scratch,
                                      FieldScratch& field_scratch, std::uint64_t& expanded) {
  Walks& walks = walks_[index];
  std::vector<Cell> starts;
  std::vector<Cell> goals;
  for (const std::uint32_t door : maps_[index].arrivals) {
    if (is_kept_[door]) {
      numbers_[door] = starts.size();
      starts.push_back(doors_[door].to);
    }
  }
  for (const std::uint32_t door : maps_[index].departures) {
    if (is_kept_[door]) {
      walks.departures.push_back(door);
      goals.push_back(doors_[door].from);
    }
  }
  if (starts.empty()) {
    return absl::OkStatus();
  }
  const GridMap& map = *maps_[index].map;
  const Components& components = maps_[index].walk->components(AdjacencyOf(map, agent_.corner_rule));
  const auto leads = [&](Cell from, Cell to) { return components.AreConnected(from, to); };
  const auto search = [&](const PathQuery& pair) { return FindPath(map, pair, budget, scratch); };
  WAYSTAR_ASSIGN_OR_RETURN(
      CostMatrix matrix,
      ComputeWalkMatrix(map,
                        {.starts = starts, .goals = goals, .agent = agent_, .leads = leads, .search = search},
                        budget, field_scratch));
  expanded += matrix.expanded;
  walks.costs = std::move(matrix.costs);
  return absl::OkStatus();
}

// Adds the trips from a door of the map to all doors that lead back to it.
void RoundTrips::AddTripsThrough(std::size_t first, std::vector<Passage>& trips) const {
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
        reach(after, SaturatingSum(SaturatingSum(cost, CostFromDouble(row[i])), doors_[after].portal->cost));
      }
    }
  }
}

}  // namespace waystar::core
