// Whether paths lead between pairs of cells.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/field/agent.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

inline constexpr std::size_t kMaxReachabilityPairs = 65536;

struct CellPair {
  Cell start;
  Cell goal;
};

// For each pair in order; false where one of the two is blocked. Costs some tens of nanoseconds a pair: see
// Components.
//
// Errors: INVALID_ARGUMENT / BAD_VALUE with "footprint"; RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "pairs";
// OUT_OF_RANGE / OFF_MAP with "pairs[i].start" or "pairs[i].goal".
absl::StatusOr<std::vector<bool>> CheckReachability(const GridMap& map, const Agent& agent,
                                                    absl::Span<const CellPair> pairs);

}  // namespace waystar::core
