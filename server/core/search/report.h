// Report of a search: why it ended and what it found.
#pragma once

#include <cstdint>

#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

enum class SearchEnd : std::uint8_t {
  kGoalReached,
  // Every reachable cell was expanded.
  kExhausted,
  kExpansionLimit,
  kScratchLimit,
  kDeadline,
  kCancelled,
  kEvicted,
};

struct SearchReport {
  SearchEnd end = SearchEnd::kExhausted;
  // Expanded cell nearest to the goal in a straight line; among equals, the one that is cheaper to reach,
  // then the first in row-major order. With kGoalReached it is the goal.
  Cell nearest;
  // Cost of the path to `nearest`.
  Cost cost = 0;
  SearchStatistics statistics;
};

}  // namespace waystar::core
