// Tools of walks over the polygons of a navigation mesh: sets of polygons and a budget.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/search/interruption.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Set of polygons, usually small. Each call costs O(1), even on a mesh whose polygons all meet in one vertex.
// Not thread-safe.
class PolygonSet {
 public:
  // Adds a polygon. Returns false if the set already contains it.
  bool Add(PolygonNumber polygon) {
    if (many_.empty()) {
      if (IsAmongFew(polygon)) {
        return false;
      }
      if (few_.size() < kFew) {
        few_.push_back(polygon);
        return true;
      }
      many_.insert(few_.begin(), few_.end());
    }
    return many_.insert(polygon).second;
  }

  bool Has(PolygonNumber polygon) const {
    return many_.empty() ? IsAmongFew(polygon) : many_.contains(polygon);
  }

 private:
  // Up to this many are searched linearly.
  static constexpr std::size_t kFew = 32;

  bool IsAmongFew(PolygonNumber polygon) const {
    return std::find(few_.begin(), few_.end(), polygon) != few_.end();
  }

  absl::InlinedVector<PolygonNumber, kFew> few_;
  // Contains all polygons once there are more than kFew.
  absl::flat_hash_set<PolygonNumber> many_;
};

// Counts the polygons that successive walks visit as expansions, and checks the budget every
// Budget::kPollInterval of them, also within a walk. Not thread-safe.
class PolygonMeter {
 public:
  // The targets of the budget's pointers must outlive this.
  explicit PolygonMeter(const Budget& budget) : budget_(budget), next_look_(NextLook()) {}

  // Counts `count` more polygons. Returns false if the walk must stop; its result must not be used then.
  bool Visit(std::uint64_t count = 1) {
    visited_ += count;
    return visited_ < next_look_ || Look();
  }

  std::uint64_t visited() const { return visited_; }
  // Returns the reason that ended the walks: kExpansionLimit, or the result of Interruption.
  std::optional<SearchEnd> end() const { return end_; }

 private:
  // Returns the count at which to check the budget next: the next multiple of the interval, or the end of the
  // budget.
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

// Calls PolygonMeter::Visit. A null meter never stops a walk.
inline bool Visit(PolygonMeter* meter, std::uint64_t count = 1) {
  return meter == nullptr || meter->Visit(count);
}

}  // namespace waystar::core
