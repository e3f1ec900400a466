// Publishes this server's report to the fleet, and follows the reports of the others.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/etcd/etcd_watch.h"
#include "server/storage/fleet/cluster_values.h"

namespace waystar::cluster {

// Offsets of the other servers' clocks from this one. They are measured from the reports of other servers.
// The transit time of a report adds to its offset: this clock looks ahead by that much.
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

struct PresenceOptions {
  // Interval of the reports, and lifetime of a report after the last renewal.
  absl::Duration interval = absl::Seconds(5);
  absl::Duration time_to_live = absl::Seconds(15);
  // Called with the error when reports begin to fail, and with OK when they succeed again. May be empty.
  std::function<void(const absl::Status& status)> on_status;
};

// One thread that puts a report under a lease at each interval. Reports are for monitoring only: commits do
// not depend on them, and a failed report is retried at the next interval. The reports of other servers are
// watched to compare clocks.
//
// Thread safety: one thread, except clocks().
class Presence {
 public:
  // The client must outlive this object, or the call of Stop.
  explicit Presence(etcd::Client& client) : client_(client) {}
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  ~Presence() { Stop(); }

  // Starts to put the result of `report` under `key`. `servers` is the common prefix of all report keys.
  // REQUIRES: it is not started.
  void Start(std::string key, std::string servers, std::function<ServerReport()> report,
             PresenceOptions options);
  // Ends the thread, and removes the report if the last one succeeded.
  void Stop();

  const ClockOffsets& clocks() const { return clocks_; }

 private:
  void Run();
  // Puts a report. Returns its etcd revision.
  absl::StatusOr<std::int64_t> Report();
  void Tell(const absl::Status& status);
  // Starts the watch at that revision, unless it is running.
  void WatchFrom(std::int64_t revision);
  void OnEvent(const etcd::WatchEvent& event);

  etcd::Client& client_;
  std::string key_;
  std::string servers_;
  std::function<ServerReport()> report_;
  PresenceOptions options_;
  // Used by the thread only. The lease is 0 if there is none.
  std::int64_t lease_ = 0;
  absl::Status status_;
  std::unique_ptr<etcd::Watch> watch_;
  // True if the watch has ended because etcd compacted the next events.
  std::atomic<bool> is_watch_over_ = false;
  ClockOffsets clocks_;

  Mutex mutex_;
  StoppableThread thread_;
};

}  // namespace waystar::cluster
