// Budgets: interruption of searches by cancellation, eviction or deadline, and upkeep of data that a map
// keeps for later queries, such as the view of a profile.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "server/base/stop_check.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Returns kCancelled or kEvicted if a flag of the budget is set.
inline std::optional<SearchEnd> FlaggedInterruption(const Budget& budget) {
  if (budget.cancelled != nullptr && budget.cancelled->load(std::memory_order_relaxed)) {
    return SearchEnd::kCancelled;
  }
  if (budget.evicted != nullptr && budget.evicted->load(std::memory_order_relaxed)) {
    return SearchEnd::kEvicted;
  }
  return std::nullopt;
}

// As Interruption, but does not run the rival. For work that only some searches do, so that the rival's share
// depends on the query alone.
inline std::optional<SearchEnd> InterruptionAlone(const Budget& budget) {
  if (const std::optional<SearchEnd> end = FlaggedInterruption(budget)) {
    return end;
  }
  if (std::chrono::steady_clock::now() >= budget.deadline) {
    return SearchEnd::kDeadline;
  }
  return std::nullopt;
}

// Returns kCancelled, kEvicted or kDeadline if the search must stop now, after `expanded` expansions.
inline std::optional<SearchEnd> Interruption(const Budget& budget, std::uint64_t expanded = 0) {
  if (const std::optional<SearchEnd> end = InterruptionAlone(budget)) {
    return end;
  }
  if (budget.rival != nullptr && budget.rival->GoOn(expanded)) {
    return SearchEnd::kCancelled;
  }
  return std::nullopt;
}

// Returns true if a search after `expanded` expansions must not make another.
inline bool IsSpent(const Budget& budget, std::uint64_t expanded) {
  return expanded + (budget.rival == nullptr ? 0 : budget.rival->expanded()) >= budget.max_expansions;
}

// Returns why a search after `expanded` expansions must not make another: kExpansionLimit or the result of
// Interruption, which is polled every Budget::kPollInterval expansions. Returns nullopt if it may go on.
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
  // The rival may have used up the budget.
  return IsSpent(budget, expanded) ? std::optional(SearchEnd::kExpansionLimit) : std::nullopt;
}

// BudgetEnd before the first expansion. Does not read the clock, which would cost as much as a short search.
inline std::optional<SearchEnd> BudgetEndAtFirst(const Budget& budget) {
  return IsSpent(budget, 0) ? SearchEnd::kExpansionLimit : FlaggedInterruption(budget);
}

// Returns the error for an interrupted search: DEADLINE_EXCEEDED, CANCELLED or ABORTED / SNAPSHOT_EVICTED.
absl::Status InterruptionError(SearchEnd end, std::uint64_t expanded);

// StopCheck that fails with InterruptionError when Interruption demands a stop.
class BudgetStop final : public StopCheck {
 public:
  // The targets of the budget's pointers must outlive this.
  explicit BudgetStop(const Budget& budget) : budget_(budget) {}

  absl::Status Check() const override {
    const std::optional<SearchEnd> end = Interruption(budget_);
    return end ? InterruptionError(*end, 0) : absl::OkStatus();
  }

 private:
  const Budget budget_;
};

// Budget of one call for upkeep in its current lane, in units of the time of an expansion. Work that would
// exceed it is not started: the call ends, and restarts where a larger budget applies.
//
// Not thread-safe.
class Upkeep {
 public:
  explicit Upkeep(std::uint64_t left) : left_(left) {}

  // Charges the cost of work about to start. Returns false, and charges nothing, if less is left.
  bool TryTake(std::uint64_t cost) {
    if (cost > left_) {
      is_refused_ = true;
      return false;
    }
    left_ -= cost;
    return true;
  }
  // Charges cost that was not known when the work started, down to a budget of 0.
  void Take(std::uint64_t cost) { left_ -= std::min(left_, cost); }

  std::uint64_t left() const { return left_; }
  // Returns true if the call must restart elsewhere.
  bool is_refused() const { return is_refused_; }

 private:
  std::uint64_t left_;
  bool is_refused_ = false;
};

// Returns the error of a step that was not started for lack of upkeep budget. Clients never see it.
inline absl::Status UpkeepError() { return absl::ResourceExhaustedError("no upkeep is left here"); }

}  // namespace waystar::core
