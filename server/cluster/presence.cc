#include "server/cluster/presence.h"

#include <cassert>
#include <chrono>
#include <utility>

#include "absl/status/statusor.h"
#include "server/base/status_macros.h"

namespace waystar::cluster {

void Presence::Start(std::string key, std::function<ServerReport()> report, PresenceOptions options) {
  assert(!thread_.joinable());
  key_ = std::move(key);
  report_ = std::move(report);
  options_ = std::move(options);
  thread_ = std::thread([this] { Run(); });
}

void Presence::Stop() {
  if (!thread_.joinable()) {
    return;
  }
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    wake_.NotifyOne();
  }
  thread_.join();
  if (lease_ != 0 && status_.ok()) {
    // Else it ends by itself.
    client_.RevokeLease(lease_).IgnoreError();
  }
}

void Presence::Run() {
  const auto interval = absl::ToChronoNanoseconds(options_.interval);
  while (true) {
    Tell(Report());
    const auto next = std::chrono::steady_clock::now() + interval;
    MutexLock lock(mutex_);
    while (!is_stopping_ && std::chrono::steady_clock::now() < next) {
      wake_.WaitUntil(mutex_, next);
    }
    if (is_stopping_) {
      return;
    }
  }
}

absl::Status Presence::Report() {
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
  return client_.Commit(txn).status();
}

void Presence::Tell(const absl::Status& status) {
  if (status.ok() != status_.ok() && options_.on_status) {
    options_.on_status(status);
  }
  status_ = status;
}

}  // namespace waystar::cluster
