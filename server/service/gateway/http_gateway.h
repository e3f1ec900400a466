// RPCs as JSON over HTTP, for browsers and tools without gRPC.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "server/runtime/metric_sink.h"
#include "server/service/admission/call_statistics.h"
#include "server/service/auth/access_control.h"
#include "server/service/auth/tls_files.h"
#include "server/service/gateway/allowed_origins.h"
#include "server/service/gateway/http_places.h"
#include "server/service/transport/http/call_maker.h"
#include "server/service/transport/http/http_handler.h"
#include "server/service/transport/http/http_server.h"

namespace waystar::rpc {

struct HttpGatewayOptions {
  // Address in the format of net::Listener.
  std::string listen;
  // Maximum number of concurrent calls, including streams.
  int calls = 256;
  // Maximum number of connections, in total and per network.
  std::size_t max_connections = 1024;
  std::size_t max_network_connections = 512;
  // Sites whose pages may call besides the server's own page, in the format of AllowedOrigins. Pages of other
  // sites are rejected, even where a browser would send the request and only hide the answer.
  std::string allowed_origins;
  // Maximum length of a request body, in bytes.
  std::size_t max_body_bytes = std::size_t{4} << 20;
  // Maximum size of the JSON of all answers being sent, in bytes.
  std::size_t max_answer_bytes = std::size_t{256} << 20;
  // TLS certificate, and whether clients must present one. Null for plain text.
  std::shared_ptr<WatchedTlsFiles> tls;
};

// Makes a call for each POST /waystar.v1.PathService/FindPath with a JSON body. It uses an in-process
// channel, so a call is counted, queued, rejected and logged like one over gRPC; but invalid tokens are
// rejected before the body is read. GET / returns a page that shows the maps, and makes such calls. The
// contract is docs/http.md.
//
// Thread safety: any.
class HttpGateway final : public runtime::MetricSource, private http::HttpHandler {
 public:
  // Listens until it is destroyed. `channel` is an in-process channel of the server, and `access` that of the
  // server; calls that are rejected before they are made are counted in `statistics`. Both must outlive this.
  // Returns INVALID_ARGUMENT for invalid options or an invalid certificate, UNAVAILABLE if it cannot listen.
  static absl::StatusOr<std::unique_ptr<HttpGateway>> Start(const HttpGatewayOptions& options,
                                                            std::shared_ptr<grpc::Channel> channel,
                                                            const AccessControl& access,
                                                            CallStatistics& statistics);
  HttpGateway(const HttpGateway&) = delete;
  HttpGateway& operator=(const HttpGateway&) = delete;
  ~HttpGateway() override { Stop(absl::ZeroDuration()); }

  // Stops listening, and ends all connections: those with a call when it is answered, or after `grace`. Call
  // it from one thread.
  void Stop(absl::Duration grace);

  int port() const { return server_->port(); }

  void Collect(runtime::MetricSink& sink) const override;

 private:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  HttpGateway(const HttpGatewayOptions& options, AllowedOrigins origins,
              std::shared_ptr<grpc::Channel> channel, const AccessControl& access,
              CallStatistics& statistics);

  bool Admits(const http::HttpClient& client) override;
  std::variant<http::HttpAcceptance, http::HttpAnswer> Judge(const http::HttpClient& client,
                                                             const http::RequestHead& head) override;
  void Serve(http::HttpRequest request, std::shared_ptr<http::Exchange> exchange) override;
  http::HttpAnswer Refuse(int code, const http::RequestHead* head) override;

  // Returns true if the request's Host is this server's, and not a foreign name for its address.
  bool IsForThisHost(const http::RequestHead& head) const;
  // Returns true if the request does not come from a browser's page, or from one that may call.
  bool IsOriginAllowed(const http::RequestHead& head) const;
  // Answers and counts a call that is not made.
  http::HttpAnswer RefuseCall(const http::RequestHead& head, const absl::Status& status) const;
  // Returns the fields common to all answers to a request.
  Fields FieldsOf(const http::RequestHead& head) const;

  const HttpGatewayOptions options_;
  // The name that it listens on.
  const std::string name_;
  const AllowedOrigins origins_;
  const AccessControl& access_;
  CallStatistics& statistics_;
  // Answers being sent outlive the gateway.
  const std::shared_ptr<HttpPlaces> places_;
  const http::CallMaker calls_;
  // Last member, as its threads use all of the above.
  std::unique_ptr<http::HttpServer> server_;
};

// Returns the error for a code with which the HTTP server rejects (HttpHandler::Refuse), or OK if there is
// none: data that is not HTTP gets a bare 400. `max_body_bytes` is the limit of a body.
absl::Status HttpRefusal(int code, std::size_t max_body_bytes);

}  // namespace waystar::rpc
