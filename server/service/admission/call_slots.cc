#include "server/service/admission/call_slots.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace waystar::rpc {
namespace {

constexpr std::size_t kPlacesOfSlot = 16;
constexpr std::size_t kMostPlaces = 1024;

// Retry delay of a busy client, long enough for some of its calls to be answered.
constexpr absl::Duration kClientBusyDelay = absl::Milliseconds(50);

}  // namespace

CallSlots::CallSlots(int count, ErrorReason reason, absl::string_view what)
    : count_(count),
      reason_(reason),
      what_(what),
      slots_(Quota<std::uint64_t>::Shared(static_cast<std::size_t>(count))),
      places_(Quota<std::uint64_t>::Shared(
          std::min(static_cast<std::size_t>(count) * kPlacesOfSlot, kMostPlaces))) {}

absl::Status CallSlots::Acquire(std::uint64_t client) {
  MutexLock lock(mutex_);
  return slots_.Take(client) ? absl::OkStatus() : Refuse();
}

absl::StatusOr<bool> CallSlots::AcquireOrWait(std::uint64_t client, Waiter& waiter) {
  MutexLock lock(mutex_);
  if (slots_.Take(client)) {
    return true;
  }
  if (!places_.Take(client)) {
    return Refuse();
  }
  line_.push_back({.waiter = &waiter, .client = client});
  return false;
}

bool CallSlots::StopWaiting(const Waiter& waiter) {
  MutexLock lock(mutex_);
  const auto waiting =
      std::find_if(line_.begin(), line_.end(), [&](const Waiting& each) { return each.waiter == &waiter; });
  if (waiting == line_.end()) {
    return false;
  }
  places_.GiveBack(waiting->client);
  line_.erase(waiting);
  return true;
}

void CallSlots::Release(std::uint64_t client) {
  std::vector<Waiter*> served;
  {
    MutexLock lock(mutex_);
    slots_.GiveBack(client);
    for (auto each = line_.begin(); each != line_.end() && slots_.free() > 0;) {
      const auto waiting = each++;
      if (slots_.Take(waiting->client)) {
        served.push_back(waiting->waiter);
        places_.GiveBack(waiting->client);
        line_.erase(waiting);
      }
    }
  }
  for (Waiter* const waiter : served) {
    waiter->OnSlot();
  }
}

CallSlots::Counts CallSlots::counts() const {
  MutexLock lock(mutex_);
  return {.taken = static_cast<int>(slots_.total()),
          .waiting = static_cast<int>(line_.size()),
          .refused_all = refused_all_,
          .refused_client = refused_client_};
}

absl::Status CallSlots::Refuse() {
  const bool is_full = slots_.free() == 0;
  ++(is_full ? refused_all_ : refused_client_);
  return Refusal(reason_, absl::Seconds(1),
                 is_full
                     ? absl::StrCat(count_, " ", what_, " already, the server's limit")
                     : absl::StrCat("this client has its share of the ", count_,
                                    " that may be: ", slots_.total(), " ", what_, ", its own and others'"));
}

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
