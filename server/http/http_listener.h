// Listens for HTTP.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/http/http_exchange.h"

struct mg_context;
struct mg_connection;

namespace waystar::http {

// Returns the host of HOST:PORT, without brackets.
std::string HostOf(const std::string& listen);

struct HttpListenerOptions {
  // HOST:PORT, or [ADDRESS]:PORT for IPv6, which Debian's build of the HTTP library lacks. Port 0 takes a
  // free one.
  std::string listen;
  // Each connection holds one for as long as it is open; more connections wait.
  int threads = 64;
  // How long a client may take to send the headers of a request, or to read what is written to it.
  absl::Duration patience = absl::Seconds(30);
  // How long a connection may be idle between requests. While more than half of the threads have a
  // connection, those that are done with their request are closed at once.
  absl::Duration keep_alive = absl::Seconds(15);
};

// Listens for HTTP/1.1 in plain text until it is destroyed. It reads no files: all that is answered is what
// the handler answers.
//
// Thread safety: any.
class HttpListener {
 public:
  // Answers the request, on a thread of its own, several at a time. If it does not, 500 is answered.
  using Handler = std::function<void(HttpExchange&)>;

  // Errors: INVALID_ARGUMENT if `listen` makes no sense; UNAVAILABLE if it cannot listen there.
  static absl::StatusOr<std::unique_ptr<HttpListener>> Open(const HttpListenerOptions& options,
                                                            Handler handler);
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;
  ~HttpListener() { Stop(); }

  // Listens no more, and returns when the last request is answered, after up to two seconds at the least: so
  // long the library's threads sleep. One thread may call it.
  void Stop();

  int port() const { return port_; }
  int connections() const { return connections_; }

 private:
  HttpListener(const HttpListenerOptions& options, Handler handler);

  absl::Status Listen(const HttpListenerOptions& options);
  static int OnRequest(mg_connection* connection);
  static int OnConnection(const mg_connection* connection, void** data);
  static void OnClosed(const mg_connection* connection);

  const Handler handler_;
  const int many_connections_;
  std::atomic<int> connections_ = 0;
  int port_ = 0;
  mg_context* context_ = nullptr;
};

}  // namespace waystar::http
