// The path subscriptions of one map epoch.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/query/route_query.h"
#include "server/core/watch/course.h"
#include "server/core/watch/kept_answer.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A subscription is idle, queued for a search, being searched for, or gone.
//
// Thread safety: public members are set before the subscription is added. Then only the thread that searches
// for it may use them, except `cancelled`, which any thread may set.
class PathSubscription {
 public:
  using Clock = std::chrono::steady_clock;

  // A subscriber's place: as queries give it, and in the world. It is on the path up to a distance of
  // `off_path`. `number` grows with each move.
  struct Move {
    Location place;
    WorldPoint position;
    double off_path = 0.0;
    std::uint64_t number = 0;
  };

  PathSubscription() = default;
  PathSubscription(const PathSubscription&) = delete;
  PathSubscription& operator=(const PathSubscription&) = delete;
  virtual ~PathSubscription() = default;

  // Its start is the subscriber's latest place when a search begins.
  RouteQuery query;
  // Sets where the subscriber is, if not at the start. Call it before the subscription is added.
  void StartAt(Move move) { at_ = std::move(move); }
  // Cancels a running search.
  std::atomic<bool> cancelled = false;

  // Returns the last answer; null before the first. Only for the searching thread.
  const KeptAnswerPtr& answer() const { return answer_; }
  // Returns where the subscriber was on the path of that answer when the search began; nullopt at its start.
  // Only for the searching thread.
  const std::optional<Course::Place>& walked() const { return walked_; }
  // Returns true if the subscriber needs an answer even if the last one holds. Only for the searching thread.
  bool needs_answer() const { return needs_answer_; }
  // Returns the newest move that the search takes into account, and its number. Only for the searching
  // thread.
  const std::optional<Move>& searched_place() const { return searched_place_; }
  std::uint64_t searched_move() const { return searched_place_ ? searched_place_->number : 0; }

 private:
  friend class MapSubscriptions;

  // Goes on to the latest move. Returns false if that is not on the course.
  bool Follow() { return course_->Follow(at_->position, at_->off_path); }
  // Returns the place on the course; nullopt at its start, off it, or without one.
  std::optional<Course::Place> PlaceOnCourse() const;

  KeptAnswerPtr answer_;
  std::optional<Course::Place> walked_;
  bool needs_answer_ = false;
  std::optional<Move> searched_place_;

  // The members below are guarded by the mutex of MapSubscriptions.
  enum class State : std::uint8_t { kIdle, kQueued, kSearching, kGone };
  std::uint64_t id_ = 0;
  State state_ = State::kSearching;
  // True while the path of the answer may not be walkable, or there is none.
  bool is_urgent_ = true;
  // The first revisions at which the path may not be walkable, and at which another may be cheaper. Only the
  // second is set, or neither (0), while the state is kIdle.
  std::uint64_t blocked_from_ = 0;
  std::uint64_t cheaper_from_ = 0;
  // When the last search ended.
  Clock::time_point searched_at_;
  // The course of the answer's path.
  std::optional<Course> course_;
  // The latest move.
  std::optional<Move> at_;
  // True if that is not on the course.
  bool is_off_ = false;
  // True if the answer may not hold for a reason beyond the map, which the search does not see.
  bool is_outdated_ = false;
  // True if the subscriber has lost its answer, and if the search is to repeat it.
  bool is_lost_ = false;
  bool is_repeated_ = false;
};

// Returns the move of a subscriber to a place on `map`. It leaves its path beyond `off_path`: cells on a
// grid, units elsewhere.
PathSubscription::Move MoveOn(const MapSnapshot& map, Location place, double off_path, std::uint64_t number);

// An agent that is in no cell of its path is off it.
inline constexpr double kOffPath = 0.5;

using PathSubscriptionPtr = std::shared_ptr<PathSubscription>;

// Finds the subscriptions that a commit affects, and the commits that a search missed. While a search runs,
// commits are kept, so that its answer can be checked against those made meanwhile. All snapshots passed in
// are of one map and epoch, so their revisions are comparable.
//
// Thread safety: any method may be called from any thread.
class MapSubscriptions {
 public:
  // All subscriptions will be searched for on this revision or later ones.
  explicit MapSubscriptions(std::uint64_t first_revision) : judged_(first_revision) {}

  // Adds a subscription and queues it for a search.
  void Add(const PathSubscriptionPtr& subscription);

  // Begins a search for a queued subscription. Call before pinning the snapshot to search. Returns false if
  // the subscription is no longer queued.
  bool BeginSearch(PathSubscription& subscription);

  // Ends a search on `snapshot`. `answer` is its result, or the previous answer if that still holds there.
  // Returns true if a later commit may have invalidated it; the subscription is then queued again.
  // If `cheaper_from` is not 0, the answer is only known to be walkable: from that revision on another may be
  // cheaper.
  bool EndSearch(PathSubscription& subscription, const MapSnapshot& snapshot, KeptAnswerPtr answer,
                 std::uint64_t cheaper_from = 0);
  // Ends a search without an answer. Returns true if the subscription is queued again, false if it was
  // removed.
  bool AbandonSearch(PathSubscription& subscription);

  // Queues and returns the subscriptions whose paths a commit may block, which may be queued already. What a
  // subscriber has walked already does not count.
  std::vector<PathSubscriptionPtr> Commit(const PinnedSnapshot& snapshot, const MapChanges& changes);

  // Notes that a subscriber has moved. Off the rest of its path it needs a search from there: queues it and
  // returns true, unless it waits for a search already.
  bool MoveTo(PathSubscription& subscription, PathSubscription::Move move);
  // Notes that a subscriber needs its answer again, even if that still holds. Queues it and returns true,
  // unless it waits for a search already.
  bool Repeat(PathSubscription& subscription);

  // Notes that the answer of a subscription may not hold, for a reason beyond the map. Queues it and returns
  // true, unless it waits for a search already; one that is under search is queued again when that ends.
  bool Outdate(PathSubscription& subscription);

  // The latest revisions at which the answers of subscriptions are known to be right, and at which their
  // paths are known to be walkable: the subscribers have these answers, or were sent them by the thread that
  // searched.
  struct Standing {
    std::uint64_t right = 0;
    std::uint64_t walkable = 0;
  };
  Standing StandingOf(absl::Span<const PathSubscriptionPtr> subscriptions);
  // Queues and returns those subscriptions for which a cheaper path may exist, and whose last search ended
  // before that time. Commits do not queue these.
  std::vector<PathSubscriptionPtr> QueueCheaper(absl::Span<const PathSubscriptionPtr> subscriptions,
                                                PathSubscription::Clock::time_point searched_before);

  void Remove(PathSubscription& subscription);

  std::vector<PathSubscriptionPtr> All();

  // Returns at most `limit` subscriptions in the order in which they were added, with the ids that this has
  // given them, from the one after the id `after`.
  std::vector<std::pair<std::uint64_t, PathSubscriptionPtr>> ListAfter(std::uint64_t after,
                                                                       std::size_t limit);
  // A subscriber as others see it.
  struct Look {
    // Where it is, if not at the start of its query.
    std::optional<Location> place;
    // The rest of its path on the map; empty if it has none.
    Course::Rest ahead;
    // True if it waits for its first answer, or for another as its path may not be walkable or it has left
    // that.
    bool is_waiting = false;
  };
  Look LookAt(const PathSubscription& subscription);

 private:
  // A commit made while a search was running.
  struct Kept {
    PinnedSnapshot snapshot;
    MapChanges changes;
  };

  // Queues a subscription whose path may not be walkable from that revision on.
  void Queue(PathSubscription& subscription, std::uint64_t blocked_from)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Queues a subscription that needs an answer now. Returns false if one will be searched for anyway.
  bool QueueAgain(PathSubscription& subscription) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Replaces the answer of a subscription.
  void Keep(PathSubscription& subscription, KeptAnswerPtr answer, const MapSnapshot& snapshot)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StopSearching() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the effect of the commits after a revision on an answer.
  ChangeEffect EffectSince(std::uint64_t revision, const KeptAnswer& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  // The latest revision whose changes were compared with all answers.
  std::uint64_t judged_ ABSL_GUARDED_BY(mutex_);
  absl::btree_map<std::uint64_t, PathSubscriptionPtr> subscriptions_ ABSL_GUARDED_BY(mutex_);
  // Null before the first answer.
  std::unique_ptr<AnswerIndex> index_ ABSL_GUARDED_BY(mutex_);
  AnswerIndex::Affected affected_ ABSL_GUARDED_BY(mutex_);
  int searching_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Kept> kept_ ABSL_GUARDED_BY(mutex_);
  // Latest commit that was dropped from kept_ for lack of room.
  std::uint64_t forgotten_revision_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::core
