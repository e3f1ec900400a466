#include "server/core/watch/map_subscriptions.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

namespace waystar::core {
namespace {

// Commits kept for answers under search, and words per commit. Beyond these limits an answer is searched for
// again.
constexpr std::size_t kMaxKept = 16;
constexpr std::size_t kMaxKeptWords = 4096;

}  // namespace

PathSubscription::Move MoveOn(const MapSnapshot& map, Location place, double off_path, std::uint64_t number) {
  // A place that is not on the map is on no path.
  constexpr double kNowhere = std::numeric_limits<double>::infinity();
  WorldPoint position{kNowhere, kNowhere, 0.0};
  double unit = 1.0;
  if (map.as_grid() != nullptr) {
    const WorldFrame& frame = map.grid().settings().frame;
    unit = frame.cell_size;
    if (place.cell && map.grid().Contains(*place.cell)) {
      position = frame.CenterOf(*place.cell);
    }
  } else if (const WaypointGraph* const graph = map.as_graph(); graph != nullptr && !place.node.empty()) {
    if (const NodeNumber node = graph->FindNode(place.node); node != kNoNodeNumber) {
      position = graph->PositionOf(node);
    }
  }
  if (place.position) {
    position = *place.position;
  }
  return {.place = std::move(place), .position = position, .off_path = off_path * unit, .number = number};
}

KeptAnswerPtr PathSubscription::RestOn(const MapSnapshot& snapshot) const {
  if (has_left_) {
    return nullptr;
  }
  return walked_ && answer_ != nullptr ? answer_->Rest(*walked_, snapshot) : answer_;
}

std::optional<Course::Place> PathSubscription::PlaceOnCourse() const {
  const bool has_walked = course_ && !is_off_ && (course_->place().next > 1 || course_->place().share > 0.0);
  return has_walked ? std::optional(course_->place()) : std::nullopt;
}

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
  if (subscription.at_) {
    subscription.query.start = subscription.at_->place;
    subscription.searched_move_ = subscription.at_->number;
  }
  subscription.has_left_ = subscription.is_off_ || std::exchange(subscription.is_lost_, false);
  subscription.walked_ = subscription.PlaceOnCourse();
  return true;
}

bool MapSubscriptions::EndSearch(PathSubscription& subscription, const MapSnapshot& snapshot,
                                 KeptAnswerPtr answer) {
  MutexLock lock(mutex_);
  bool is_queued = false;
  if (subscription.state_ == PathSubscription::State::kSearching) {
    if (answer != subscription.answer_) {
      Keep(subscription, std::move(answer), snapshot);
    }
    subscription.state_ = PathSubscription::State::kIdle;
    if (subscription.is_off_ || subscription.is_lost_) {
      Queue(subscription, snapshot.revision);
    } else if (IsOutdated(*subscription.answer_, snapshot.revision)) {
      Queue(subscription, snapshot.revision + 1);
    }
    is_queued = subscription.state_ == PathSubscription::State::kQueued;
  }
  StopSearching();
  return is_queued;
}

void MapSubscriptions::Queue(PathSubscription& subscription, std::uint64_t doubted_from) {
  subscription.state_ = PathSubscription::State::kQueued;
  subscription.queued_at_ = PathSubscription::Clock::now();
  subscription.doubted_from_ = doubted_from;
}

void MapSubscriptions::Keep(PathSubscription& subscription, KeptAnswerPtr answer,
                            const MapSnapshot& snapshot) {
  if (index_ == nullptr) {
    index_ = MakeAnswerIndex(snapshot);
  }
  index_->Remove(subscription.id_);
  index_->Add(subscription.id_, answer);
  subscription.answer_ = std::move(answer);
  if (subscription.walks) {
    subscription.course_ = subscription.answer_->CourseOn(snapshot);
    // The path may begin elsewhere, at the place that the start snapped to.
    subscription.is_off_ =
        subscription.at_ && !subscription.Follow() && subscription.at_->number != subscription.searched_move_;
  }
}

bool MapSubscriptions::MoveTo(PathSubscription& subscription, PathSubscription::Move move) {
  MutexLock lock(mutex_);
  subscription.at_ = std::move(move);
  subscription.is_off_ = !subscription.course_ || !subscription.Follow();
  if (!subscription.is_off_ || subscription.state_ != PathSubscription::State::kIdle) {
    return false;
  }
  Queue(subscription, judged_);
  return true;
}

bool MapSubscriptions::Repeat(PathSubscription& subscription) {
  MutexLock lock(mutex_);
  subscription.is_lost_ = true;
  if (subscription.state_ != PathSubscription::State::kIdle) {
    return false;
  }
  Queue(subscription, judged_);
  return true;
}

std::uint64_t MapSubscriptions::RightUntil(absl::Span<const PathSubscriptionPtr> subscriptions) {
  MutexLock lock(mutex_);
  std::uint64_t until = judged_;
  for (const PathSubscriptionPtr& subscription : subscriptions) {
    if (subscription->state_ != PathSubscription::State::kIdle) {
      until = std::min(until, std::max<std::uint64_t>(subscription->doubted_from_, 1) - 1);
    }
  }
  return until;
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
  judged_ = snapshot->revision;
  if (index_ == nullptr) {
    return queued;
  }
  const auto find_idle = [this](std::uint64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto it = subscriptions_.find(id);
    // Subscriptions under search are checked against the commit when the search ends.
    return it != subscriptions_.end() && it->second->state_ == PathSubscription::State::kIdle ? it->second
                                                                                              : nullptr;
  };
  const auto rest_of = [&](std::uint64_t id) -> KeptAnswerPtr {
    const PathSubscriptionPtr subscription = find_idle(id);
    const std::optional<Course::Place> place =
        subscription == nullptr ? std::nullopt : subscription->PlaceOnCourse();
    return place ? subscription->answer_->Rest(*place, *snapshot) : nullptr;
  };
  index_->FindAffected(changes, *snapshot, rest_of, affected_);
  for (auto& [id, rest] : affected_.rests) {
    Keep(*subscriptions_.at(id), std::move(rest), *snapshot);
  }
  for (const std::uint64_t id : affected_.ids) {
    if (const PathSubscriptionPtr subscription = find_idle(id)) {
      Queue(*subscription, snapshot->revision);
      queued.push_back(subscription);
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
