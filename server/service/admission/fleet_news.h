// What calls learn of the fleet that the server is one of.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::rpc {

// Thread safety: any, but for SetNewest.
class FleetNews {
 public:
  using Clock = std::chrono::steady_clock;
  using NewestDone = absl::AnyInvocable<void(absl::StatusOr<std::int64_t> revision) &&>;
  using AskNewest = std::function<void(absl::string_view map, NewestDone done)>;

  // Answers tell how old they may be once it is so long: etcd is asked for its newest revision every half a
  // second, which takes about as long to be known as reached.
  static constexpr std::chrono::seconds kQuietTime{3};

  // `is_fleet`: whether the server is one of a fleet, or is going to be.
  explicit FleetNews(bool is_fleet) : is_fleet_(is_fleet) {}
  FleetNews(const FleetNews&) = delete;
  FleetNews& operator=(const FleetNews&) = delete;

  bool is_fleet() const { return is_fleet_; }

  // Sets how to ask, as cluster::Fleet::AskNewest does. REQUIRES: no call asks yet.
  void SetNewest(AskNewest ask) { ask_ = std::move(ask); }
  // Calls `done` once with the revision of the fleet's log that has made the newest version of the map, on
  // any thread. REQUIRES: SetNewest was called.
  void Newest(absl::string_view map, NewestDone done) const { ask_(map, std::move(done)); }

  // Takes note that the server had all that there was at that time.
  void OnHeard(Clock::time_point heard) {
    heard_.store(heard.time_since_epoch().count(), std::memory_order_relaxed);
  }

  // Returns how long ago that was, if it is kQuietTime or more; nothing if OnHeard was never called. It costs
  // one load.
  std::optional<std::chrono::nanoseconds> QuietFor(Clock::time_point now) const {
    const Clock::rep heard = heard_.load(std::memory_order_relaxed);
    if (heard == kNever) {
      return std::nullopt;
    }
    const Clock::duration age = now.time_since_epoch() - Clock::duration(heard);
    return age >= kQuietTime ? std::optional<std::chrono::nanoseconds>(age) : std::nullopt;
  }

 private:
  const bool is_fleet_;
  AskNewest ask_;
  // No time of the clock, which may go back behind the start of the machine.
  static constexpr Clock::rep kNever = std::numeric_limits<Clock::rep>::min();

  // In ticks of the clock.
  std::atomic<Clock::rep> heard_ = kNever;
};

}  // namespace waystar::rpc
