// In-memory log of one map's commits, from which subscribers catch up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/store/store_listener.h"

namespace waystar::core {

// The commits starting with a revision.
struct History {
  enum class Kind : std::uint8_t {
    // `commits` starts at that revision without gaps; empty if it is one past the latest.
    kHeld,
    // The revision is no longer remembered, or is the map's first, which no commit made.
    kGone,
    // The revision is more than one past the latest.
    kFuture,
  };

  Kind kind = Kind::kHeld;
  std::vector<CommitPtr> commits;
  // Epoch of the map, and its latest revision at the time of the read. UpdateLog itself leaves the epoch 0.
  std::uint64_t epoch = 0;
  std::uint64_t latest_revision = 0;
};

// Ring of the latest commits.
//
// Thread safety: any method may be called from any thread.
class UpdateLog {
 public:
  // Makes a log whose first commit has revision `first`. It holds at most `max_commits` commits and about
  // `max_bytes`, but always the last one.
  UpdateLog(std::uint64_t first, std::size_t max_commits, std::size_t max_bytes)
      : max_commits_(max_commits), max_bytes_(max_bytes), next_(first) {}

  // Appends commits. If it throws std::bad_alloc, nothing was appended.
  // REQUIRES: `commits` is not empty, and its revisions continue those of the log without a gap.
  void Append(absl::Span<const CommitPtr> commits);

  // Forgets all commits but the last.
  void ForgetMost();

  // Forgets all commits and leaves a gap: the next commit will have revision `first`.
  // REQUIRES: `first` is later than the next revision.
  void BeginAgain(std::uint64_t first);

  std::size_t bytes() const {
    MutexLock lock(mutex_);
    return bytes_;
  }

  // Returns at most `max` commits, starting with `revision`.
  History ReadFrom(std::uint64_t revision, std::size_t max) const;

 private:
  struct Entry {
    CommitPtr commit;
    std::size_t bytes = 0;
  };

  const std::size_t max_commits_;
  const std::size_t max_bytes_;
  mutable Mutex mutex_;
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // One past the last revision.
  std::uint64_t next_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::core
