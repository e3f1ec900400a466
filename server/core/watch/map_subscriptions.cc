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

// Rests that a commit makes: each takes as long as the validation of a path. Beyond these, answers are
// searched for again.
constexpr std::size_t kMaxRests = 1000;

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
    subscription.searched_place_ = subscription.at_;
  }
  if (!subscription.is_urgent_) {
    // Commits during the search are not compared with the answer that the subscriber has.
    subscription.blocked_from_ = judged_ + 1;
  }
  subscription.is_outdated_ = false;
  subscription.is_repeated_ = std::exchange(subscription.is_lost_, false);
  subscription.needs_answer_ = subscription.is_off_ || subscription.is_repeated_;
  subscription.walked_ = subscription.PlaceOnCourse();
  return true;
}

bool MapSubscriptions::EndSearch(PathSubscription& subscription, const MapSnapshot& snapshot,
                                 KeptAnswerPtr answer, std::uint64_t cheaper_from) {
  MutexLock lock(mutex_);
  bool is_queued = false;
  if (subscription.state_ == PathSubscription::State::kSearching) {
    if (answer != subscription.answer_) {
      Keep(subscription, std::move(answer), snapshot);
    }
    subscription.state_ = PathSubscription::State::kIdle;
    subscription.is_urgent_ = false;
    subscription.blocked_from_ = 0;
    subscription.cheaper_from_ = cheaper_from;
    subscription.searched_at_ = PathSubscription::Clock::now();
    const ChangeEffect effect = EffectSince(snapshot.revision, *subscription.answer_);
    if (subscription.is_lost_) {
      Queue(subscription, 0);
    } else if (subscription.is_off_ || subscription.is_outdated_) {
      Queue(subscription, snapshot.revision);
    } else if (effect == ChangeEffect::kEnd) {
      Queue(subscription, snapshot.revision + 1);
    } else if (effect == ChangeEffect::kCheaper && cheaper_from == 0) {
      subscription.cheaper_from_ = snapshot.revision + 1;
    }
    is_queued = subscription.state_ == PathSubscription::State::kQueued;
  }
  StopSearching();
  return is_queued;
}

void MapSubscriptions::Queue(PathSubscription& subscription, std::uint64_t blocked_from) {
  subscription.state_ = PathSubscription::State::kQueued;
  subscription.is_urgent_ = true;
  subscription.blocked_from_ = blocked_from;
}

void MapSubscriptions::Keep(PathSubscription& subscription, KeptAnswerPtr answer,
                            const MapSnapshot& snapshot) {
  if (index_ == nullptr) {
    index_ = MakeAnswerIndex(snapshot);
  }
  index_->Remove(subscription.id_);
  index_->Add(subscription.id_, answer);
  subscription.answer_ = std::move(answer);
  subscription.course_ = subscription.answer_->CourseOn(snapshot);
  // The path may begin elsewhere, at the place that the start snapped to.
  subscription.is_off_ =
      subscription.at_ && !subscription.Follow() && subscription.at_->number != subscription.searched_move();
}

bool MapSubscriptions::MoveTo(PathSubscription& subscription, PathSubscription::Move move) {
  MutexLock lock(mutex_);
  subscription.at_ = std::move(move);
  subscription.is_off_ = !subscription.course_ || !subscription.Follow();
  return subscription.is_off_ && QueueAgain(subscription);
}

bool MapSubscriptions::Repeat(PathSubscription& subscription) {
  MutexLock lock(mutex_);
  subscription.is_lost_ = true;
  const bool is_queued = QueueAgain(subscription);
  // Nothing is known to be right until the subscriber has its answer.
  subscription.blocked_from_ = 0;
  return is_queued;
}

bool MapSubscriptions::Outdate(PathSubscription& subscription) {
  MutexLock lock(mutex_);
  subscription.is_outdated_ = true;
  return QueueAgain(subscription);
}

bool MapSubscriptions::QueueAgain(PathSubscription& subscription) {
  if (subscription.is_urgent_ || subscription.state_ == PathSubscription::State::kSearching ||
      subscription.state_ == PathSubscription::State::kGone) {
    return false;
  }
  Queue(subscription, judged_);
  return true;
}

MapSubscriptions::Standing MapSubscriptions::StandingOf(absl::Span<const PathSubscriptionPtr> subscriptions) {
  MutexLock lock(mutex_);
  Standing standing{.right = judged_, .walkable = judged_};
  const auto before = [](std::uint64_t revision) { return std::max<std::uint64_t>(revision, 1) - 1; };
  for (const PathSubscriptionPtr& subscription : subscriptions) {
    const bool is_queued = subscription->state_ == PathSubscription::State::kQueued;
    if (subscription->state_ != PathSubscription::State::kIdle && (subscription->is_urgent_ || !is_queued)) {
      standing.walkable = std::min(standing.walkable, before(subscription->blocked_from_));
    }
    if (subscription->cheaper_from_ > 0) {
      standing.right = std::min(standing.right, before(subscription->cheaper_from_));
    }
  }
  standing.right = std::min(standing.right, standing.walkable);
  return standing;
}

std::vector<PathSubscriptionPtr> MapSubscriptions::QueueCheaper(
    absl::Span<const PathSubscriptionPtr> subscriptions,
    PathSubscription::Clock::time_point searched_before) {
  std::vector<PathSubscriptionPtr> queued;
  MutexLock lock(mutex_);
  for (const PathSubscriptionPtr& subscription : subscriptions) {
    if (subscription->state_ == PathSubscription::State::kIdle && subscription->cheaper_from_ > 0 &&
        subscription->searched_at_ < searched_before) {
      subscription->state_ = PathSubscription::State::kQueued;
      queued.push_back(subscription);
    }
  }
  return queued;
}

bool MapSubscriptions::AbandonSearch(PathSubscription& subscription) {
  MutexLock lock(mutex_);
  const bool is_there = subscription.state_ == PathSubscription::State::kSearching;
  if (is_there) {
    subscription.state_ = PathSubscription::State::kQueued;
    // Commits during the search were not compared with its answer.
    subscription.is_urgent_ = true;
    subscription.is_lost_ = subscription.is_lost_ || subscription.is_repeated_;
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

ChangeEffect MapSubscriptions::EffectSince(std::uint64_t revision, const KeptAnswer& answer) {
  if (forgotten_revision_ > revision) {
    return ChangeEffect::kEnd;
  }
  ChangeEffect effect = ChangeEffect::kNone;
  for (const Kept& kept : kept_) {
    if (kept.snapshot->revision > revision) {
      effect = std::max(effect, answer.EffectOf(kept.changes, *kept.snapshot));
    }
  }
  return effect;
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
  // Subscriptions under search are compared with the commit when the search ends.
  const auto find = [this](std::uint64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) -> PathSubscriptionPtr {
    const auto it = subscriptions_.find(id);
    const bool is_judged = it != subscriptions_.end() && !it->second->is_urgent_ &&
                           it->second->state_ != PathSubscription::State::kSearching;
    return is_judged ? it->second : nullptr;
  };
  std::size_t rests = 0;
  const auto rest_of = [&](std::uint64_t id, ChangeEffect effect)
                           ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) -> KeptAnswerPtr {
    const PathSubscriptionPtr subscription = find(id);
    const bool is_noted =
        subscription == nullptr || (effect == ChangeEffect::kCheaper && subscription->cheaper_from_ > 0);
    const std::optional<Course::Place> place =
        is_noted || rests >= kMaxRests ? std::nullopt : subscription->PlaceOnCourse();
    rests += place ? 1 : 0;
    return place ? subscription->answer_->Rest(*place, *snapshot) : nullptr;
  };
  index_->FindAffected(changes, *snapshot, rest_of, affected_);
  for (auto& [id, rest] : affected_.rests) {
    Keep(*subscriptions_.at(id), std::move(rest), *snapshot);
  }
  for (const std::uint64_t id : affected_.ends) {
    if (const PathSubscriptionPtr subscription = find(id)) {
      Queue(*subscription, snapshot->revision);
      queued.push_back(subscription);
    }
  }
  for (const std::uint64_t id : affected_.cheaper) {
    if (const PathSubscriptionPtr subscription = find(id);
        subscription != nullptr && subscription->cheaper_from_ == 0) {
      subscription->cheaper_from_ = snapshot->revision;
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

std::vector<std::pair<std::uint64_t, PathSubscriptionPtr>> MapSubscriptions::ListAfter(std::uint64_t after,
                                                                                       std::size_t limit) {
  std::vector<std::pair<std::uint64_t, PathSubscriptionPtr>> listed;
  MutexLock lock(mutex_);
  for (auto it = subscriptions_.upper_bound(after); it != subscriptions_.end() && listed.size() < limit;
       ++it) {
    listed.emplace_back(*it);
  }
  return listed;
}

MapSubscriptions::Look MapSubscriptions::LookAt(const PathSubscription& subscription) {
  MutexLock lock(mutex_);
  Look look;
  if (subscription.at_) {
    look.place = subscription.at_->place;
  }
  if (subscription.course_) {
    look.ahead = subscription.course_->RestAhead();
  }
  const bool has_no_way = subscription.course_ && look.ahead.points.empty();
  look.is_waiting = !has_no_way && (subscription.is_urgent_ || subscription.is_off_);
  return look;
}

}  // namespace waystar::core
