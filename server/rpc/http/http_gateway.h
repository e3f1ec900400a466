// The RPCs as JSON over HTTP, for browsers and tools that speak no gRPC.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/channel.h"
#include "server/http/http_exchange.h"
#include "server/http/http_listener.h"
#include "server/rpc/http/allowed_origins.h"
#include "server/rpc/http/http_places.h"
#include "server/runtime/metric_sink.h"

namespace waystar::rpc {

struct HttpGatewayOptions {
  // As in http::HttpListenerOptions.
  std::string listen;
  int threads = 64;
  // The sites whose pages may call, as AllowedOrigins reads them. A page of any other site is refused, also
  // where a browser would let it send what it may not read the answer of.
  std::string allowed_origins;
  // The longest body of a request.
  std::size_t max_body_bytes = std::size_t{4} << 20;
  // The JSON of answers that are being sent, all together.
  std::size_t max_answer_bytes = std::size_t{256} << 20;
};

// Makes a call for each POST /waystar.v1.PathService/FindPath, with a JSON body. It calls the services by way
// of an in-process channel, so that a call counts, waits, is refused and logged as if it had come over gRPC.
// docs/http.md is the contract.
//
// Thread safety: any.
class HttpGateway final : public runtime::MetricSource {
 public:
  // Listens until it is destroyed. `channel` is an in-process channel of the server. Returns INVALID_ARGUMENT
  // for options that make no sense, UNAVAILABLE if it cannot listen there.
  static absl::StatusOr<std::unique_ptr<HttpGateway>> Start(const HttpGatewayOptions& options,
                                                            std::shared_ptr<grpc::Channel> channel);
  HttpGateway(const HttpGateway&) = delete;
  HttpGateway& operator=(const HttpGateway&) = delete;
  ~HttpGateway() override { Stop(); }

  // Listens no more, ends all streams, and returns when the last request is answered. One thread may call it.
  void Stop();

  int port() const { return listener_->port(); }

  void Collect(runtime::MetricSink& sink) const override;

 private:
  HttpGateway(const HttpGatewayOptions& options, AllowedOrigins origins,
              std::shared_ptr<grpc::Channel> channel);

  void Handle(http::HttpExchange& exchange);
  // Returns false if it has answered, since a page of that site may not call or only asks whether it may.
  bool PassOrigin(http::HttpExchange& exchange) const;
  void MakeCall(const google::protobuf::MethodDescriptor& method, http::HttpExchange& exchange);

  const HttpGatewayOptions options_;
  const AllowedOrigins origins_;
  const std::shared_ptr<grpc::Channel> channel_;
  std::atomic<bool> is_stopping_ = false;
  HttpPlaces places_;
  // It stands last, as its threads use all of the above.
  std::unique_ptr<http::HttpListener> listener_;
};

}  // namespace waystar::rpc
