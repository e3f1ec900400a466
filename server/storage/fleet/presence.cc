#include "server/storage/fleet/presence.h"

#include <chrono>
#include <utility>

#include "absl/time/clock.h"
#include "server/base/error.h"

namespace waystar::cluster {

void Presence::Start(std::string key, std::string servers, std::function<ServerReport()> report,
                     PresenceOptions options) {
  key_ = std::move(key);
  servers_ = std::move(servers);
  report_ = std::move(report);
  options_ = std::move(options);
  thread_.Start("presence", [this] { Run(); });
}

void Presence::Stop() {
  if (!thread_.Stop(mutex_)) {
    return;
  }
  watch_.reset();
  if (lease_ != 0 && status_.ok()) {
    // Otherwise the lease expires.
    client_.RevokeLease(lease_).IgnoreError();
  }
}

void Presence::Run() {
  const auto interval = absl::ToChronoNanoseconds(options_.interval);
  while (true) {
    const absl::StatusOr<std::int64_t> reported = Report();
    Tell(reported.status());
    if (reported.ok()) {
      WatchFrom(*reported);
    }
    const auto next = std::chrono::steady_clock::now() + interval;
    MutexLock lock(mutex_);
    if (!thread_.SleepUntil(mutex_, next)) {
      return;
    }
  }
}

absl::StatusOr<std::int64_t> Presence::Report() {
  if (lease_ != 0) {
    WAYSTAR_ASSIGN_OR_RETURN(const bool is_kept, client_.KeepLease(lease_));
    if (!is_kept) {
      lease_ = 0;
    }
  }
  if (lease_ == 0) {
    WAYSTAR_ASSIGN_OR_RETURN(lease_, client_.GrantLease(options_.time_to_live));
  }
  etcd::Txn txn;
  txn.then.emplace_back(etcd::Put{.key = key_, .value = Encode(report_()), .lease = lease_});
  WAYSTAR_ASSIGN_OR_RETURN(const etcd::TxnResult put, client_.Commit(txn));
  return put.revision;
}

void Presence::WatchFrom(std::int64_t revision) {
  if (is_watch_over_.exchange(false)) {
    watch_.reset();
    // The watch may have missed that servers ended. The living ones report again.
    clocks_.ForgetAll();
  }
  if (watch_ != nullptr) {
    return;
  }
  etcd::WatchCallbacks callbacks;
  callbacks.on_events = [this](std::int64_t /*revision*/, const std::vector<etcd::WatchEvent>& events) {
    for (const etcd::WatchEvent& event : events) {
      OnEvent(event);
    }
  };
  callbacks.on_compacted = [this](std::int64_t /*first_left*/) { is_watch_over_ = true; };
  watch_ = std::make_unique<etcd::Watch>(client_, servers_, revision, std::move(callbacks));
}

void Presence::OnEvent(const etcd::WatchEvent& event) {
  if (event.is_delete) {
    clocks_.Forget(event.key);
  } else if (const absl::StatusOr<ServerReport> report = Decode<ServerReport>(event.value);
             report.ok() && event.key != key_) {
    clocks_.Note(event.key, report->report_time, absl::Now());
  }
}

void Presence::Tell(const absl::Status& status) {
  if (status.ok() != status_.ok() && options_.on_status) {
    options_.on_status(status);
  }
  status_ = status;
}

}  // namespace waystar::cluster
