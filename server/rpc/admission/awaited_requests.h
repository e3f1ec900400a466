// Bound on the calls whose headers are here and whose request is not.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "grpc/grpc.h"
#include "server/base/mutex.h"
#include "server/base/periodic_thread.h"
#include "server/base/quota.h"
#include "server/runtime/metric_sink.h"

namespace waystar::rpc {

// A call that has begun takes some 14 KiB of the RPC library until its request is there. So it has a place
// here meanwhile, of which a holder has a share by the rule of Quota::Shared, and a time in which its request
// must arrive. A holder that begins one more than its share loses its oldest: the request of an honest call
// arrives within moments, and so is never the oldest.
//
// Thread safety: any.
class AwaitedRequests final : public runtime::MetricSource {
 public:
  using Clock = std::chrono::steady_clock;

  struct Limits {
    std::size_t max_requests = 8192;
    // From the headers on.
    Clock::duration patience = std::chrono::seconds(10);
  };

  // `kind` names the calls in metrics, such as "requests". It lives as long as the program.
  AwaitedRequests(absl::string_view kind, const Limits& limits)
      : kind_(kind), limits_(limits), shares_(Quota<std::uint64_t>::Shared(limits.max_requests)) {}

  // A call that waits. Thread safety: as the call that it is for, one Enter and one Leave.
  class Place {
   public:
    Place() = default;
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    friend AwaitedRequests;
    std::list<Place*>::iterator position_;
    grpc_call* call_ = nullptr;
    std::uint64_t holder_ = 0;
    Clock::time_point begin_;
    bool is_waiting_ = false;
  };

  // Counts a call of that holder until Leave. Where there is no room, another call is cancelled with
  // RESOURCE_EXHAUSTED: the oldest of the holder if it has its share, else the oldest of all.
  void Enter(std::uint64_t holder, grpc_call* call, Clock::time_point now, Place& place);
  // Returns false if the call was cancelled here.
  bool Leave(Place& place);

  // Cancels the calls that have waited for too long, with DEADLINE_EXCEEDED.
  void EndLate(Clock::time_point now);

  // Calls EndLate again and again from now on.
  void StartEnding();

  void Collect(runtime::MetricSink& sink) const override;

 private:
  // In the order of their arrival.
  using Line = std::list<Place*>;

  // Returns the call, which the caller is to cancel and let go of.
  grpc_call* Take(Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // REQUIRES: a call waits.
  Place& Oldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const absl::string_view kind_;
  const Limits limits_;
  mutable Mutex mutex_;
  Quota<std::uint64_t> shares_ ABSL_GUARDED_BY(mutex_);
  // Of each holder that has any.
  absl::flat_hash_map<std::uint64_t, Line> lines_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t crowded_out_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t late_ ABSL_GUARDED_BY(mutex_) = 0;
  PeriodicThread ending_;
};

}  // namespace waystar::rpc
