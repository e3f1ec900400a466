#include "server/core/grid/field/reachable_pairs.h"

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/portal/portal_doors.h"
#include "server/core/grid/search/reachability.h"
#include "server/core/grid/walk/footprint.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {

PortalReach::PortalReach(const GridMap& map, World& world, const Agent& agent) : agent_(agent) {
  PortalDoors finder(world, agent.footprint, agent.required_tags, maps_, doors_);
  finder.AddHome(map);
  finder.FindDoors();
  for (const Door& door : doors_) {
    nodes_before_.push_back(AddNode(door.from_map, door.from));
    nodes_behind_.push_back(AddNode(door.to_map, door.to));
    nodes_[nodes_before_.back()].next.push_back(nodes_behind_.back());
  }
}

const Components& PortalReach::ComponentsOf(std::uint32_t map) const {
  return maps_[map].walk->components(AdjacencyOf(*maps_[map].map, agent_.corner_rule));
}

std::size_t PortalReach::AddNode(std::uint32_t map, Cell cell) {
  const Place place = PlaceOf(map, ComponentsOf(map).Find(cell));
  const auto [entry, is_new] = numbers_.emplace(place, nodes_.size());
  if (is_new) {
    nodes_.push_back({.place = place});
  }
  return entry->second;
}

std::optional<std::size_t> PortalReach::Find(ComponentId id) const {
  const auto found = numbers_.find(PlaceOf(0, id));
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

const std::vector<bool>& PortalReach::ReachedFrom(std::size_t node) {
  std::vector<bool>& reached = nodes_[node].reached;
  if (reached.empty()) {
    reached.assign(nodes_.size(), false);
    reached[node] = true;
    std::vector<std::size_t> open = {node};
    while (!open.empty()) {
      const std::size_t from = open.back();
      open.pop_back();
      for (const std::size_t to : nodes_[from].next) {
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
  const std::optional<std::size_t> begin = Find(start);
  const std::optional<std::size_t> end = begin ? Find(goal) : std::nullopt;
  return end && ReachedFrom(*begin)[*end];
}

// Returns the doors that can be reached from the map without having returned to it; with `backwards`, the
// doors from which the map can be reached again.
std::vector<bool> PortalReach::DoorsReached(bool backwards) const {
  const std::vector<std::size_t>& before = backwards ? nodes_behind_ : nodes_before_;
  const std::vector<std::size_t>& behind = backwards ? nodes_before_ : nodes_behind_;
  std::vector<std::vector<std::size_t>> doors_of(nodes_.size());
  for (std::size_t door = 0; door < doors_.size(); ++door) {
    doors_of[before[door]].push_back(door);
  }
  const auto is_at_home = [&](std::size_t node) { return std::get<0>(nodes_[node].place) == 0; };
  std::vector<std::size_t> open;
  std::vector<bool> is_reached(doors_.size(), false);
  std::vector<bool> is_node_reached(nodes_.size(), false);
  const auto pass = [&](std::size_t door) {
    is_reached[door] = true;
    const std::size_t node = behind[door];
    if (!is_at_home(node) && !is_node_reached[node]) {
      is_node_reached[node] = true;
      open.push_back(node);
    }
  };
  for (std::size_t door = 0; door < doors_.size(); ++door) {
    if (is_at_home(before[door]) && !is_at_home(behind[door])) {
      pass(door);
    }
  }
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    for (const std::size_t door : doors_of[node]) {
      pass(door);
    }
  }
  return is_reached;
}

std::vector<bool> PortalReach::DoorsOfRoundTrips() const {
  std::vector<bool> is_passed = DoorsReached(/*backwards=*/false);
  const std::vector<bool> leads_back = DoorsReached(/*backwards=*/true);
  for (std::size_t door = 0; door < doors_.size(); ++door) {
    is_passed[door] = is_passed[door] && leads_back[door];
  }
  return is_passed;
}

std::vector<ComponentId> PortalReach::ComponentsFrom(Cell cell) {
  const ComponentId own = components().Find(cell);
  std::vector<ComponentId> all = {own};
  if (const std::optional<std::size_t> begin = Find(own)) {
    const std::vector<bool>& reached = ReachedFrom(*begin);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto [map, block, number] = nodes_[i].place;
      if (map == 0 && reached[i] && i != *begin) {
        all.push_back({block, number});
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
