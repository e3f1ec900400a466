// Interruption of searches by cancellation, eviction and deadline.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "server/core/search/query.h"
#include "server/core/search/report.h"

namespace waystar::core {

// Returns kCancelled, kEvicted or kDeadline if the budget demands a stop now. Engines ask every
// Budget::kPollInterval expansions.
inline std::optional<SearchEnd> Interruption(const Budget& budget) {
  if (budget.cancelled != nullptr && budget.cancelled->load(std::memory_order_relaxed)) {
    return SearchEnd::kCancelled;
  }
  if (budget.evicted != nullptr && budget.evicted->load(std::memory_order_relaxed)) {
    return SearchEnd::kEvicted;
  }
  if (std::chrono::steady_clock::now() >= budget.deadline) {
    return SearchEnd::kDeadline;
  }
  return std::nullopt;
}

// Returns the error of a search stopped for one of these: DEADLINE_EXCEEDED, CANCELLED or ABORTED /
// SNAPSHOT_EVICTED.
absl::Status InterruptionError(SearchEnd end, std::uint64_t expanded);

}  // namespace waystar::core
