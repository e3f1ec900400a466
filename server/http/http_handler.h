// What an HTTP server serves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "server/http/body_ledger.h"
#include "server/http/request_head.h"
#include "server/net/network.h"

namespace waystar::http {

class Exchange;

struct HttpClient {
  net::Network network;
  // Such as "192.0.2.1" or "2001:db8::1"; empty behind a unix socket.
  std::string address;
  std::uint16_t port = 0;
};

struct HttpAnswer {
  int code = 200;
  // Empty for none.
  std::string content_type;
  std::string body;
  // Those of the connection and of the body's length are the server's. One whose value has control characters
  // is left away: it would be read as more than one.
  std::vector<std::pair<std::string, std::string>> fields;
  // Ends the connection with the answer.
  bool closes = false;
  // Of a stream: what is sent when it has been silent for a while (HttpLimits::heartbeat_time), so that
  // proxies keep it and clients that are gone are found; empty for nothing.
  std::string heartbeat;
};

// Says that a request may go on to its body.
struct HttpAcceptance {
  // A longer body is refused with 413.
  std::size_t max_body_bytes = 0;
  // The client has shown that it may be here. Its connection is the last to make room for others.
  bool is_trusted = false;
  // A hash of what names the client. Where requests wait, those of one client take turns with others'.
  std::uint64_t identity = 0;
};

struct HttpRequest {
  HttpClient client;
  // As it was accepted.
  std::uint64_t identity = 0;
  RequestHead head;
  std::string body;
  // Counts the body. Give it back when the body is let go.
  BodyShare body_share;
};

// Thread safety: the server calls it on its own threads, several at a time if it has more than one. All calls
// must return soon: other connections wait for them.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // Is asked when a client connects. Those that it does not admit are turned away without an answer.
  virtual bool Admits(const HttpClient& /*client*/) { return true; }

  // Is asked as soon as the head of a request is there, before "100 Continue" and before any byte of the body
  // is read. An answer to a request with a body ends the connection.
  virtual std::variant<HttpAcceptance, HttpAnswer> Judge(const HttpClient& client,
                                                         const RequestHead& head) = 0;

  // Is given the whole request that it has accepted, and answers it by the exchange, now or later, from any
  // thread. An exchange that is destroyed without an answer answers 500.
  virtual void Serve(HttpRequest request, std::shared_ptr<Exchange> exchange) = 0;

  // Returns what is answered where the server itself refuses. `head` is null if it is not legal or did not
  // arrive. The connection ends with the answer.
  virtual HttpAnswer Refuse(int code, const RequestHead* head);
};

}  // namespace waystar::http
