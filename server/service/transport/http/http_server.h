// HTTP/1.1 server, with or without TLS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/service/transport/http/http_handler.h"

namespace boost::asio::ssl {
class context;
}  // namespace boost::asio::ssl

namespace waystar::http {

using TlsContext = boost::asio::ssl::context;

// All in PEM format.
struct TlsIdentity {
  // Certificate chain of the server.
  std::string certificates;
  // Private key, without a password.
  std::string key;
  // Root certificates for client certificates; empty if clients need none.
  std::string client_roots = {};
};

// Makes a context for TLS 1.2 and later, which any number of connections may share. Returns INVALID_ARGUMENT
// if the certificates or the key are invalid or do not match.
absl::StatusOr<std::shared_ptr<TlsContext>> MakeTlsContext(const TlsIdentity& identity);

struct HttpServerOptions {
  // Address in the format of net::Listener. Port 0 chooses a free one.
  std::string listen;
  HttpLimits limits;
  // Returns the non-null TLS context of the next connection; called by the server's thread for each accepted
  // one. Empty for plain text.
  std::function<std::shared_ptr<TlsContext>()> tls;
};

struct HttpServerCounts {
  std::size_t connections = 0;
  // Memory of request bodies, and unsent bytes of answers.
  std::size_t body_bytes = 0;
  std::size_t waiting_bytes = 0;
  // Counters since the start: connections reset for lack of room or admission, evicted, and closed as
  // stalled; requests with a valid head.
  std::uint64_t refused = 0;
  std::uint64_t evicted = 0;
  std::uint64_t stalled = 0;
  std::uint64_t requests = 0;
};

// Serves HTTP/1.1 and 1.0 until it is stopped, with one thread, which never blocks on a client. An ambiguous
// head is rejected, and its connection closed. Requests of one connection are served one after another. At a
// limit of connections, evicts one that serves no request: first one of an unauthenticated client, then one
// of the network with most connections, then the oldest.
//
// Thread safety: any method may be called from any thread, except Stop.
class HttpServer {
 public:
  // Starts a server. `handler` must outlive it. Returns INVALID_ARGUMENT for an invalid address, and
  // UNAVAILABLE if it cannot listen; both messages begin with the address.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(HttpServerOptions options, HttpHandler& handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // Stops listening, closes the connections that serve no request, and the others after their answer or after
  // `grace`, at most a day. The handler is not called after this returns.
  // REQUIRES: the caller is not the handler.
  void Stop(absl::Duration grace = absl::ZeroDuration());

  int port() const;
  HttpServerCounts counts() const;

 private:
  class Core;

  explicit HttpServer(std::unique_ptr<Core> core);

  const std::unique_ptr<Core> core_;
};

}  // namespace waystar::http
