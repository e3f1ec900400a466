// HTTP/1.1 server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"
#include "server/service/transport/http/http_connection.h"
#include "server/service/transport/http/http_handler.h"
#include "server/service/transport/http/tls_context.h"
#include "server/service/transport/net/connection_table.h"

namespace waystar::http {

struct HttpServerOptions {
  // At least one address, as net::Listener takes them. Port 0 chooses a free one.
  std::vector<std::string> listen;
  // Number of threads for all connections, at least 1. They never block on a client.
  int threads = 1;
  HttpLimits limits;
  // Returns the non-null TLS context of the next connection; called by a thread of the server for each
  // accepted one. Empty for plain text.
  std::function<std::shared_ptr<TlsContext>()> tls;
};

struct HttpServerCounts {
  std::size_t connections = 0;
  // Memory of request bodies, and unsent bytes of answers.
  std::size_t body_bytes = 0;
  std::size_t waiting_bytes = 0;
  // Counters since the start: connections accepted, reset for lack of room or admission, evicted, and closed
  // as stalled; requests with a valid head.
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint64_t evicted = 0;
  std::uint64_t stalled = 0;
  std::uint64_t requests = 0;
};

// Serves HTTP/1.1 and 1.0 until it is stopped. An ambiguous head is rejected, and its connection closed.
// Requests of one connection are served one after another.
//
// Thread safety: any method may be called from any thread, except Stop.
class HttpServer {
 public:
  // Starts a server. `handler` must outlive it. Returns INVALID_ARGUMENT for an invalid address, and
  // UNAVAILABLE if it cannot listen.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(HttpServerOptions options, HttpHandler& handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // Stops listening, closes the connections that serve no request, and the others after their answer or after
  // `grace`, at most a day. The handler is not called after this returns.
  // REQUIRES: the caller is not the handler.
  void Stop(absl::Duration grace = absl::ZeroDuration());

  // Returns the port of the first address.
  int port() const { return ports().front(); }
  // Returns the port of each address.
  const std::vector<int>& ports() const;
  HttpServerCounts counts() const;

 private:
  class Core;

  explicit HttpServer(std::unique_ptr<Core> core);

  const std::unique_ptr<Core> core_;
};

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
