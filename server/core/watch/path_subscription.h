// One subscribed route query, as stored by MapSubscriptions.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "server/core/query/route_query.h"
#include "server/core/watch/kept_answer.h"

namespace waystar::core {

// A subscription is idle, queued for a search, being searched for, or gone.
//
// Thread safety: public members are set before the subscription is added and do not change, except
// `cancelled`, which any thread may set.
class PathSubscription {
 public:
  using Clock = std::chrono::steady_clock;

  PathSubscription() = default;
  PathSubscription(const PathSubscription&) = delete;
  PathSubscription& operator=(const PathSubscription&) = delete;
  virtual ~PathSubscription() = default;

  RouteQuery query;
  // Cancels a running search.
  std::atomic<bool> cancelled = false;

  // Returns the last answer; null before the first. Only for the searching thread.
  const KeptAnswerPtr& answer() const { return answer_; }
  // Returns when the subscription was queued. Only for the searching thread.
  Clock::time_point queued_at() const { return queued_at_; }

 private:
  friend class MapSubscriptions;

  KeptAnswerPtr answer_;

  // The members below are guarded by the mutex of MapSubscriptions.
  enum class State : std::uint8_t { kIdle, kQueued, kSearching, kGone };
  std::uint64_t id_ = 0;
  State state_ = State::kSearching;
  Clock::time_point queued_at_ = Clock::now();
};

using PathSubscriptionPtr = std::shared_ptr<PathSubscription>;

}  // namespace waystar::core
