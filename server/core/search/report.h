// The report of a search: how it ended and what it found.
#pragma once

#include <cstdint>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Why a search stopped.
enum class SearchEnd : std::uint8_t {
  kGoalReached,
  // Every cell that can be reached was expanded.
  kExhausted,
  kExpansionLimit,
  kScratchLimit,
  kDeadline,
  kCancelled,
  kEvicted,
};

struct SearchReport {
  SearchEnd end = SearchEnd::kExhausted;
  // The expanded cell nearest to the goal in a straight line; among equals the one cheaper to reach, then the
  // first in row-major order. It is the goal itself with kGoalReached.
  Cell nearest;
  // The cost of the way to it.
  Cost cost = 0;
  SearchStatistics statistics;
};

}  // namespace waystar::core
