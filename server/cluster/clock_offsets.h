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

// A report was on its way for a while, which looks as if this clock were ahead by so much more.
//
// Thread safety: any.
class ClockOffsets {
 public:
  // Takes note of a report that a server made at `made` by its clock, and that came at `came` by this one.
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

  // Returns how far this clock is ahead of the middle one of the others, and of two in the middle, of the
  // nearer one: so one clock that is wrong shows at its own server. It is negative if this clock is behind,
  // and zero if there are no others.
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
