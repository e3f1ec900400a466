#include "server/rpc/watch/watched_map.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

// Commits to hold an answer against after a search, and words of each. With more it is searched for again.
constexpr std::size_t kMaxKept = 16;
constexpr std::size_t kMaxKeptWords = 4096;

}  // namespace

void WatchedMap::Add(const PathWatchPtr& watch) {
  MutexLock lock(mutex_);
  watches_.emplace(watch->id_, watch);
  watch->state_ = PathWatch::State::kQueued;
}

bool WatchedMap::BeginSearch(PathWatch& watch) {
  MutexLock lock(mutex_);
  if (watch.state_ != PathWatch::State::kQueued) {
    return false;
  }
  watch.state_ = PathWatch::State::kSearching;
  ++searching_;
  return true;
}

absl::Status WatchedMap::CheckPinned(const core::MapSnapshot& snapshot) {
  MutexLock lock(mutex_);
  if (is_deleted_ || snapshot.revision <= deleted_revision_) {
    return MakeError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map",
                     absl::StrCat("the map \"", snapshot.id, "\" was deleted"));
  }
  seen_revision_ = std::max(seen_revision_, snapshot.revision);
  return absl::OkStatus();
}

bool WatchedMap::EndSearch(PathWatch& watch, const core::MapSnapshot& snapshot,
                           std::shared_ptr<const core::WatchedAnswer> answer) {
  MutexLock lock(mutex_);
  bool is_queued = false;
  if (watch.state_ == PathWatch::State::kSearching) {
    if (answer != watch.answer_) {
      if (!index_) {
        index_.emplace(snapshot.grid().width(), snapshot.grid().height());
      }
      index_->Remove(watch.id_);
      index_->Add(watch.id_, answer, snapshot.grid());
      watch.answer_ = std::move(answer);
    }
    is_queued = IsOutdated(*watch.answer_, snapshot.revision);
    watch.state_ = is_queued ? PathWatch::State::kQueued : PathWatch::State::kIdle;
    watch.queued_at_ = Executor::Clock::now();
  }
  StopSearching();
  return is_queued;
}

bool WatchedMap::AbandonSearch(PathWatch& watch) {
  MutexLock lock(mutex_);
  const bool is_there = watch.state_ == PathWatch::State::kSearching;
  if (is_there) {
    watch.state_ = PathWatch::State::kQueued;
  }
  StopSearching();
  return is_there;
}

void WatchedMap::StopSearching() {
  --searching_;
  if (searching_ == 0) {
    kept_.clear();
  }
}

bool WatchedMap::IsOutdated(const core::WatchedAnswer& answer, std::uint64_t revision) {
  if (forgotten_revision_ > revision) {
    return true;
  }
  return std::any_of(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return kept.snapshot->revision > revision && answer.MayBeOutdatedBy(kept.changes, kept.snapshot->grid());
  });
}

std::vector<PathWatchPtr> WatchedMap::Commit(const core::PinnedSnapshot& snapshot,
                                             const core::MapChanges& changes) {
  std::vector<PathWatchPtr> queued;
  MutexLock lock(mutex_);
  seen_revision_ = std::max(seen_revision_, snapshot->revision);
  if (searching_ > 0) {
    if (kept_.size() >= kMaxKept || changes.walkability.size() + changes.cost.size() > kMaxKeptWords) {
      kept_.clear();
      forgotten_revision_ = snapshot->revision;
    } else {
      kept_.push_back({snapshot, changes});
    }
  }
  if (!index_) {
    return queued;
  }
  affected_.clear();
  index_->FindAffected(changes, snapshot->grid(), affected_);
  for (const std::uint64_t id : affected_) {
    const auto it = watches_.find(id);
    // What is being searched for is held against the commit afterwards.
    if (it != watches_.end() && it->second->state_ == PathWatch::State::kIdle) {
      it->second->state_ = PathWatch::State::kQueued;
      it->second->queued_at_ = Executor::Clock::now();
      queued.push_back(it->second);
    }
  }
  return queued;
}

bool WatchedMap::Delete(std::uint64_t last_revision) {
  MutexLock lock(mutex_);
  if (seen_revision_ > last_revision) {
    return false;
  }
  deleted_revision_ = last_revision;
  is_deleted_ = seen_revision_ > 0;
  return is_deleted_;
}

void WatchedMap::Remove(PathWatch& watch) {
  MutexLock lock(mutex_);
  watch.state_ = PathWatch::State::kGone;
  if (index_) {
    index_->Remove(watch.id_);
  }
  watches_.erase(watch.id_);
}

std::vector<PathWatchPtr> WatchedMap::All() {
  std::vector<PathWatchPtr> all;
  MutexLock lock(mutex_);
  all.reserve(watches_.size());
  for (const auto& [id, watch] : watches_) {
    all.push_back(watch);
  }
  return all;
}

}  // namespace waystar::rpc
