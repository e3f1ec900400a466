#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/inspect/gateway.h"
#include "client/options.h"
#include "server/http/http_exchange.h"
#include "server/http/http_listener.h"

namespace waystar::inspect {

struct InspectorOptions {
  // The HOST:PORT to listen on. Port 0 takes a free one.
  std::string listen = "127.0.0.1:7451";
  // Whether to refuse whatever changes a map.
  bool is_read_only = false;
};

// Web server of a page that shows the maps of a Waystar server, and of the page's calls. Whoever reaches it
// may do what the `connection` may: it asks browsers for no token, and answers only those that call it by an
// address, as localhost, or by the name that it listens on.
//
// Thread safety: all calls may be made from any thread at the same time.
class Inspector {
 public:
  // Errors: INVALID_ARGUMENT for options that make no sense; UNAVAILABLE if it cannot listen there.
  static absl::StatusOr<std::unique_ptr<Inspector>> Start(const InspectorOptions& options,
                                                          const client::Options& connection);
  Inspector(const Inspector&) = delete;
  Inspector& operator=(const Inspector&) = delete;
  // Ends all streams, and returns when the last request is answered.
  ~Inspector();

  int port() const { return listener_->port(); }
  // The address at which a browser on this machine finds it: "http://127.0.0.1:7451/".
  std::string address() const;

 private:
  Inspector(const InspectorOptions& options, const client::Options& connection);

  void Answer(http::HttpExchange& exchange);
  void AnswerConfig(http::HttpExchange& exchange) const;

  const InspectorOptions options_;
  // The name that it listens on.
  const std::string name_;
  const std::string target_;
  std::atomic<bool> is_stopping_ = false;
  Gateway gateway_;
  // It stands last, as its threads use all of the above.
  std::unique_ptr<http::HttpListener> listener_;
};

}  // namespace waystar::inspect
