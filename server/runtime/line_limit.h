// Limit on the log lines of one kind that clients can cause.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"

namespace waystar::runtime {

// Admits kLines lines a second, and counts those that it leaves out for the next one to tell of.
//
// Thread safety: any.
class LineLimit {
 public:
  static constexpr int kLines = 10;

  // The clock must outlive this.
  explicit LineLimit(const Clock& clock = Clock::Steady()) : clock_(clock) {}

  // Returns how many lines were left out since the last that was admitted, if one may be written now.
  std::optional<std::uint64_t> Admit();
  // Counts a line that is left out for another reason.
  void LeaveOut();

 private:
  const Clock& clock_;
  Mutex mutex_;
  absl::Time second_begin_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  int lines_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::runtime
