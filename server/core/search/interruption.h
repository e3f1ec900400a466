// Whether a search must stop before its time.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "server/core/search/query.h"
#include "server/core/search/report.h"

namespace waystar::core {

// kCancelled, kEvicted or kDeadline if the budget says so by now. Engines ask every Budget::kPollInterval
// expansions.
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

}  // namespace waystar::core
