// How many watches may be open at a time.
#pragma once

#include <algorithm>
#include <atomic>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/base/error.h"

namespace waystar::rpc {

// Thread safety: any.
class WatchSlots {
 public:
  explicit WatchSlots(int count) : count_(count), free_(count) {}

  // RESOURCE_EXHAUSTED / TOO_MANY_WATCHES with a retry delay if all are taken; else one is, until Release.
  absl::Status Acquire() {
    if (free_.fetch_sub(1, std::memory_order_relaxed) > 0) {
      return absl::OkStatus();
    }
    Release();
    return Refusal(ErrorReason::kTooManyWatches, absl::Seconds(1),
                   absl::StrCat(count_, " watches are open already, the server's limit"));
  }

  void Release() { free_.fetch_add(1, std::memory_order_relaxed); }

  int taken() const { return count_ - std::max(free_.load(std::memory_order_relaxed), 0); }

 private:
  const int count_;
  std::atomic<int> free_;
};

}  // namespace waystar::rpc
