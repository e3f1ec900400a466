#include "server/rpc/admission/message_memory.h"

#include "absl/time/time.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

// The delay is long enough for a client on a slow line to read some of its answers.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(100);

constexpr std::size_t kClients = 4;

}  // namespace

absl::StatusOr<MessageMemory::Share> MessageMemory::TakeLarge(std::uint64_t client, std::size_t bytes) {
  MutexLock lock(mutex_);
  const auto own = clients_.find(client);
  const std::size_t had = own == clients_.end() ? 0 : own->second;
  // A client that has nothing may have one message of any size that the server takes.
  if (counts_.bytes + bytes > max_bytes_ || (had > 0 && had + bytes > max_bytes_ / kClients)) {
    ++counts_.refused;
    return Refusal(ErrorReason::kMessagesBusy, kRetryDelay,
                   "requests that are being answered and answers that wait to be read take as much memory as "
                   "they may");
  }
  clients_[client] = had + bytes;
  counts_.bytes += bytes;
  return Share(*this, client, bytes);
}

void MessageMemory::GiveBack(std::uint64_t client, std::size_t bytes) {
  MutexLock lock(mutex_);
  counts_.bytes -= bytes;
  const auto own = clients_.find(client);
  own->second -= bytes;
  if (own->second == 0) {
    clients_.erase(own);
  }
}

MessageMemory::Counts MessageMemory::counts() const {
  MutexLock lock(mutex_);
  return counts_;
}

}  // namespace waystar::rpc
