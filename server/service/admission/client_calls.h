// Limit on the waiting and running calls of each client.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"

namespace waystar::rpc {

// Counts the calls of each client, identified by its hash in runtime::Flow. Thread safety: any.
class ClientCalls {
 public:
  // `max_calls` bounds the calls of one client, on both pools or moving between them.
  explicit ClientCalls(int max_calls)
      : calls_(Quota<std::uint64_t>::Fixed(Quota<std::uint64_t>::kAny, static_cast<std::size_t>(max_calls))) {
  }

  // Counts a call of that client until Leave. Returns RESOURCE_EXHAUSTED / CLIENT_BUSY with a retry delay,
  // and nothing to leave, if the client has reached its limit.
  absl::Status Enter(std::uint64_t client);
  void Leave(std::uint64_t client);

  struct Counts {
    // Clients with calls.
    std::size_t clients = 0;
    // Calls of all clients.
    std::size_t calls = 0;
    std::uint64_t refused = 0;
  };
  Counts counts() const;

 private:
  mutable Mutex mutex_;
  Quota<std::uint64_t> calls_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::rpc
