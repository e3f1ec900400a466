#include "server/core/grid/field/reachable_pairs.h"

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "server/core/grid/search/reachability.h"
#include "server/core/grid/walk/footprint.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {

PortalReach::PortalReach(const GridMap& map, World& world, const Agent& agent) : net_(map, world, agent) {
  net_.FindDoors();
  for (std::uint32_t i = 0; i < net_.door_count(); ++i) {
    const Door& door = net_.door(i);
    const std::uint32_t from = net_.PartOf(door.from_map, door.from);
    const std::uint32_t to = net_.PartOf(door.to_map, door.to);
    nodes_.resize(net_.part_count());
    nodes_[from].next.push_back(to);
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
