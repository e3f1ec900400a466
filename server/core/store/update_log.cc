#include "server/core/store/update_log.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "server/core/edit/edit_digest.h"

namespace waystar::core {

void UpdateLog::Append(absl::Span<const CommitPtr> commits) {
  // Freed outside the lock.
  std::vector<Entry> dropped;
  MutexLock lock(mutex_);
  std::size_t bytes = bytes_;
  absl::Cleanup take_back = [entries = &entries_, size = entries_.size()] { entries->resize(size); };
  for (const CommitPtr& commit : commits) {
    entries_.push_back({.commit = commit,
                        .bytes = sizeof(Commit) + ApproximateBytes(commit->edits) +
                                 commit->changed_areas.capacity() * sizeof(Rectangle)});
    bytes += entries_.back().bytes;
  }
  std::size_t gone = 0;
  for (; entries_.size() - gone > 1 && (entries_.size() - gone > max_commits_ || bytes > max_bytes_);
       ++gone) {
    bytes -= entries_[gone].bytes;
  }
  dropped.reserve(gone);
  std::move(take_back).Cancel();
  const auto first_kept = entries_.begin() + static_cast<std::ptrdiff_t>(gone);
  std::move(entries_.begin(), first_kept, std::back_inserter(dropped));
  entries_.erase(entries_.begin(), first_kept);
  bytes_ = bytes;
  next_ = entries_.back().commit->revision + 1;
}

void UpdateLog::ForgetMost() {
  // Freed outside the lock.
  std::vector<Entry> dropped;
  MutexLock lock(mutex_);
  while (entries_.size() > 1) {
    bytes_ -= entries_.front().bytes;
    dropped.push_back(std::move(entries_.front()));
    entries_.pop_front();
  }
}

void UpdateLog::BeginAgain(std::uint64_t first) {
  // Freed outside the lock.
  std::deque<Entry> dropped;
  MutexLock lock(mutex_);
  dropped.swap(entries_);
  bytes_ = 0;
  next_ = first;
}

History UpdateLog::ReadFrom(std::uint64_t revision, std::size_t max) const {
  MutexLock lock(mutex_);
  History history{.latest_revision = next_ - 1};
  if (revision > next_) {
    history.kind = History::Kind::kFuture;
    return history;
  }
  const std::uint64_t wanted = next_ - revision;
  if (wanted > entries_.size()) {
    history.kind = History::Kind::kGone;
    return history;
  }
  const auto begin = entries_.end() - static_cast<std::ptrdiff_t>(wanted);
  const auto count = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(wanted, max));
  history.commits.reserve(static_cast<std::size_t>(count));
  std::for_each(begin, begin + count, [&](const Entry& entry) { history.commits.push_back(entry.commit); });
  return history;
}

}  // namespace waystar::core
