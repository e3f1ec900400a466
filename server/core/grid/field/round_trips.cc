#include "server/core/grid/field/round_trips.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "server/base/status_macros.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/field/walk_matrix.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

constexpr std::size_t kNoNumber = std::numeric_limits<std::size_t>::max();

// Returns the estimated cost of a matrix from one cell on a single map, in flooded cells.
std::uint64_t CellsOfRoot(const GridMap& map) {
  // A matrix over jump points takes about an eighth of the time of floods.
  constexpr std::uint64_t kFloodsOfJumps = 8;
  const bool has_jumps = map.HasUniformCost() && map.settings().connectivity != Connectivity::kSix;
  return static_cast<std::uint64_t>(map.walkable_cells()) / (has_jumps ? kFloodsOfJumps : 1);
}

}  // namespace

RoundTrips::RoundTrips(const GridMap& map, World& world, const Agent& agent)
    : agent_(agent), net_(map, world, agent) {
  net_.FindDoors();
  is_kept_ = DoorsReached(/*backwards=*/false);
  const std::vector<bool> leads_back = DoorsReached(/*backwards=*/true);
  for (std::uint32_t door = 0; door < net_.door_count(); ++door) {
    is_kept_[door] = is_kept_[door] && leads_back[door];
  }
}

// Returns the doors that can be reached from the map without having returned to it; with `backwards`, the
// doors from which the map can be reached again.
std::vector<bool> RoundTrips::DoorsReached(bool backwards) {
  struct End {
    std::uint32_t map;
    std::uint32_t part;
  };
  std::vector<End> before;
  std::vector<End> behind;
  for (std::uint32_t i = 0; i < net_.door_count(); ++i) {
    const Door& door = net_.door(i);
    const End from{door.from_map, net_.PartOf(door.from_map, door.from)};
    const End to{door.to_map, net_.PartOf(door.to_map, door.to)};
    before.push_back(backwards ? to : from);
    behind.push_back(backwards ? from : to);
  }
  std::vector<std::vector<std::size_t>> doors_of(net_.part_count());
  for (std::size_t door = 0; door < before.size(); ++door) {
    doors_of[before[door].part].push_back(door);
  }
  std::vector<std::uint32_t> open;
  std::vector<bool> is_reached(before.size(), false);
  std::vector<bool> is_part_reached(net_.part_count(), false);
  const auto pass = [&](std::size_t door) {
    is_reached[door] = true;
    const End& end = behind[door];
    if (end.map != 0 && !is_part_reached[end.part]) {
      is_part_reached[end.part] = true;
      open.push_back(end.part);
    }
  };
  for (std::size_t door = 0; door < before.size(); ++door) {
    if (before[door].map == 0 && behind[door].map != 0) {
      pass(door);
    }
  }
  while (!open.empty()) {
    const std::uint32_t part = open.back();
    open.pop_back();
    for (const std::size_t door : doors_of[part]) {
      pass(door);
    }
  }
  return is_reached;
}

std::uint64_t RoundTrips::flood_cells() const {
  std::uint64_t cells = 0;
  for (std::uint32_t door = 0; door < net_.door_count(); ++door) {
    if (is_kept_[door] && net_.door(door).to_map != 0) {
      cells += static_cast<std::uint64_t>(net_.maps()[net_.door(door).to_map].map->walkable_cells());
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
  std::uint64_t cells = roots * CellsOfRoot(*net_.maps()[0].map);
  std::vector<std::uint64_t> departures(net_.maps().size(), 0);
  for (std::size_t i = 1; i < net_.maps().size(); ++i) {
    departures[i] = KeptCount(net_.maps()[i].departures);
    cells += std::min(KeptCount(net_.maps()[i].arrivals), departures[i]) * CellsOfRoot(*net_.maps()[i].map);
  }
  std::uint64_t out = 0;
  std::uint64_t back = 0;
  std::uint64_t looks = 0;
  std::uint64_t looks_of_each = 0;
  for (std::uint32_t door = 0; door < net_.door_count(); ++door) {
    if (!is_kept_[door]) {
      continue;
    }
    if (net_.door(door).from_map == 0) {
      ++out;
      looks += departures[net_.door(door).to_map];
    } else if (net_.door(door).to_map == 0) {
      ++back;
    } else {
      looks_of_each += departures[net_.door(door).to_map];
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
  for (std::size_t i = 0; i < net_.maps().size(); ++i) {
    if (i != 0 && KeptCount(net_.maps()[i].arrivals) == 0) {
      continue;
    }
    width = std::max<std::int64_t>(width, net_.maps()[i].map->width());
    height += net_.maps()[i].map->height();
    cells += static_cast<std::uint64_t>(net_.maps()[i].map->walkable_cells());
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
  for (std::size_t i = 0; i < net_.maps().size(); ++i) {
    rows.push_back(height);
    if (i == 0 || KeptCount(net_.maps()[i].arrivals) != 0) {
      layers.push_back({.map = net_.maps()[i].map, .walk = net_.maps()[i].walk.get()});
      height += net_.maps()[i].map->height();
    }
  }
  ground.ReadStacked(layers, agent_.footprint, agent_.corner_rule);
  const auto at = [&](std::uint32_t map, Cell cell) { return Cell{cell.x, cell.y + rows[map]}; };
  std::vector<Passage> passages;
  for (std::uint32_t i = 0; i < net_.door_count(); ++i) {
    const Door& door = net_.door(i);
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
  walks_.assign(net_.maps().size(), {});
  numbers_.assign(net_.door_count(), kNoNumber);
  for (std::size_t map = 1; map < net_.maps().size(); ++map) {
    WAYSTAR_RETURN_IF_ERROR(MeasureWalks(map, budget, scratch, field_scratch, expanded));
  }
  std::vector<Passage> trips;
  for (std::uint32_t door = 0; door < net_.door_count(); ++door) {
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
  for (const std::uint32_t door : net_.maps()[index].arrivals) {
    if (is_kept_[door]) {
      numbers_[door] = starts.size();
      starts.push_back(net_.door(door).to);
    }
  }
  for (const std::uint32_t door : net_.maps()[index].departures) {
    if (is_kept_[door]) {
      walks.departures.push_back(door);
      goals.push_back(net_.door(door).from);
    }
  }
  if (starts.empty()) {
    return absl::OkStatus();
  }
  const GridMap& map = *net_.maps()[index].map;
  const Components& components = net_.ComponentsOf(static_cast<std::uint32_t>(index));
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
void RoundTrips::AddTripsThrough(std::uint32_t first, std::vector<Passage>& trips) const {
  const Cell start = net_.door(first).from;
  DoorCosts<Cost> least(net_.door_count());
  least.Reach(first, net_.door(first).portal->cost);
  least
      .Spread([&](std::uint32_t number, Cost cost) {
        const Door& door = net_.door(number);
        if (door.to_map == 0) {
          if (door.to != start) {
            trips.push_back({.from = start, .to = door.to, .cost = cost});
          }
          return absl::OkStatus();
        }
        const Walks& walks = walks_[door.to_map];
        const double* row = walks.costs.data() + numbers_[number] * walks.departures.size();
        for (std::size_t i = 0; i < walks.departures.size(); ++i) {
          if (row[i] != CostMatrix::kUnreachable) {
            const std::uint32_t after = walks.departures[i];
            least.Reach(after, SaturatingSum(SaturatingSum(cost, CostFromDouble(row[i])),
                                             net_.door(after).portal->cost));
          }
        }
        return absl::OkStatus();
      })
      .IgnoreError();
}

}  // namespace waystar::core
