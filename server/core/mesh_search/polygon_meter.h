// The budget of walks over the polygons of a navigation mesh.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "server/core/search/interruption.h"
#include "server/core/search/query.h"
#include "server/core/search/report.h"

namespace waystar::core {

// Counts the polygons that walks visit, one after the other, as the expansions of a search: asks the budget
// every Budget::kPollInterval of them, within a walk as well as between two. Thread safety: none.
class PolygonMeter {
 public:
  // What the budget names must outlive this.
  explicit PolygonMeter(const Budget& budget) : budget_(budget), next_look_(NextLook()) {}

  // Counts so many more. Returns false if the walk must stop, whose result is not to be used then.
  bool Visit(std::uint64_t count = 1) {
    visited_ += count;
    return visited_ < next_look_ || Look();
  }

  std::uint64_t visited() const { return visited_; }
  // Returns what ended the walks: kExpansionLimit, or what Interruption says.
  std::optional<SearchEnd> end() const { return end_; }

 private:
  // The count at which the budget is looked at next: each multiple of the interval, and where it ends.
  std::uint64_t NextLook() const {
    const std::uint64_t poll = (visited_ / Budget::kPollInterval + 1) * Budget::kPollInterval;
    return budget_.max_expansions < poll ? budget_.max_expansions + 1 : poll;
  }

  bool Look() {
    if (!end_) {
      end_ = visited_ > budget_.max_expansions ? SearchEnd::kExpansionLimit : Interruption(budget_);
      next_look_ = end_ ? 0 : NextLook();
    }
    return !end_;
  }

  const Budget budget_;
  std::uint64_t visited_ = 0;
  std::uint64_t next_look_;
  std::optional<SearchEnd> end_;
};

// A null meter never stops a walk.
inline bool Visit(PolygonMeter* meter, std::uint64_t count = 1) {
  return meter == nullptr || meter->Visit(count);
}

}  // namespace waystar::core
