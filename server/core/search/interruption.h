// Interruption of searches by cancellation, eviction and deadline.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "server/base/stop_check.h"
#include "server/core/search/query.h"
#include "server/core/search/report.h"

namespace waystar::core {

// Returns kCancelled or kEvicted if a flag of the budget demands a stop now.
inline std::optional<SearchEnd> FlaggedInterruption(const Budget& budget) {
  if (budget.cancelled != nullptr && budget.cancelled->load(std::memory_order_relaxed)) {
    return SearchEnd::kCancelled;
  }
  if (budget.evicted != nullptr && budget.evicted->load(std::memory_order_relaxed)) {
    return SearchEnd::kEvicted;
  }
  return std::nullopt;
}

// As Interruption, for work that not every search of the same kind has to do. The rival does not go on, so
// that its share depends on the query alone.
inline std::optional<SearchEnd> InterruptionAlone(const Budget& budget) {
  if (const std::optional<SearchEnd> end = FlaggedInterruption(budget)) {
    return end;
  }
  if (std::chrono::steady_clock::now() >= budget.deadline) {
    return SearchEnd::kDeadline;
  }
  return std::nullopt;
}

// Returns kCancelled, kEvicted or kDeadline if the budget demands a stop now, after so many expansions.
inline std::optional<SearchEnd> Interruption(const Budget& budget, std::uint64_t expanded = 0) {
  if (const std::optional<SearchEnd> end = InterruptionAlone(budget)) {
    return end;
  }
  if (budget.rival != nullptr && budget.rival->GoOn(expanded)) {
    return SearchEnd::kCancelled;
  }
  return std::nullopt;
}

// Returns whether a search that has made so many expansions must not make another.
inline bool IsSpent(const Budget& budget, std::uint64_t expanded) {
  return expanded + (budget.rival == nullptr ? 0 : budget.rival->expanded()) >= budget.max_expansions;
}

// Returns why a search that has made so many expansions must not make another: kExpansionLimit, or what
// Interruption says, which is asked every Budget::kPollInterval expansions. Returns nothing if it may.
inline std::optional<SearchEnd> BudgetEnd(const Budget& budget, std::uint64_t expanded) {
  if (IsSpent(budget, expanded)) {
    return SearchEnd::kExpansionLimit;
  }
  if (expanded % Budget::kPollInterval != 0) {
    return std::nullopt;
  }
  if (const std::optional<SearchEnd> end = Interruption(budget, expanded)) {
    return end;
  }
  // The rival may have made the last expansions.
  return IsSpent(budget, expanded) ? std::optional(SearchEnd::kExpansionLimit) : std::nullopt;
}

// As BudgetEnd before the first expansion, without a look at the clock, which takes as long as a short
// search.
inline std::optional<SearchEnd> BudgetEndAtFirst(const Budget& budget) {
  return IsSpent(budget, 0) ? SearchEnd::kExpansionLimit : FlaggedInterruption(budget);
}

// Returns the error of a search stopped for one of these: DEADLINE_EXCEEDED, CANCELLED or ABORTED /
// SNAPSHOT_EVICTED.
absl::Status InterruptionError(SearchEnd end, std::uint64_t expanded);

// Stops work for which Interruption demands it, with the error of InterruptionError.
class BudgetStop final : public StopCheck {
 public:
  // What the budget names must outlive this.
  explicit BudgetStop(const Budget& budget) : budget_(budget) {}

  absl::Status Check() const override {
    const std::optional<SearchEnd> end = Interruption(budget_);
    return end ? InterruptionError(*end, 0) : absl::OkStatus();
  }

 private:
  const Budget budget_;
};

}  // namespace waystar::core
