#include "server/core/grid/field/reachable_pairs.h"

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/portal/portal_doors.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {

PortalReach::PortalReach(const GridMap& map, World& world, const Agent& agent) : agent_(agent) {
  std::vector<Door> doors;
  PortalDoors finder(world, agent.footprint, agent.required_tags, maps_, doors);
  finder.AddHome(map);
  finder.FindDoors();
  for (const Door& door : doors) {
    const std::size_t from = AddNode(door.from_map, door.from);
    const std::size_t to = AddNode(door.to_map, door.to);
    nodes_[from].next.push_back(to);
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
