// Reachability of cells and of pairs of cells, including portals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "server/core/grid/search/agent.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Reachability between cells of a map, through its portals and through other maps and back, as path queries
// would find. It searches a graph of the components in which portals start or end.
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
  const Components& components() const { return net_.ComponentsOf(0); }
  // Return the map and all maps that portals lead to from it, directly or indirectly; and their doors.
  const std::vector<GridLayer>& maps() const { return net_.maps(); }
  const std::vector<Door>& doors() const { return net_.doors(); }
  // Returns, by door, true if it is part of a round trip: a path from the map to itself that passes through
  // other maps in between.
  std::vector<bool> DoorsOfRoundTrips() const;
  // Returns the components reachable from the cell, including its own.
  // REQUIRES: the cell is walkable.
  std::vector<ComponentId> ComponentsFrom(Cell cell);

 private:
  // A component in which portals start or end.
  struct Node {
    // Parts that its portals lead to.
    std::vector<std::uint32_t> next;
    // Entry i is true if part i is reachable. Empty until computed.
    std::vector<bool> reached;
  };

  const std::vector<bool>& ReachedFrom(std::uint32_t part);
  std::vector<bool> DoorsReached(bool backwards) const;

  GridPortalNet net_;
  // Parts, by door, that the door leads from and to.
  std::vector<std::uint32_t> parts_before_;
  std::vector<std::uint32_t> parts_behind_;
  // Nodes by part of the net.
  std::vector<Node> nodes_;
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
