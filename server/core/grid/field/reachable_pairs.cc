#include "server/core/grid/field/reachable_pairs.h"

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {

PortalReach::PortalReach(const GridMap& map, World& world, const Agent& agent) : net_(map, world, agent) {
  net_.FindDoors();
  for (std::uint32_t i = 0; i < net_.door_count(); ++i) {
    const Door& door = net_.door(i);
    parts_before_.push_back(net_.PartOf(door.from_map, door.from));
    parts_behind_.push_back(net_.PartOf(door.to_map, door.to));
    nodes_.resize(net_.part_count());
    nodes_[parts_before_.back()].next.push_back(parts_behind_.back());
  }
}

const std::vector<bool>& PortalReach::ReachedFrom(std::uint32_t part) {
  std::vector<bool>& reached = nodes_[part].reached;
  if (reached.empty()) {
    reached.assign(nodes_.size(), false);
    reached[part] = true;
    std::vector<std::uint32_t> open = {part};
    while (!open.empty()) {
      const std::uint32_t from = open.back();
      open.pop_back();
      for (const std::uint32_t to : nodes_[from].next) {
        if (!reached[to]) {
          reached[to] = true;
          open.push_back(to);
        }
      }
    }
  }
  return reached;
}

bool PortalReach::Leads(Cell from, Cell to) {
  const ComponentId start = components().Find(from);
  const ComponentId goal = components().Find(to);
  if (start.block == nullptr || goal.block == nullptr || start == goal) {
    return start.block != nullptr && start == goal;
  }
  const std::optional<std::uint32_t> begin = net_.FindPart(0, start);
  const std::optional<std::uint32_t> end = begin ? net_.FindPart(0, goal) : std::nullopt;
  return end && ReachedFrom(*begin)[*end];
}

// Returns the doors that can be reached from the map without having returned to it; with `backwards`, the
// doors from which the map can be reached again.
std::vector<bool> PortalReach::DoorsReached(bool backwards) const {
  const std::vector<std::uint32_t>& before = backwards ? parts_behind_ : parts_before_;
  const std::vector<std::uint32_t>& behind = backwards ? parts_before_ : parts_behind_;
  std::vector<std::vector<std::size_t>> doors_of(nodes_.size());
  for (std::size_t door = 0; door < before.size(); ++door) {
    doors_of[before[door]].push_back(door);
  }
  const auto is_at_home = [&](std::uint32_t part) { return net_.part(part).map == 0; };
  std::vector<std::uint32_t> open;
  std::vector<bool> is_reached(before.size(), false);
  std::vector<bool> is_part_reached(nodes_.size(), false);
  const auto pass = [&](std::size_t door) {
    is_reached[door] = true;
    const std::uint32_t part = behind[door];
    if (!is_at_home(part) && !is_part_reached[part]) {
      is_part_reached[part] = true;
      open.push_back(part);
    }
  };
  for (std::size_t door = 0; door < before.size(); ++door) {
    if (is_at_home(before[door]) && !is_at_home(behind[door])) {
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

std::vector<bool> PortalReach::DoorsOfRoundTrips() const {
  std::vector<bool> is_passed = DoorsReached(/*backwards=*/false);
  const std::vector<bool> leads_back = DoorsReached(/*backwards=*/true);
  for (std::size_t door = 0; door < is_passed.size(); ++door) {
    is_passed[door] = is_passed[door] && leads_back[door];
  }
  return is_passed;
}

std::vector<ComponentId> PortalReach::ComponentsFrom(Cell cell) {
  const ComponentId own = components().Find(cell);
  std::vector<ComponentId> all = {own};
  if (const std::optional<std::uint32_t> begin = net_.FindPart(0, own)) {
    const std::vector<bool>& reached = ReachedFrom(*begin);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (net_.part(i).map == 0 && reached[i] && i != *begin) {
        all.push_back(net_.part(i).id);
      }
    }
  }
  return all;
}

absl::StatusOr<std::vector<bool>> CheckReachability(const GridMap& map, World& world, const Agent& agent,
                                                    absl::Span<const CellPair> pairs, const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(agent.footprint));
  WAYSTAR_RETURN_IF_ERROR(CheckCount("pairs", pairs.size(), kMaxReachabilityPairs));
  const std::shared_ptr<const WalkGrid> walk = map.walk(agent.footprint);
  const Components& components = walk->components(AdjacencyOf(map, agent.corner_rule));
  std::optional<PortalReach> through_portals;
  if (!map.portals().empty()) {
    through_portals.emplace(map, world, agent);
  }
  std::vector<bool> reachable;
  reachable.reserve(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (const std::optional<SearchEnd> end = BudgetEnd(budget, i)) {
      return InterruptionError(*end, 0);
    }
    if (!map.Contains(pairs[i].start)) {
      return CheckOnMap(map, absl::StrCat(IndexedField("pairs", i), ".start"), pairs[i].start);
    }
    if (!map.Contains(pairs[i].goal)) {
      return CheckOnMap(map, absl::StrCat(IndexedField("pairs", i), ".goal"), pairs[i].goal);
    }
    reachable.push_back(through_portals ? through_portals->Leads(pairs[i].start, pairs[i].goal)
                                        : components.AreConnected(pairs[i].start, pairs[i].goal));
  }
  return reachable;
}

}  // namespace waystar::core
