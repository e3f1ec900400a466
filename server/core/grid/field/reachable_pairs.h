// Reachability of cells and of pairs of cells, including portals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/world.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/search/portal_scratch.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Reachability between cells of a map, through its portals and through other maps and back, as path queries
// would find. A graph whose nodes are the components in which portals start or end.
//
// Not thread-safe.
class PortalReach {
 public:
  // The arguments must outlive this. Checks each portal of all maps that portals lead to.
  PortalReach(const GridMap& map, World& world, const Agent& agent);

  // Returns true if a path leads from one cell of the map to another; false if either is blocked. Costs as
  // much as Components::AreConnected; the first query for a component also visits the portals.
  // REQUIRES: both cells are on the map.
  bool Leads(Cell from, Cell to);

  // Returns the components of the map. Another call of GridMap::walk may return different ones.
  const Components& components() const { return ComponentsOf(0); }
  // The map, the maps that its portals lead to, and so on; and their doors.
  const std::vector<PortalScratch::Map>& maps() const { return maps_; }
  const std::vector<Door>& doors() const { return doors_; }
  // Returns, by door, true if it is part of a round trip: a path from the map to itself that passes through
  // other maps in between.
  std::vector<bool> DoorsOfRoundTrips() const;
  // Returns the components reachable from the cell, including its own.
  // REQUIRES: the cell is walkable.
  std::vector<ComponentId> ComponentsFrom(Cell cell);

 private:
  // A component of a map, with the map's number.
  using Place = std::tuple<std::uint32_t, const ComponentBlock*, ComponentNumber>;
  struct Node {
    Place place;
    // Nodes that its portals lead to.
    std::vector<std::size_t> next;
    // Entry i is true if node i is reachable. Empty until computed.
    std::vector<bool> reached;
  };

  static Place PlaceOf(std::uint32_t map, ComponentId id) { return {map, id.block, id.number}; }
  const Components& ComponentsOf(std::uint32_t map) const;
  std::size_t AddNode(std::uint32_t map, Cell cell);
  // Returns the node of a component of the map, or nothing if no portal begins or ends there.
  std::optional<std::size_t> Find(ComponentId id) const;
  const std::vector<bool>& ReachedFrom(std::size_t node);
  std::vector<bool> DoorsReached(bool backwards) const;

  const Agent agent_;
  std::vector<PortalScratch::Map> maps_;
  std::vector<Door> doors_;
  // Nodes that each door leads from and to.
  std::vector<std::size_t> nodes_before_;
  std::vector<std::size_t> nodes_behind_;
  std::vector<Node> nodes_;
  absl::flat_hash_map<Place, std::size_t> numbers_;
};

inline constexpr std::size_t kMaxReachabilityPairs = 65536;

struct CellPair {
  Cell start;
  Cell goal;
};

// Returns, for each pair in order, true if FindPathThroughPortals finds a path, possibly through other maps;
// false if either cell is blocked. Costs tens of nanoseconds per pair (see Components). On a map with
// portals, also checks each portal, and those of the maps that they lead to.
//
// Returns INVALID_ARGUMENT / BAD_VALUE with "footprint"; RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "pairs";
// OUT_OF_RANGE / OFF_MAP with "pairs[i].start" or "pairs[i].goal"; and the errors of InterruptionError.
absl::StatusOr<std::vector<bool>> CheckReachability(const GridMap& map, World& world, const Agent& agent,
                                                    absl::Span<const CellPair> pairs,
                                                    const Budget& budget = {});

}  // namespace waystar::core
