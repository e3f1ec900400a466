#include "server/core/watch/map_subscriptions.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace waystar::core {
namespace {

// Commits kept for answers under search, and words per commit. Beyond these limits an answer is searched for
// again.
constexpr std::size_t kMaxKept = 16;
constexpr std::size_t kMaxKeptWords = 4096;

}  // namespace

void MapSubscriptions::Add(const PathSubscriptionPtr& subscription) {
  MutexLock lock(mutex_);
  subscription->id_ = ++last_id_;
  subscriptions_.emplace(subscription->id_, subscription);
  subscription->state_ = PathSubscription::State::kQueued;
}

bool MapSubscriptions::BeginSearch(PathSubscription& subscription) {
  MutexLock lock(mutex_);
  if (subscription.state_ != PathSubscription::State::kQueued) {
    return false;
  }
  subscription.state_ = PathSubscription::State::kSearching;
  ++searching_;
  return true;
}

bool MapSubscriptions::EndSearch(PathSubscription& subscription, const MapSnapshot& snapshot,
                                 KeptAnswerPtr answer) {
  MutexLock lock(mutex_);
  bool is_queued = false;
  if (subscription.state_ == PathSubscription::State::kSearching) {
    if (answer != subscription.answer_) {
      if (index_ == nullptr) {
        index_ = MakeAnswerIndex(snapshot);
      }
      index_->Remove(subscription.id_);
      index_->Add(subscription.id_, answer);
      subscription.answer_ = std::move(answer);
    }
    is_queued = IsOutdated(*subscription.answer_, snapshot.revision);
    subscription.state_ = is_queued ? PathSubscription::State::kQueued : PathSubscription::State::kIdle;
    subscription.queued_at_ = PathSubscription::Clock::now();
  }
  StopSearching();
  return is_queued;
}

bool MapSubscriptions::AbandonSearch(PathSubscription& subscription) {
  MutexLock lock(mutex_);
  const bool is_there = subscription.state_ == PathSubscription::State::kSearching;
  if (is_there) {
    subscription.state_ = PathSubscription::State::kQueued;
  }
  StopSearching();
  return is_there;
}

void MapSubscriptions::StopSearching() {
  --searching_;
  if (searching_ == 0) {
    kept_.clear();
  }
}

bool MapSubscriptions::IsOutdated(const KeptAnswer& answer, std::uint64_t revision) {
  if (forgotten_revision_ > revision) {
    return true;
  }
  return std::any_of(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return kept.snapshot->revision > revision && answer.MayEndBy(kept.changes, *kept.snapshot);
  });
}

std::vector<PathSubscriptionPtr> MapSubscriptions::Commit(const PinnedSnapshot& snapshot,
                                                          const MapChanges& changes) {
  std::vector<PathSubscriptionPtr> queued;
  MutexLock lock(mutex_);
  if (searching_ > 0) {
    if (kept_.size() >= kMaxKept ||
        changes.walkability.size() + changes.cost.size() + changes.touched.size() > kMaxKeptWords) {
      kept_.clear();
      forgotten_revision_ = snapshot->revision;
    } else {
      kept_.push_back({snapshot, changes});
    }
  }
  if (index_ == nullptr) {
    return queued;
  }
  affected_.clear();
  index_->FindAffected(changes, *snapshot, affected_);
  for (const std::uint64_t id : affected_) {
    const auto it = subscriptions_.find(id);
    // Subscriptions under search are checked against the commit when the search ends.
    if (it != subscriptions_.end() && it->second->state_ == PathSubscription::State::kIdle) {
      it->second->state_ = PathSubscription::State::kQueued;
      it->second->queued_at_ = PathSubscription::Clock::now();
      queued.push_back(it->second);
    }
  }
  return queued;
}

void MapSubscriptions::Remove(PathSubscription& subscription) {
  MutexLock lock(mutex_);
  subscription.state_ = PathSubscription::State::kGone;
  if (index_ != nullptr) {
    index_->Remove(subscription.id_);
  }
  subscriptions_.erase(subscription.id_);
}

std::vector<PathSubscriptionPtr> MapSubscriptions::All() {
  std::vector<PathSubscriptionPtr> all;
  MutexLock lock(mutex_);
  all.reserve(subscriptions_.size());
  for (const auto& [id, subscription] : subscriptions_) {
    all.push_back(subscription);
  }
  return all;
}

}  // namespace waystar::core
