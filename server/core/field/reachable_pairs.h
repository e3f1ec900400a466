// Reachability of cells and of pairs of them, through portals too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/components/components.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/portal/world.h"
#include "server/core/search/agent.h"
#include "server/core/search/portal_scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Tells which cells of a map a path leads to, by portals of the map and by way of other maps and back, as a
// path query would find. It is a graph whose nodes are the components that portals begin or end in.
//
// Thread safety: none.
class PortalReach {
 public:
  // The arguments must outlive this. It costs a look at each portal of all maps that portals lead to.
  PortalReach(const GridMap& map, World& world, const Agent& agent);

  // Returns whether a path leads from one cell of the map to another; false if either is blocked. It costs
  // what Components::AreConnected does; the first query about a component takes some time for each portal as
  // well. REQUIRES: they are on the map.
  bool Leads(Cell from, Cell to);

  // Returns the components of the map. Another call of GridMap::walk may return others.
  const Components& components() const { return ComponentsOf(0); }
  // Returns the components that a path leads to from the cell, its own included. REQUIRES: the cell is free.
  std::vector<ComponentId> ComponentsFrom(Cell cell);

 private:
  // A component of a map, by the map's number.
  using Place = std::tuple<std::uint32_t, const ComponentBlock*, ComponentNumber>;
  struct Node {
    Place place;
    // The nodes that its portals lead to.
    std::vector<std::size_t> next;
    // Entry i says whether paths lead to node i. It is empty until it is asked for.
    std::vector<bool> reached;
  };

  static Place PlaceOf(std::uint32_t map, ComponentId id) { return {map, id.block, id.number}; }
  const Components& ComponentsOf(std::uint32_t map) const;
  std::size_t AddNode(std::uint32_t map, Cell cell);
  // Returns the node of a component of the map, or nothing if no portal begins or ends there.
  std::optional<std::size_t> Find(ComponentId id) const;
  const std::vector<bool>& ReachedFrom(std::size_t node);

  const Agent agent_;
  std::vector<PortalScratch::Map> maps_;
  std::vector<Node> nodes_;
  absl::flat_hash_map<Place, std::size_t> numbers_;
};

inline constexpr std::size_t kMaxReachabilityPairs = 65536;

struct CellPair {
  Cell start;
  Cell goal;
};

// Returns, for each pair in order, whether FindPathThroughPortals finds a path, possibly by way of other
// maps; false where one of the two is blocked. It costs tens of nanoseconds a pair (see Components), and on a
// map with portals a look at each of them as well, and at those of the maps that they lead to.
//
// Returns INVALID_ARGUMENT / BAD_VALUE with "footprint"; RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "pairs";
// OUT_OF_RANGE / OFF_MAP with "pairs[i].start" or "pairs[i].goal"; the errors of InterruptionError.
absl::StatusOr<std::vector<bool>> CheckReachability(const GridMap& map, World& world, const Agent& agent,
                                                    absl::Span<const CellPair> pairs,
                                                    const Budget& budget = {});

}  // namespace waystar::core
