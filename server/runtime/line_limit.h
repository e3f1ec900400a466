// Rate limit for one kind of log line that clients can cause.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"

namespace waystar::runtime {

// Admits kLines lines per second. The next admitted line reports how many were suppressed.
//
// Thread safety: any method may be called from any thread.
class LineLimit {
 public:
  static constexpr int kLines = 10;

  // The clock must outlive this.
  explicit LineLimit(const Clock& clock = Clock::Steady()) : clock_(clock) {}

  // Returns nullopt if the line must be suppressed. Otherwise returns how many were suppressed since the last
  // admitted one.
  std::optional<std::uint64_t> Admit();
  // Counts a line that was suppressed for another reason.
  void LeaveOut();

 private:
  const Clock& clock_;
  Mutex mutex_;
  absl::Time second_begin_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  int lines_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::runtime
