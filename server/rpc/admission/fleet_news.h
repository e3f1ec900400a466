// What calls learn of the fleet that the server is one of.
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

namespace waystar::rpc {

// Thread safety: any, but for SetNewest.
class FleetNews {
 public:
  using Clock = std::chrono::steady_clock;
  using NewestDone = absl::AnyInvocable<void(absl::StatusOr<std::int64_t> revision) &&>;
  using AskNewest = std::function<void(absl::string_view map, NewestDone done)>;

  // Answers tell how long nothing was heard once it is so long: a fleet that is at rest is asked for a sign
  // of life every two and a half seconds.
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

  // Takes note that the server has all that there is.
  void OnHeard() { heard_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed); }

  // Returns how long ago OnHeard was called, if that is kQuietTime or more; nothing if it was never called.
  // It costs one load.
  std::optional<std::chrono::nanoseconds> QuietFor(Clock::time_point now) const {
    const Clock::rep heard = heard_.load(std::memory_order_relaxed);
    const Clock::duration age = now.time_since_epoch() - Clock::duration(heard);
    return heard != 0 && age >= kQuietTime ? std::optional<std::chrono::nanoseconds>(age) : std::nullopt;
  }

 private:
  const bool is_fleet_;
  AskNewest ask_;
  // In ticks of the clock; 0 before the first time.
  std::atomic<Clock::rep> heard_ = 0;
};

}  // namespace waystar::rpc
