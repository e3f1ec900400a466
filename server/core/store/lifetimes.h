// Expiry times of a map's obstacles.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/store/update_batch.h"

namespace waystar::core {

// Queue of the obstacles with a lifetime, updated by the map's edits. After a method has thrown
// std::bad_alloc, the object can only be destroyed or assigned to.
//
// Thread safety: one thread at a time.
class Lifetimes {
 public:
  // Tracks the obstacles of a new map.
  // REQUIRES: no other method was called before.
  void Begin(const ObstacleTable& obstacles);
  // Updates the queue with edits that were applied at `now`.
  void Follow(absl::Span<const Edit> edits, absl::Time now);

  // Returns when the next obstacle expires, or InfiniteFuture() if none does.
  absl::Time next() const { return by_expiry_.empty() ? absl::InfiniteFuture() : by_expiry_.begin()->first; }

  // Returns the approximate memory in bytes.
  std::size_t bytes() const { return by_expiry_.size() * kEntryBytes; }

  // Returns edits that remove the obstacles expired by `now`, earliest first, at most `max`, and stops
  // tracking them.
  std::vector<Edit> TakeRemovalsDue(absl::Time now, std::size_t max);

 private:
  // Estimated memory per obstacle: two copies of an id and of a time, in containers that are not full.
  static constexpr std::size_t kEntryBytes = 240;

  void Forget(absl::string_view id);

  // Standard containers: they can be destroyed after a failed allocation.
  std::set<std::pair<absl::Time, std::string>> by_expiry_;
  std::unordered_map<std::string, absl::Time, IdHash, std::equal_to<>> expiry_of_;
};

}  // namespace waystar::core
