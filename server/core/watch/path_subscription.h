// One watched route query, as the index of its map knows it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "server/core/query/route_query.h"
#include "server/core/watch/kept_answer.h"

namespace waystar::core {

// A subscription is idle, waits to be searched for, is being searched for, or is gone.
//
// Thread safety: what is public is set before the subscription is added, and stays; the flag may be set by
// any thread.
class PathSubscription {
 public:
  using Clock = std::chrono::steady_clock;

  PathSubscription() = default;
  PathSubscription(const PathSubscription&) = delete;
  PathSubscription& operator=(const PathSubscription&) = delete;
  virtual ~PathSubscription() = default;

  RouteQuery query;
  // Stops a search that is under way.
  std::atomic<bool> cancelled = false;

  // Returns the last answer; null before the first. Belongs to the thread that searches.
  const KeptAnswerPtr& answer() const { return answer_; }
  // Returns since when the subscription has waited. Belongs to the thread that searches.
  Clock::time_point queued_at() const { return queued_at_; }

 private:
  friend class MapSubscriptions;

  KeptAnswerPtr answer_;

  // These are guarded by the mutex of MapSubscriptions.
  enum class State : std::uint8_t { kIdle, kQueued, kSearching, kGone };
  std::uint64_t id_ = 0;
  State state_ = State::kSearching;
  Clock::time_point queued_at_ = Clock::now();
};

using PathSubscriptionPtr = std::shared_ptr<PathSubscription>;

}  // namespace waystar::core
