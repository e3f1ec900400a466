// The times at which obstacles of a map expire.
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
#include "server/core/map/obstacle_table.h"
#include "server/core/store/id_hash.h"

namespace waystar::core {

// Follows the edits of a map and tracks the obstacles that have a lifetime. After a method has thrown
// std::bad_alloc, it can only be destroyed or assigned to.
//
// Thread safety: one thread at a time.
class Lifetimes {
 public:
  // Tracks the obstacles of a map that is created with them. REQUIRES: nothing was called before.
  void Begin(const ObstacleTable& obstacles);
  // Follows edits that were applied at `now`.
  void Follow(absl::Span<const Edit> edits, absl::Time now);

  // Returns when the next obstacle is due, or InfiniteFuture() if none ever is.
  absl::Time next() const { return by_expiry_.empty() ? absl::InfiniteFuture() : by_expiry_.begin()->first; }

  // Returns approximately the bytes of memory that it takes.
  std::size_t bytes() const { return by_expiry_.size() * kEntryBytes; }

  // Returns edits that remove the obstacles due by `now`, the earliest first, at most `max` of them, and
  // forgets those obstacles.
  std::vector<Edit> TakeRemovalsDue(absl::Time now, std::size_t max);

 private:
  // Two copies of an id and of a time, in tables that are not full.
  static constexpr std::size_t kEntryBytes = 240;

  void Forget(absl::string_view id);

  // Of the standard library, whose containers can be destroyed after one of their allocations has failed.
  std::set<std::pair<absl::Time, std::string>> by_expiry_;
  std::unordered_map<std::string, absl::Time, IdHash, std::equal_to<>> expiry_of_;
};

}  // namespace waystar::core
