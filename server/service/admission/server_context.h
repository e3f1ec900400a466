// Server-wide state shared with each call, from the gate to the slots.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/service/admission/awaited_requests.h"
#include "server/service/admission/call_gate.h"
#include "server/service/admission/call_memory.h"
#include "server/service/admission/call_slots.h"
#include "server/service/admission/call_statistics.h"
#include "server/service/admission/executor.h"
#include "server/service/admission/version_waits.h"
#include "server/service/auth/access_control.h"

namespace waystar::rpc {

// How up to date this server is, and look-ups in the log. Thread safety: any, but for SetNewest.
class FleetNews {
 public:
  using Clock = std::chrono::steady_clock;
  using NewestDone = absl::AnyInvocable<void(absl::StatusOr<std::int64_t> revision) &&>;
  using AskNewest = std::function<void(absl::string_view map, NewestDone done)>;

  // Answers report their staleness from this age on. etcd is asked for its newest revision every half second,
  // and reaching it takes about as long to be known.
  static constexpr std::chrono::seconds kQuietTime{3};

  // `is_fleet` is true if the server is, or will be, in a fleet.
  explicit FleetNews(bool is_fleet) : is_fleet_(is_fleet) {}
  FleetNews(const FleetNews&) = delete;
  FleetNews& operator=(const FleetNews&) = delete;

  bool is_fleet() const { return is_fleet_; }

  // Sets the function that asks, as cluster::Fleet::AskNewest does. REQUIRES: no call asks yet.
  void SetNewest(AskNewest ask) { ask_ = std::move(ask); }
  // Calls `done` once, on any thread, with the revision of the fleet's log that made the newest version of
  // the map. REQUIRES: SetNewest was called.
  void Newest(absl::string_view map, NewestDone done) const { ask_(map, std::move(done)); }

  // Records the time at which the server was up to date.
  void OnHeard(Clock::time_point heard) { heard_.store(heard, std::memory_order_relaxed); }

  // Returns the time since the last OnHeard if it is at least kQuietTime; nullopt if it is less, or if there
  // was none. Costs one load.
  std::optional<std::chrono::nanoseconds> QuietFor(Clock::time_point now) const {
    const Clock::time_point heard = heard_.load(std::memory_order_relaxed);
    return heard == kNever || now - heard < kQuietTime ? std::nullopt : std::optional(now - heard);
  }

 private:
  const bool is_fleet_;
  AskNewest ask_;
  // Outside the range of the clock.
  static constexpr Clock::time_point kNever = Clock::time_point::min();

  std::atomic<Clock::time_point> heard_ = kNever;
};

// Built by the server, which owns the referenced objects; they outlive every call.
struct ServerContext {
  CallGate& gate;
  const AccessControl& access;
  // Requests of identified callers, and of all others, which have fewer places.
  AwaitedRequests& awaited_requests;
  AwaitedRequests& awaited_of_strangers;
  CallStatistics& statistics;
  // Counts the calls of each client, except those on Lane::kHere.
  ClientCalls& client_calls;
  CallMemory& memory;
  Executor& executor;
  // Bounds imports, exports and traces together.
  CallSlots& transfers;
  CallSlots& watches;
  // Bounds streams of queries, of updates and of agents.
  CallSlots& streams;
  // Bounds the agents of those.
  CallSlots& agents;
  VersionWaits& version_waits;
  const FleetNews& fleet;
};

}  // namespace waystar::rpc
