// The RPCs as JSON over HTTP, for browsers and tools that speak no gRPC.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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
  // An address as net::Listener takes it.
  std::string listen;
  // How many calls may be on their way, streams among them.
  int calls = 256;
  // Connections, in all and of one network.
  std::size_t max_connections = 1024;
  std::size_t max_network_connections = 512;
  // The sites whose pages may call beside the server's own page, as AllowedOrigins reads them. A page of any
  // other site is refused, also where a browser would let it send what it may not read the answer of.
  std::string allowed_origins;
  // The longest body of a request.
  std::size_t max_body_bytes = std::size_t{4} << 20;
  // The JSON of answers that are being sent, all together.
  std::size_t max_answer_bytes = std::size_t{256} << 20;
  // The certificate of TLS, and whether clients must show theirs. Null for plain text.
  std::shared_ptr<WatchedTlsFiles> tls;
};

// Makes a call for each POST /waystar.v1.PathService/FindPath, with a JSON body. It calls the services by way
// of an in-process channel, so that a call counts, waits, is refused and logged as if it had come over gRPC;
// but who has no right token is refused before a body is read. GET / is answered with a page that shows the
// maps, and makes such calls. docs/http.md is the contract.
//
// Thread safety: any.
class HttpGateway final : public runtime::MetricSource, private http::HttpHandler {
 public:
  // Listens until it is destroyed. `channel` is an in-process channel of the server, and `access` that of the
  // server; calls that are refused before they are made count in `statistics`. Both must outlive this.
  // Returns INVALID_ARGUMENT for options or a certificate that make no sense, UNAVAILABLE if it cannot listen
  // there.
  static absl::StatusOr<std::unique_ptr<HttpGateway>> Start(const HttpGatewayOptions& options,
                                                            std::shared_ptr<grpc::Channel> channel,
                                                            const AccessControl& access,
                                                            CallStatistics& statistics);
  HttpGateway(const HttpGateway&) = delete;
  HttpGateway& operator=(const HttpGateway&) = delete;
  ~HttpGateway() override { Stop(absl::ZeroDuration()); }

  // Listens no more, and ends all connections: those with a call when it is answered, or after `grace`. One
  // thread may call it.
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

  // Returns true if the host that the request names is this server's, and no foreign name for its address.
  bool IsForThisHost(const http::RequestHead& head) const;
  // Returns true if the request is none of a browser's page, or one of a page that may call.
  bool IsOriginAllowed(const http::RequestHead& head) const;
  // Answers, and counts, a call that is not made.
  http::HttpAnswer RefuseCall(const http::RequestHead& head, const absl::Status& status) const;
  // Returns the fields of every answer to a request.
  Fields FieldsOf(const http::RequestHead& head) const;

  const HttpGatewayOptions options_;
  // The name that it listens on.
  const std::string name_;
  const AllowedOrigins origins_;
  const AccessControl& access_;
  CallStatistics& statistics_;
  // Answers that are being sent outlive the gateway.
  const std::shared_ptr<HttpPlaces> places_;
  const http::CallMaker calls_;
  // It stands last, as its threads use all of the above.
  std::unique_ptr<http::HttpServer> server_;
};

}  // namespace waystar::rpc
