#include "server/runtime/line_limit.h"

#include <utility>

namespace waystar::runtime {

std::optional<std::uint64_t> LineLimit::Admit() {
  const absl::Time now = clock_.Now();
  MutexLock lock(mutex_);
  if (now - second_begin_ >= absl::Seconds(1)) {
    second_begin_ = now;
    lines_ = 0;
  }
  if (lines_ == kLines) {
    ++left_out_;
    return std::nullopt;
  }
  ++lines_;
  return std::exchange(left_out_, 0);
}

void LineLimit::LeaveOut() {
  MutexLock lock(mutex_);
  ++left_out_;
}

}  // namespace waystar::runtime
