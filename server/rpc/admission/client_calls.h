// How many calls each client has waiting or running.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/base/mutex.h"

namespace waystar::rpc {

// Clients are known by the hashes of runtime::Flow. Thread safety: any.
class ClientCalls {
 public:
  // `max_calls` of one client, on both pools or on their way from one to the other.
  explicit ClientCalls(int max_calls) : max_calls_(max_calls) {}

  // Takes a call of that client in, until Leave. RESOURCE_EXHAUSTED / CLIENT_BUSY with a retry delay, and
  // nothing to leave, if it has as many as a client may have.
  absl::Status Enter(std::uint64_t client);
  void Leave(std::uint64_t client);

  struct Counts {
    // That have calls now.
    std::size_t clients = 0;
    // Calls of all of them.
    std::size_t calls = 0;
    std::uint64_t refused = 0;
  };
  Counts counts() const;

 private:
  const int max_calls_;
  mutable Mutex mutex_;
  absl::flat_hash_map<std::uint64_t, int> calls_ ABSL_GUARDED_BY(mutex_);
  std::size_t total_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::rpc
