// Tells the fleet that this server is there, and hears that others are.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/cluster/clock_offsets.h"
#include "server/cluster/cluster_values.h"
#include "server/etcd/etcd_client.h"
#include "server/etcd/etcd_watch.h"

namespace waystar::cluster {

struct PresenceOptions {
  // How often the server reports, and how long its report stays after the last time.
  absl::Duration interval = absl::Seconds(5);
  absl::Duration time_to_live = absl::Seconds(15);
  // Called with the error when a report could not be put where the last one could, and with OK when it can be
  // put again. May be empty.
  std::function<void(const absl::Status& status)> on_status;
};

// One thread, which puts a report under a lease now and then. It is for those who look at the fleet: it takes
// no part in commits, and what fails is tried again at the next report. Reports of others are watched for
// their times.
//
// Thread safety: one thread, but for clocks().
class Presence {
 public:
  // The client must outlive this, or the call of Stop.
  explicit Presence(etcd::Client& client) : client_(client) {}
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  // Stops.
  ~Presence() { Stop(); }

  // Reports what `report` returns under the key, from now on. All keys of reports begin with `servers`.
  // REQUIRES: it is not started.
  void Start(std::string key, std::string servers, std::function<ServerReport()> report,
             PresenceOptions options);
  // Takes the report away, if etcd had the last one.
  void Stop();

  const ClockOffsets& clocks() const { return clocks_; }

 private:
  void Run();
  // Returns the revision of etcd that has put the report.
  absl::StatusOr<std::int64_t> Report();
  void Tell(const absl::Status& status);
  // Watches the reports from there on, unless they are watched.
  void WatchFrom(std::int64_t revision);
  void OnEvent(const etcd::WatchEvent& event);

  etcd::Client& client_;
  std::string key_;
  std::string servers_;
  std::function<ServerReport()> report_;
  PresenceOptions options_;
  // The thread's: 0 while there is none, or none that is known.
  std::int64_t lease_ = 0;
  absl::Status status_;
  std::unique_ptr<etcd::Watch> watch_;
  // True if the watch has ended because etcd has compacted the next events.
  std::atomic<bool> is_watch_over_ = false;
  ClockOffsets clocks_;

  Mutex mutex_;
  CondVar wake_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace waystar::cluster
