#include "server/service/admission/client_calls.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

// Long enough for some of the client's calls to be answered.
constexpr absl::Duration kClientBusyDelay = absl::Milliseconds(50);

}  // namespace

absl::Status ClientCalls::Enter(std::uint64_t client) {
  MutexLock lock(mutex_);
  if (calls_.Take(client)) {
    return absl::OkStatus();
  }
  ++refused_;
  return Refusal(
      ErrorReason::kClientBusy, kClientBusyDelay,
      absl::StrCat("the client has ", calls_.Of(client), " calls waiting or running, as many as it may"));
}

void ClientCalls::Leave(std::uint64_t client) {
  MutexLock lock(mutex_);
  calls_.GiveBack(client);
}

ClientCalls::Counts ClientCalls::counts() const {
  MutexLock lock(mutex_);
  return {.clients = calls_.holders(), .calls = calls_.total(), .refused = refused_};
}

}  // namespace waystar::rpc
