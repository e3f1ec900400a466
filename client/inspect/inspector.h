#pragma once

#include <memory>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "client/inspect/gateway.h"
#include "client/options.h"
#include "server/http/http_handler.h"
#include "server/http/http_server.h"

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
class Inspector final : private http::HttpHandler {
 public:
  // Errors: INVALID_ARGUMENT for options that make no sense; UNAVAILABLE if it cannot listen there.
  static absl::StatusOr<std::unique_ptr<Inspector>> Start(const InspectorOptions& options,
                                                          const client::Options& connection);
  Inspector(const Inspector&) = delete;
  Inspector& operator=(const Inspector&) = delete;
  // Ends all connections.
  ~Inspector() override = default;

  int port() const { return server_->port(); }
  // The address at which a browser on this machine finds it: "http://127.0.0.1:7451/".
  std::string address() const;

 private:
  Inspector(const InspectorOptions& options, const client::Options& connection);

  std::variant<http::HttpAcceptance, http::HttpAnswer> Judge(const http::HttpClient& client,
                                                             const http::RequestHead& head) override;
  void Serve(http::HttpRequest request, std::shared_ptr<http::Exchange> exchange) override;

  std::string Config() const;

  const InspectorOptions options_;
  // The name that it listens on.
  const std::string name_;
  const std::string target_;
  Gateway gateway_;
  // It stands last, as its threads use all of the above.
  std::unique_ptr<http::HttpServer> server_;
};

}  // namespace waystar::inspect
