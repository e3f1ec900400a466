// Offsets of the other servers' clocks from this one.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"

namespace waystar::cluster {

// Offsets are measured from the reports of other servers. The transit time of a report adds to its offset:
// this clock looks ahead by that much.
//
// Thread safety: any method may be called from any thread.
class ClockOffsets {
 public:
  // Records a report that a server sent at `made` by its own clock and that arrived at `came` by this one.
  void Note(absl::string_view server, absl::Time made, absl::Time came) {
    MutexLock lock(mutex_);
    offsets_[server] = came - made;
  }

  void Forget(absl::string_view server) {
    MutexLock lock(mutex_);
    offsets_.erase(server);
  }

  void ForgetAll() {
    MutexLock lock(mutex_);
    offsets_.clear();
  }

  // Returns how far this clock is ahead of the median of the others; of two medians, the one nearer to zero.
  // So a server with a wrong clock sees its own error. Negative if this clock is behind; zero if there are no
  // other servers.
  absl::Duration Offset() const {
    std::vector<absl::Duration> offsets;
    {
      MutexLock lock(mutex_);
      for (const auto& [server, offset] : offsets_) {
        offsets.push_back(offset);
      }
    }
    if (offsets.empty()) {
      return absl::ZeroDuration();
    }
    std::ranges::sort(offsets);
    const absl::Duration low = offsets[(offsets.size() - 1) / 2];
    const absl::Duration high = offsets[offsets.size() / 2];
    return absl::AbsDuration(low) <= absl::AbsDuration(high) ? low : high;
  }

 private:
  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, absl::Duration> offsets_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::cluster
