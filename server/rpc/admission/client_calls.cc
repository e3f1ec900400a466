#include "server/rpc/admission/client_calls.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

// The delay is long enough for some of the client's calls to be answered.
constexpr absl::Duration kClientBusyDelay = absl::Milliseconds(50);

}  // namespace

absl::Status ClientCalls::Enter(std::uint64_t client) {
  MutexLock lock(mutex_);
  int& calls = calls_[client];
  if (calls >= max_calls_) {
    ++refused_;
    return Refusal(ErrorReason::kClientBusy, kClientBusyDelay,
                   absl::StrCat("the client has ", calls, " calls waiting or running, as many as it may"));
  }
  ++calls;
  ++total_;
  return absl::OkStatus();
}

void ClientCalls::Leave(std::uint64_t client) {
  MutexLock lock(mutex_);
  const auto it = calls_.find(client);
  --total_;
  if (--it->second == 0) {
    calls_.erase(it);
  }
}

ClientCalls::Counts ClientCalls::counts() const {
  MutexLock lock(mutex_);
  return {.clients = calls_.size(), .calls = total_, .refused = refused_};
}

}  // namespace waystar::rpc
