// The open connections of an HTTP server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"
#include "server/http/http_connection.h"
#include "server/http/http_limits.h"
#include "server/net/network.h"

namespace waystar::http {

// Keeps connections within the limits, in all and by network. Where there is no room, one that serves no
// request makes room: first one whose client has shown nothing that it may be here, then one of the network
// that has most, then the oldest.
//
// Thread safety: any.
class ConnectionSet {
 public:
  explicit ConnectionSet(const HttpLimits& limits)
      : limits_(limits),
        places_(Quota<net::Network>::Fixed(limits.max_connections, limits.max_network_connections)) {}

  // Makes room for a connection of that network. Returns false if there is none.
  bool MakeRoom(const net::Network& network);
  // Ends one connection, for the sake of what it holds. Returns false if all serve requests.
  bool EndOne();

  void Add(std::shared_ptr<HttpConnection> connection);
  void Remove(const HttpConnection& connection);

  void Tick(std::chrono::steady_clock::time_point now) const;
  // Ends those that serve no request.
  void EndWaiting() const;
  void EndAll() const;
  std::size_t size() const;
  std::uint64_t evicted() const;

  // Returns when there are no connections, or at `deadline`.
  void WaitUntilEmpty(std::chrono::steady_clock::time_point deadline);

 private:
  using Connections = std::vector<std::shared_ptr<HttpConnection>>;

  // A null network stands for any.
  bool Evict(const net::Network* network) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(Connections::iterator connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const HttpLimits& limits_;
  mutable Mutex mutex_;
  CondVar changed_;
  // The oldest stands first.
  Connections connections_ ABSL_GUARDED_BY(mutex_);
  Quota<net::Network> places_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t evicted_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::http
