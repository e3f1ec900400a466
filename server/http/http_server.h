// An HTTP/1.1 server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/http/http_handler.h"
#include "server/http/http_limits.h"
#include "server/http/tls_context.h"

namespace waystar::http {

struct HttpServerOptions {
  // At least one address, as net::Listener takes them. Port 0 takes a free one.
  std::vector<std::string> listen;
  // How many threads serve all connections: at least 1. They wait for no client.
  int threads = 1;
  HttpLimits limits;
  // Returns the context of the next connection, which is not null. A thread of the server calls it for each
  // one that it accepts. Empty for plain text.
  std::function<std::shared_ptr<TlsContext>()> tls;
};

struct HttpServerCounts {
  std::size_t connections = 0;
  // What bodies of requests hold, and what waits to be sent.
  std::size_t body_bytes = 0;
  std::size_t waiting_bytes = 0;
  // Since the start: connections that were accepted, reset for lack of room, ended to make room, and ended as
  // nobody read; requests whose heads were legal.
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint64_t evicted = 0;
  std::uint64_t stalled = 0;
  std::uint64_t requests = 0;
};

// Serves HTTP/1.1 and 1.0 until it is stopped. A head that programs could read in two ways is refused, and
// its connection ends. Requests of one connection are served one after the other.
//
// Thread safety: any; Stop one thread.
class HttpServer {
 public:
  // `handler` must outlive the server. Returns INVALID_ARGUMENT for addresses that make no sense,
  // UNAVAILABLE if it cannot listen.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(HttpServerOptions options, HttpHandler& handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // Listens no more, ends the connections that serve no request, and the others with their answer or after
  // `grace`, of at most a day. The handler is not called any more when it returns. It must not be called in
  // the handler.
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

}  // namespace waystar::http
