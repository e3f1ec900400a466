// Bound on how many calls of a kind are open at a time.
#pragma once

#include <algorithm>
#include <atomic>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/error.h"

namespace waystar::rpc {

// Thread safety: any.
class CallSlots {
 public:
  // `reason` and `what` tell a caller that finds all slots taken what there are too many of, as "watches are
  // open". The text lives as long as the program.
  CallSlots(int count, ErrorReason reason, absl::string_view what)
      : count_(count), reason_(reason), what_(what), free_(count) {}

  // Takes a slot until Release. Returns RESOURCE_EXHAUSTED with that reason and a retry delay if all are
  // taken already.
  absl::Status Acquire() {
    if (free_.fetch_sub(1, std::memory_order_relaxed) > 0) {
      return absl::OkStatus();
    }
    Release();
    return Refusal(reason_, absl::Seconds(1),
                   absl::StrCat(count_, " ", what_, " already, the server's limit"));
  }

  void Release() { free_.fetch_add(1, std::memory_order_relaxed); }

  int taken() const { return count_ - std::max(free_.load(std::memory_order_relaxed), 0); }

 private:
  const int count_;
  const ErrorReason reason_;
  const absl::string_view what_;
  std::atomic<int> free_;
};

}  // namespace waystar::rpc
