// Fake clock, which stands still until it is moved.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "server/base/clock.h"

namespace waystar {

// Thread safety: all methods may be called from any thread at the same time.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(absl::Time start = absl::FromUnixSeconds(1'700'000'000))
      : nanos_(absl::ToUnixNanos(start)) {}

  absl::Time Now() const override { return absl::FromUnixNanos(nanos_.load()); }
  void Advance(absl::Duration by) { nanos_ += absl::ToInt64Nanoseconds(by); }

 private:
  std::atomic<std::int64_t> nanos_;
};

}  // namespace waystar
