// The log of one map's commits, from which watchers catch up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/store/store_listener.h"

namespace waystar::core {

// The commits from a revision on.
struct History {
  enum class Kind : std::uint8_t {
    // `commits` are those from that revision on, without gaps; none if it is the one after the latest.
    kHeld,
    // That revision is no longer remembered, or was the map's first, which no commit made.
    kGone,
    // That revision is more than one after the latest.
    kFuture,
  };

  Kind kind = Kind::kHeld;
  std::vector<SharedCommit> commits;
  // The map's epoch, and its latest revision when this was read. A log alone does not know the epoch.
  std::uint64_t epoch = 0;
  std::uint64_t latest_revision = 0;
};

// Holds the last commits in memory.
//
// Thread safety: any method may be called from any thread.
class UpdateLog {
 public:
  // The first commit will have revision `first`. The log holds at most `max_commits` commits of about
  // `max_bytes`, but always the last one.
  UpdateLog(std::uint64_t first, std::size_t max_commits, std::size_t max_bytes)
      : max_commits_(max_commits), max_bytes_(max_bytes), next_(first) {}

  // Throws std::bad_alloc if there is no memory, and appends none then. REQUIRES: there are `commits`; they
  // follow each other, and the first of them follows what was appended last.
  void Append(absl::Span<const SharedCommit> commits);

  // Forgets all but the last.
  void ForgetMost();

  // Forgets all, and leaves a gap: the next commit will have revision `first`. REQUIRES: it is later than
  // what would have been next.
  void BeginAgain(std::uint64_t first);

  std::size_t bytes() const {
    MutexLock lock(mutex_);
    return bytes_;
  }

  // Returns at most `max` commits.
  History ReadFrom(std::uint64_t revision, std::size_t max) const;

 private:
  struct Entry {
    SharedCommit commit;
    std::size_t bytes = 0;
  };

  const std::size_t max_commits_;
  const std::size_t max_bytes_;
  mutable Mutex mutex_;
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // The revision after the last one.
  std::uint64_t next_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::core
