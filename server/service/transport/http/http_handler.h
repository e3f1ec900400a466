// The handler of an HTTP server, and the limits that its owner sets.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "server/service/transport/http/request_body.h"
#include "server/service/transport/http/request_head.h"
#include "server/service/transport/net/connection_table.h"

namespace waystar::http {

class Exchange;

struct HttpClient {
  net::Network network;
  // Such as "192.0.2.1" or "2001:db8::1"; empty for a unix socket.
  std::string address;
  std::uint16_t port = 0;
};

struct HttpAnswer {
  int code = 200;
  // Empty for none.
  std::string content_type;
  std::string body;
  // Header fields, except those of the connection and of the body's length, which the server adds. A field
  // with control characters is dropped: it could be read as several fields.
  std::vector<std::pair<std::string, std::string>> fields;
  // Closes the connection after the answer.
  bool closes = false;
  // For a stream: bytes sent after HttpLimits::heartbeat_time of silence, so that proxies keep it open and
  // dead clients are detected; empty for none.
  std::string heartbeat;
};

// Accepts the head of a request, so that its body is read.
struct HttpAcceptance {
  // A longer body is rejected with 413.
  std::size_t max_body_bytes = 0;
  // True if the client is authenticated. Its connection is evicted last.
  bool is_trusted = false;
  // Hash that identifies the client for fair queueing.
  std::uint64_t identity = 0;
};

struct HttpRequest {
  HttpClient client;
  // From HttpAcceptance.
  std::uint64_t identity = 0;
  RequestHead head;
  std::string body;
  // Counts the body's memory; give it back when the body is released.
  BodyShare body_share;
};

// Admits clients and answers their requests. Called on the server's threads, several at a time if it has more
// than one. All methods must return soon, since other connections wait meanwhile.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // Called when a client connects. If false, the connection is reset.
  virtual bool Admits(const HttpClient& /*client*/) { return true; }

  // Called when the head of a request has arrived, before "100 Continue" and before the body is read. Returns
  // an HttpAnswer to reject the request; if it has a body, the connection is closed.
  virtual std::variant<HttpAcceptance, HttpAnswer> Judge(const HttpClient& client,
                                                         const RequestHead& head) = 0;

  // Called with a complete accepted request. Answers it by the exchange, now or later, from any thread. An
  // exchange destroyed without an answer answers 500.
  virtual void Serve(HttpRequest request, std::shared_ptr<Exchange> exchange) = 0;

  // Returns the answer to a request that the server rejects itself. `head` is null if it is malformed or
  // incomplete. The connection is closed after the answer.
  virtual HttpAnswer Refuse(int code, const RequestHead* head);
};

// Time and resource limits on the clients of an HTTP server.
struct HttpLimits {
  std::size_t max_connections = 1024;
  // Limit per network (net::Network).
  std::size_t max_network_connections = 256;
  // Memory of request bodies, until their handlers give it back.
  std::size_t max_body_bytes = std::size_t{256} << 20;
  std::size_t max_network_body_bytes = std::size_t{64} << 20;

  // Time to receive a head, from its first byte or from the start of the connection, handshake included.
  std::chrono::milliseconds head_time = std::chrono::seconds(5);
  // Time to receive a whole body.
  std::chrono::milliseconds body_time = std::chrono::seconds(10);
  // Time between two requests.
  std::chrono::milliseconds idle_time = std::chrono::seconds(10);
  // Time in which the bytes unsent at its start, at most kStreamRoomBytes of them, must be sent.
  std::chrono::milliseconds stall_time = std::chrono::seconds(10);
  // Silence in a stream before a heartbeat is sent.
  std::chrono::milliseconds heartbeat_time = std::chrono::seconds(5);
  // How long, and how many bytes, a connection reads after its last answer, so that a client that is still
  // sending sees the answer.
  std::chrono::milliseconds linger_time = std::chrono::seconds(2);
  std::size_t linger_bytes = std::size_t{8} << 20;
  // Interval at which deadlines are checked.
  std::chrono::milliseconds tick = std::chrono::milliseconds(200);
  // Socket send buffer per connection. The kernel allocates twice as much.
  int send_buffer_bytes = 128 << 10;
};

}  // namespace waystar::http
