// Reachability of pairs of cells.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/portal/world.h"
#include "server/core/search/agent.h"

namespace waystar::core {

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
// OUT_OF_RANGE / OFF_MAP with "pairs[i].start" or "pairs[i].goal".
absl::StatusOr<std::vector<bool>> CheckReachability(const GridMap& map, World& world, const Agent& agent,
                                                    absl::Span<const CellPair> pairs);

}  // namespace waystar::core
