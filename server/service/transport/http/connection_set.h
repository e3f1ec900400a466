// Open connections of an HTTP server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"
#include "server/service/transport/http/http_connection.h"
#include "server/service/transport/http/http_handler.h"
#include "server/service/transport/net/network.h"

namespace waystar::http {

// Enforces the limits on connections, in total and by network. At a limit, evicts a connection that serves no
// request: first one of an unauthenticated client, then one of the network with most connections, then the
// oldest.
//
// Thread safety: any method may be called from any thread.
class ConnectionSet {
 public:
  explicit ConnectionSet(const HttpLimits& limits)
      : limits_(limits),
        places_(Quota<net::Network>::Fixed(limits.max_connections, limits.max_network_connections)) {}

  // Makes room for a connection of that network. Returns false if that is impossible.
  bool MakeRoom(const net::Network& network);
  // Evicts one connection, to free its descriptor. Returns false if all serve requests.
  bool EndOne();

  void Add(std::shared_ptr<HttpConnection> connection);
  void Remove(const HttpConnection& connection);

  void Tick(std::chrono::steady_clock::time_point now) const;
  // Closes all connections that serve no request.
  void EndWaiting() const;
  void EndAll() const;
  std::size_t size() const;
  std::uint64_t evicted() const;

  // Waits until there are no connections, or until `deadline`.
  void WaitUntilEmpty(std::chrono::steady_clock::time_point deadline);

 private:
  using Connections = std::vector<std::shared_ptr<HttpConnection>>;

  // Evicts a connection of the network, or of any network if null. Returns false if there is none to evict.
  bool Evict(const net::Network* network) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(Connections::iterator connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const HttpLimits& limits_;
  mutable Mutex mutex_;
  CondVar changed_;
  // Oldest first.
  Connections connections_ ABSL_GUARDED_BY(mutex_);
  Quota<net::Network> places_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t evicted_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::http
