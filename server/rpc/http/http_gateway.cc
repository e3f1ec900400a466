#include "server/rpc/http/http_gateway.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/http/any_call.h"
#include "server/http/call_answer.h"
#include "server/http/json.h"
#include "server/rpc/access/failed_tokens.h"
#include "server/rpc/access/peer.h"
#include "server/rpc/call/status.h"

namespace waystar::rpc {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::MethodDescriptor;
using http::HttpExchange;

constexpr char kTimeoutHeader[] = "Waystar-Timeout";
// Calls with one answer end by then if their callers do not say when: each holds a thread.
constexpr absl::Duration kDefaultTimeout = absl::Minutes(1);
constexpr absl::Duration kMaxTimeout = absl::Hours(24);
constexpr absl::Duration kPatience = absl::Seconds(10);
constexpr absl::Duration kKeepAlive = absl::Seconds(10);

// Headers that become metadata of the call, under the same names.
constexpr const char* kPassedHeaders[] = {"authorization", "x-request-id", "traceparent"};

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// Returns null if there is no such method of the services that are open to everyone.
const MethodDescriptor* FindMethod(absl::string_view path) {
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  if (parts.size() != 3 || !parts[0].empty()) {
    return nullptr;
  }
  for (const absl::string_view service : {"waystar.v1.MapService", "waystar.v1.PathService",
                                          "waystar.v1.ServerService", "grpc.health.v1.Health"}) {
    if (parts[1] == service) {
      return DescriptorPool::generated_pool()->FindMethodByName(absl::StrCat(service, ".", parts[2]));
    }
  }
  return nullptr;
}

// The RPC library ends the process over metadata that is anything else.
bool IsPrintable(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isprint(c); });
}

absl::Status BadHeader(absl::string_view name, absl::string_view message) {
  return InvalidArgument(ErrorReason::kBadHeader, name, message);
}

absl::StatusOr<absl::Duration> TimeoutOf(const MethodDescriptor& method, const HttpExchange& exchange) {
  const absl::string_view text = View(exchange.Header(kTimeoutHeader));
  if (text.empty()) {
    return method.server_streaming() ? absl::InfiniteDuration() : kDefaultTimeout;
  }
  absl::Duration timeout;
  if (!absl::ParseDuration(std::string(text), &timeout) || timeout <= absl::ZeroDuration() ||
      timeout > kMaxTimeout) {
    return BadHeader(kTimeoutHeader, "a time is such as 2.5s or 300ms, and at most 24h");
  }
  return timeout;
}

absl::Status CheckHeaders(const HttpExchange& exchange) {
  for (const char* const name : kPassedHeaders) {
    if (!IsPrintable(View(exchange.Header(name)))) {
      return BadHeader(name, "a header has characters that are not printable ASCII");
    }
  }
  return absl::OkStatus();
}

void Answer(int code, const absl::Status& status, HttpExchange& exchange) {
  exchange.Answer(code, http::kJsonType, http::StatusJson(ToGrpcStatus(status)));
}

void Refuse(const absl::Status& status, HttpExchange& exchange) {
  http::AnswerFailure(ToGrpcStatus(status), exchange);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpGateway>> HttpGateway::Start(const HttpGatewayOptions& options,
                                                                std::shared_ptr<grpc::Channel> channel) {
  WAYSTAR_ASSIGN_OR_RETURN(AllowedOrigins origins, AllowedOrigins::Parse(options.allowed_origins));
  auto gateway =
      std::unique_ptr<HttpGateway>(new HttpGateway(options, std::move(origins), std::move(channel)));
  WAYSTAR_ASSIGN_OR_RETURN(
      gateway->listener_,
      http::HttpListener::Open({.listen = options.listen,
                                .threads = options.threads,
                                .patience = kPatience,
                                .keep_alive = kKeepAlive},
                               [self = gateway.get()](HttpExchange& exchange) { self->Handle(exchange); }));
  return gateway;
}

HttpGateway::HttpGateway(const HttpGatewayOptions& options, AllowedOrigins origins,
                         std::shared_ptr<grpc::Channel> channel)
    : options_(options),
      origins_(std::move(origins)),
      channel_(std::move(channel)),
      places_(options.threads, options.max_answer_bytes) {}

void HttpGateway::Stop() {
  is_stopping_ = true;
  if (listener_ != nullptr) {
    listener_->Stop();
  }
}

void HttpGateway::Handle(HttpExchange& exchange) {
  exchange.AddHeader("Cache-Control", "no-store");
  exchange.AddHeader("X-Content-Type-Options", "nosniff");
  if (!PassOrigin(exchange)) {
    return;
  }
  const MethodDescriptor* const method = FindMethod(View(exchange.path()));
  if (method == nullptr) {
    Answer(404,
           MakeError(absl::StatusCode::kUnimplemented, ErrorReason::kUnknownMethod, "",
                     "there is no such method: a path is such as /waystar.v1.PathService/FindPath"),
           exchange);
  } else if (exchange.method() != "POST") {
    exchange.AddHeader("Allow", "POST, OPTIONS");
    Answer(405,
           MakeError(absl::StatusCode::kUnimplemented, ErrorReason::kUnknownMethod, "",
                     "calls are made with POST"),
           exchange);
  } else if (method->client_streaming()) {
    Refuse(MakeError(absl::StatusCode::kUnimplemented, ErrorReason::kUnknownMethod, "",
                     "this method takes a stream of messages, which needs gRPC"),
           exchange);
  } else {
    MakeCall(*method, exchange);
  }
}

bool HttpGateway::PassOrigin(HttpExchange& exchange) const {
  const std::string_view origin = exchange.Header("Origin");
  if (!origin.empty()) {
    exchange.AddHeader("Vary", "Origin");
    if (!origins_.Allows(View(origin))) {
      exchange.CloseAfterwards();
      Refuse(MakeError(absl::StatusCode::kPermissionDenied, ErrorReason::kOriginNotAllowed, "Origin",
                       "pages of this site may not call: --http_allow_origin names those that may"),
             exchange);
      return false;
    }
    exchange.AddHeader("Access-Control-Allow-Origin", std::string(origin));
  }
  if (exchange.method() != "OPTIONS") {
    return true;
  }
  exchange.AddHeader("Allow", "POST, OPTIONS");
  if (!origin.empty()) {
    exchange.AddHeader("Access-Control-Allow-Methods", "POST");
    exchange.AddHeader("Access-Control-Allow-Headers",
                       absl::StrCat("content-type, accept, authorization, x-request-id, traceparent, ",
                                    absl::AsciiStrToLower(kTimeoutHeader)));
    exchange.AddHeader("Access-Control-Max-Age", "600");
  }
  exchange.Answer(204, "", "");
  return false;
}

void HttpGateway::MakeCall(const MethodDescriptor& method, HttpExchange& exchange) {
  const std::string address(exchange.client_address());
  HttpPlaces::Place place(places_);
  absl::Status status = place.Take(address);
  if (status.ok() && method.server_streaming()) {
    status = place.TakeStream();
  }
  if (status.ok()) {
    status = CheckHeaders(exchange);
  }
  const absl::StatusOr<absl::Duration> timeout = TimeoutOf(method, exchange);
  status.Update(timeout.status());
  if (!status.ok()) {
    exchange.CloseAfterwards();
    Refuse(status, exchange);
    return;
  }
  const absl::Time deadline = absl::Now() + *timeout;
  absl::StatusOr<std::string> request = exchange.ReadBody(options_.max_body_bytes, kPatience);
  if (!request.ok()) {
    absl::IsResourceExhausted(request.status()) ? Answer(413, request.status(), exchange)
                                                : Refuse(request.status(), exchange);
    return;
  }
  request = http::JsonToWire(*method.input_type(), *request);
  if (!request.ok()) {
    Refuse(request.status(), exchange);
    return;
  }
  http::AnyCall call(channel_, absl::StrCat("/", method.service()->full_name(), "/", method.name()), *request,
                     [&](grpc::ClientContext& context) {
                       if (deadline != absl::InfiniteFuture()) {
                         context.set_deadline(absl::ToChronoTime(deadline));
                       }
                       SetHttpClient(address, context);
                       for (const char* const name : kPassedHeaders) {
                         if (const std::string_view value = exchange.Header(name); !value.empty()) {
                           context.AddMetadata(name, std::string(value));
                         }
                       }
                     });
  const bool wants_events = absl::StrContains(View(exchange.Header("Accept")), "text/event-stream");
  http::AnswerCall(call, method,
                   {.form = wants_events ? http::StreamForm::kEvents : http::StreamForm::kLines,
                    .is_stopping = [this] { return is_stopping_.load(); },
                    .may_hold = [&](std::size_t bytes) { return place.HoldAnswer(bytes); }},
                   exchange);
}

void HttpGateway::Collect(runtime::MetricSink& sink) const {
  sink.AddGauge("waystar_http_connections", "Connections over HTTP.", {}, listener_->connections());
  places_.Collect(sink);
}

}  // namespace waystar::rpc
