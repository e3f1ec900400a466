#include "server/service/gateway/http_gateway.h"

#include <arpa/inet.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/client_context.h"
#include "server/base/error.h"
#include "server/runtime/logging.h"
#include "server/service/auth/caller.h"
#include "server/service/auth/failed_tokens.h"
#include "server/service/call/status.h"
#include "server/service/transport/http/json.h"

namespace waystar::rpc {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::MethodDescriptor;
using http::HttpAcceptance;
using http::HttpAnswer;
using http::RequestHead;

constexpr char kTimeoutHeader[] = "Waystar-Timeout";
// Default time limit of calls with one answer.
constexpr absl::Duration kDefaultTimeout = absl::Minutes(1);
constexpr absl::Duration kMaxTimeout = absl::Hours(24);

// Headers that become metadata of the call, under the same names.
constexpr const char* kPassedHeaders[] = {"authorization", "x-request-id", "traceparent"};

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// Returns null if no public service has that method.
const MethodDescriptor* FindMethod(absl::string_view path) {
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  if (parts.size() != 3 || !parts[0].empty()) {
    return nullptr;
  }
  for (const absl::string_view service :
       {"waystar.v1.MapService", "waystar.v1.PathService", "waystar.v1.PictureService",
        "waystar.v1.ServerService", "grpc.health.v1.Health"}) {
    if (parts[1] == service) {
      return DescriptorPool::generated_pool()->FindMethodByName(absl::StrCat(service, ".", parts[2]));
    }
  }
  return nullptr;
}

// Headers that may occur once: with two, programs could disagree on which to use.
constexpr const char* kSingleHeaders[] = {"authorization", "x-request-id",      "traceparent",       "Origin",
                                          kTimeoutHeader,  http::kStreamHeader, http::kMessageHeader};

// The RPC library aborts the process on other characters in metadata.
bool IsPrintable(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isprint(c); });
}

absl::Status BadHeader(absl::string_view name, absl::string_view message) {
  return MakeError(ErrorReason::kBadHeader, name, message);
}

// Returns true if the request has a message of a stream that is open already.
bool IsForOpenStream(const RequestHead& head) { return !head.Field(http::kStreamHeader).empty(); }

absl::StatusOr<std::uint64_t> MessageNumberIn(const RequestHead& head) {
  std::uint64_t number = 0;
  if (!absl::SimpleAtoi(View(head.Field(http::kMessageHeader)), &number) || number == 0) {
    return BadHeader(http::kMessageHeader, "the messages of a stream are numbered from 1");
  }
  return number;
}

absl::StatusOr<absl::Duration> TimeoutOf(const MethodDescriptor& method, const RequestHead& head) {
  const absl::string_view text = View(head.Field(kTimeoutHeader));
  if (text.empty()) {
    return http::IsStream(method) ? absl::InfiniteDuration() : kDefaultTimeout;
  }
  absl::Duration timeout;
  if (!absl::ParseDuration(std::string(text), &timeout) || timeout <= absl::ZeroDuration() ||
      timeout > kMaxTimeout) {
    return BadHeader(kTimeoutHeader, "a time is such as 2.5s or 300ms, and at most 24h");
  }
  return timeout;
}

absl::Status CheckHeaders(const RequestHead& head) {
  for (const char* const name : kPassedHeaders) {
    if (!IsPrintable(View(head.Field(name)))) {
      return BadHeader(name, "a header has characters that are not printable ASCII");
    }
  }
  for (const char* const name : kSingleHeaders) {
    if (std::ranges::count_if(head.fields, [&](const auto& field) {
          return absl::EqualsIgnoreCase(View(field.first), name);
        }) > 1) {
      return BadHeader(name, "a request has one such header");
    }
  }
  // Also as "application/grpc-web-text+proto".
  if (absl::StartsWithIgnoreCase(View(head.Field("Content-Type")), "application/grpc")) {
    return BadHeader(
        "Content-Type",
        "this is gRPC or gRPC-Web, and here messages are JSON: send them as application/json, or "
        "call by gRPC at --listen");
  }
  return absl::OkStatus();
}

absl::Status UnknownMethod(absl::string_view message) {
  return MakeError(ErrorReason::kUnknownMethod, "", message);
}

HttpAnswer AnswerOf(int code, const absl::Status& status,
                    std::vector<std::pair<std::string, std::string>> fields) {
  return {.code = code,
          .content_type = http::kJsonType,
          .body = http::StatusJson(ToGrpcStatus(status)),
          .fields = std::move(fields)};
}

HttpAnswer Refusal(const absl::Status& status, std::vector<std::pair<std::string, std::string>> fields) {
  return http::FailureAnswer(ToGrpcStatus(status), std::move(fields));
}

absl::StatusOr<std::shared_ptr<http::TlsContext>> ContextOf(const TlsMaterial& material) {
  return http::MakeTlsContext(
      {.certificates = material.cert, .key = material.key, .client_roots = material.client_ca});
}

// Returns a function that checks the files, and returns the context for a new connection. Contents that the
// TLS library rejects are logged, and the previous ones stay in use; if they are the first, returns
// INVALID_ARGUMENT.
absl::StatusOr<std::function<std::shared_ptr<http::TlsContext>()>> Contexts(
    std::shared_ptr<WatchedTlsFiles> files) {
  std::shared_ptr<const TlsMaterial> last = files->Current();
  WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<http::TlsContext> context, ContextOf(*last));
  return [files = std::move(files), last = std::move(last), context = std::move(context)]() mutable {
    if (std::shared_ptr<const TlsMaterial> material = files->Current(); material != last) {
      last = std::move(material);
      absl::StatusOr<std::shared_ptr<http::TlsContext>> next = ContextOf(*last);
      if (next.ok()) {
        context = *std::move(next);
      } else {
        runtime::Log(runtime::LogLevel::kError, "http_tls_refused",
                     {{"error", next.status().message()}, {"in_use", "the certificate before"}});
      }
    }
    return context;
  };
}

// Other clients' bodies are released in this time.
constexpr absl::Duration kBodiesDelay = absl::Seconds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<HttpGateway>> HttpGateway::Start(const HttpGatewayOptions& options,
                                                                DirectMethods methods,
                                                                std::shared_ptr<grpc::Channel> channel,
                                                                const AccessControl& access,
                                                                CallStatistics& statistics) {
  WAYSTAR_ASSIGN_OR_RETURN(AllowedOrigins origins, AllowedOrigins::Parse(options.allowed_origins));
  std::function<std::shared_ptr<http::TlsContext>()> tls;
  if (options.tls != nullptr) {
    WAYSTAR_ASSIGN_OR_RETURN(tls, Contexts(options.tls));
  }
  auto gateway = std::unique_ptr<HttpGateway>(new HttpGateway(options, std::move(origins), std::move(methods),
                                                              std::move(channel), access, statistics));
  WAYSTAR_ASSIGN_OR_RETURN(
      gateway->server_,
      http::HttpServer::Start({.listen = options.listen,
                               .limits = {.max_connections = options.max_connections,
                                          .max_network_connections = options.max_network_connections},
                               .tls = std::move(tls)},
                              *gateway));
  return gateway;
}

HttpGateway::HttpGateway(const HttpGatewayOptions& options, AllowedOrigins origins, DirectMethods methods,
                         std::shared_ptr<grpc::Channel> channel, const AccessControl& access,
                         CallStatistics& statistics)
    : options_(options),
      name_(NameOfHost(options.listen)),
      origins_(std::move(origins)),
      methods_(std::move(methods)),
      access_(access),
      statistics_(statistics),
      places_(std::make_shared<HttpPlaces>(options.calls, options.max_answer_bytes)),
      calls_(std::move(channel), static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U))) {}

void HttpGateway::Stop(absl::Duration grace) {
  if (server_ != nullptr) {
    server_->Stop(grace);
  }
  calls_.Stop();
}

HttpGateway::Fields HttpGateway::FieldsOf(const RequestHead& head) const {
  Fields fields = {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
  if (const std::string_view origin = head.Field("Origin"); !origin.empty()) {
    fields.emplace_back("Vary", "Origin");
    if (origins_.Allows(View(origin))) {
      fields.emplace_back("Access-Control-Allow-Origin", origin);
      fields.emplace_back("Access-Control-Expose-Headers", http::kStreamHeader);
    }
  }
  return fields;
}

bool HttpGateway::IsForThisHost(const RequestHead& head) const {
  const std::string_view host = head.Field("Host");
  return IsOwnHost(host, name_) || origins_.Allows(absl::StrCat("https://", View(host))) ||
         origins_.Allows(absl::StrCat("http://", View(host)));
}

bool HttpGateway::IsOriginAllowed(const RequestHead& head) const {
  const std::string_view origin = head.Field("Origin");
  const std::string_view host = head.Field("Host");
  return origin.empty() || origins_.Allows(View(origin)) ||
         (IsOwnHost(host, name_) && IsOwnOrigin(origin, host, options_.tls != nullptr));
}

bool HttpGateway::Admits(const http::HttpClient& client) {
  const std::string peer = PeerOverHttp(client.address);
  // All clients of a unix socket have the same peer.
  return client.address.empty() || !access_.IsTurnedOut(peer) || access_.KnowsNetworkOf(peer);
}

std::variant<HttpAcceptance, HttpAnswer> HttpGateway::Judge(const http::HttpClient& client,
                                                            const RequestHead& head) {
  if (const absl::Status status = CheckHeaders(head); !status.ok()) {
    return RefuseCall(head, status);
  }
  if (!IsOriginAllowed(head)) {
    return Refusal(MakeError(ErrorReason::kOriginNotAllowed, "Origin",
                             "pages of this site may not call: --http_allow_origin names those that may"),
                   FieldsOf(head));
  }
  if (head.method == "OPTIONS") {
    Fields fields = FieldsOf(head);
    fields.emplace_back("Allow", "POST, OPTIONS");
    if (!head.Field("Origin").empty()) {
      fields.emplace_back("Access-Control-Allow-Methods", "POST");
      fields.emplace_back("Access-Control-Allow-Headers",
                          absl::AsciiStrToLower(absl::StrCat(
                              "content-type, accept, authorization, x-request-id, traceparent, ",
                              kTimeoutHeader, ", ", http::kStreamHeader, ", ", http::kMessageHeader)));
      fields.emplace_back("Access-Control-Max-Age", "600");
    }
    return HttpAnswer{.code = 204, .fields = std::move(fields)};
  }
  if (std::optional<HttpAnswer> probe = http::ProbeAnswer(head, options_.is_ready); probe.has_value()) {
    return *std::move(probe);
  }
  if (std::optional<HttpAnswer> file = PageAnswer(head); file.has_value()) {
    // Calls of the page would be rejected as those of another site.
    return IsForThisHost(head)
               ? *std::move(file)
               : AnswerOf(421,
                          MakeError(ErrorReason::kOriginNotAllowed, "Host",
                                    "open the page by the server's address or as localhost, or have "
                                    "--http_allow_origin name this site"),
                          FieldsOf(head));
  }
  const MethodDescriptor* const method = FindMethod(head.path);
  if (method == nullptr) {
    return AnswerOf(
        404, UnknownMethod("there is no such method: a path is such as /waystar.v1.PathService/FindPath"),
        FieldsOf(head));
  }
  if (head.method != "POST") {
    Fields fields = FieldsOf(head);
    fields.emplace_back("Allow", "POST, OPTIONS");
    return AnswerOf(405, UnknownMethod("calls are made with POST"), std::move(fields));
  }
  absl::Status status = TimeoutOf(*method, head).status();
  if (status.ok() && IsForOpenStream(head)) {
    status = method->client_streaming()
                 ? MessageNumberIn(head).status()
                 : BadHeader(http::kStreamHeader, "this method takes no stream of messages");
  }
  if (!status.ok()) {
    return RefuseCall(head, status);
  }
  const std::string peer = PeerOverHttp(client.address);
  const absl::StatusOr<Caller> caller = access_.Identify(View(head.Field("Authorization")), peer);
  if (!caller.ok()) {
    HttpAnswer answer = RefuseCall(head, caller.status());
    answer.closes = answer.closes || access_.IsTurnedOut(peer);
    return answer;
  }
  return HttpAcceptance{.max_body_bytes = options_.max_body_bytes,
                        .is_trusted = access_.is_asking(),
                        .identity = caller->is_anyone() ? absl::HashOf(peer) : caller->id()};
}

void HttpGateway::Serve(http::HttpRequest request, std::shared_ptr<http::Exchange> exchange) {
  const RequestHead& head = request.head;
  const MethodDescriptor& method = *FindMethod(head.path);
  const auto place = std::make_shared<HttpPlaces::Place>(places_);
  const absl::Status status =
      place->Take(request.client.network.Text(), http::IsStream(method) && !IsForOpenStream(head));
  const absl::StatusOr<absl::Duration> timeout = TimeoutOf(method, head);
  if (!status.ok()) {
    exchange->Answer(RefuseCall(head, status));
    return;
  }
  HttpHead call{.peer = PeerOverHttp(request.client.address)};
  if (*timeout != absl::InfiniteDuration()) {
    call.deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(*timeout);
  }
  for (const char* const name : kPassedHeaders) {
    if (const std::string_view value = head.Field(name); !value.empty()) {
      call.metadata.emplace_back(name, value);
    }
  }
  const bool wants_events = absl::StrContains(View(head.Field("Accept")), "text/event-stream");
  http::CallOptions options{.form = wants_events ? http::StreamForm::kEvents : http::StreamForm::kLines,
                            .status_of = ToGrpcStatus,
                            .fields = FieldsOf(head),
                            .client = request.identity,
                            .hold = [place](std::size_t bytes) { return place->HoldAnswer(bytes); }};
  if (const auto direct = methods_.find(&method); direct != methods_.end()) {
    options.deadline = call.deadline;
    options.call = [this, &direct = direct->second, call = std::move(call)](
                       const grpc::ByteBuffer& message, http::AnswerDone done) -> std::function<void()> {
      // Numbers may take more bytes than in JSON. The RPC library has the same limit.
      if (message.Length() > options_.max_body_bytes) {
        done(ToGrpcStatus(HttpRefusal(413, options_.max_body_bytes)), grpc::ByteBuffer());
        return nullptr;
      }
      return direct(call, message, std::move(done));
    };
  } else {
    options.prepare = [address = request.client.address, metadata = std::move(call.metadata),
                       deadline = absl::Now() + *timeout](grpc::ClientContext& context) {
      if (deadline != absl::InfiniteFuture()) {
        context.set_deadline(absl::ToChronoTime(deadline));
      }
      SetHttpClient(address, context);
      for (const auto& [name, value] : metadata) {
        context.AddMetadata(name, value);
      }
    };
  }
  if (IsForOpenStream(head)) {
    const std::string stream(head.Field(http::kStreamHeader));
    const std::uint64_t number = *MessageNumberIn(head);
    calls_.Send(stream, number, method, std::move(request), std::move(exchange), std::move(options));
  } else {
    calls_.Make(method, std::move(request), std::move(exchange), std::move(options));
  }
}

HttpAnswer HttpGateway::RefuseCall(const RequestHead& head, const absl::Status& status) const {
  statistics_.CountRefused(View(head.path), status.code());
  return Refusal(status, FieldsOf(head));
}

HttpAnswer HttpGateway::Refuse(int code, const RequestHead* head) {
  Fields fields = head == nullptr ? Fields() : FieldsOf(*head);
  if (const absl::Status status = HttpRefusal(code, options_.max_body_bytes); !status.ok()) {
    // Lack of memory for bodies always has this code.
    return code == 503 ? Refusal(status, std::move(fields)) : AnswerOf(code, status, std::move(fields));
  }
  HttpAnswer answer = HttpHandler::Refuse(code, head);
  answer.fields = std::move(fields);
  return answer;
}

void HttpGateway::Collect(runtime::MetricSink& sink) const {
  sink.AddGauge("waystar_http_connections", "Connections over HTTP.", server_->counts().connections);
  places_->Collect(sink);
}

absl::Status HttpRefusal(int code, std::size_t max_body_bytes) {
  switch (code) {
    case 408:
      return MakeError(ErrorReason::kTransferTimeout, "", "the request did not arrive in time");
    case 413:
      return MakeError(ErrorReason::kRequestTooLarge, "",
                       absl::StrCat("the body has more than ", max_body_bytes, " bytes"));
    case 417:
      return MakeError(ErrorReason::kBadHeader, "Expect", "nothing but 100-continue may be expected");
    case 431:
      return MakeError(ErrorReason::kBadHeader, "", "the headers are too long or too many");
    case 501:
      return MakeError(ErrorReason::kBadHeader, "Transfer-Encoding", "bodies come as they are, or in chunks");
    case 503:
      return waystar::Refusal(ErrorReason::kAnswersUnread, kBodiesDelay,
                              "the bodies of requests hold as much as they may");
    case 505:
      return MakeError(ErrorReason::kBadHeader, "", "the versions of HTTP are 1.0 and 1.1");
    default:
      return absl::OkStatus();
  }
}

namespace {

// Browsers send scheme and host in lower case, and omit the scheme's default port.
bool IsOrigin(absl::string_view text) {
  absl::string_view host = text;
  if (!absl::ConsumePrefix(&host, "https://") && !absl::ConsumePrefix(&host, "http://")) {
    return false;
  }
  return !host.empty() && host.find_first_of("/?#@*") == absl::string_view::npos &&
         std::none_of(host.begin(), host.end(),
                      [](char c) { return !absl::ascii_isgraph(c) || absl::ascii_isupper(c); });
}

bool IsAddress(const std::string& name) {
  in6_addr address{};
  return inet_pton(AF_INET, name.c_str(), &address) == 1 || inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

bool SameName(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase({a.data(), a.size()}, {b.data(), b.size()});
}

}  // namespace

absl::StatusOr<AllowedOrigins> AllowedOrigins::Parse(absl::string_view text) {
  AllowedOrigins allowed;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    part = absl::StripAsciiWhitespace(part);
    if (part == "*") {
      allowed.allows_all_ = true;
    } else if (IsOrigin(part)) {
      allowed.origins_.emplace_back(part);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("'", part, "' is not an origin: write such as https://game.example, in lower case"));
    }
  }
  return allowed;
}

bool AllowedOrigins::Allows(absl::string_view origin) const {
  return allows_all_ || std::find(origins_.begin(), origins_.end(), origin) != origins_.end();
}

std::string NameOfHost(std::string_view host) {
  if (!host.empty() && host.front() == '[') {
    return std::string(host.substr(1, host.find(']') - 1));
  }
  return std::string(host.substr(0, host.rfind(':')));
}

bool IsOwnHost(std::string_view host, std::string_view own_name) {
  const std::string name = NameOfHost(host);
  return IsAddress(name) || SameName(name, "localhost") || (!own_name.empty() && SameName(name, own_name));
}

bool IsOwnOrigin(std::string_view origin, std::string_view host, bool is_encrypted) {
  absl::string_view rest(origin.data(), origin.size());
  return absl::ConsumePrefix(&rest, is_encrypted ? "https://" : "http://") &&
         SameName({rest.data(), rest.size()}, host);
}

namespace {

// Some request is answered in this time.
constexpr absl::Duration kBusyDelay = absl::Milliseconds(50);

}  // namespace

HttpPlaces::HttpPlaces(int calls, std::size_t max_answer_bytes)
    : calls_(Quota<std::uint64_t>::Shared(static_cast<std::size_t>(calls))),
      streams_(Quota<std::uint64_t>::Shared(static_cast<std::size_t>(calls) * 5 / 8)),
      answers_(Quota<std::uint64_t>::Shared(max_answer_bytes)) {}

HttpPlaces::Place::~Place() {
  MutexLock lock(places_->mutex_);
  places_->answers_.GiveBack(network_, answer_bytes_);
  if (is_stream_) {
    places_->streams_.GiveBack(network_);
  }
  if (is_taken_) {
    places_->calls_.GiveBack(network_);
  }
}

absl::Status HttpPlaces::Place::Take(absl::string_view network, bool is_stream) {
  network_ = absl::HashOf(network);
  MutexLock lock(places_->mutex_);
  is_taken_ = places_->calls_.Take(network_);
  if (!is_taken_) {
    ++places_->refused_client_;
    return Refusal(ErrorReason::kClientBusy, kBusyDelay,
                   "the address has as many requests over HTTP on their way as it may");
  }
  is_stream_ = is_stream && places_->streams_.Take(network_);
  if (is_stream && !is_stream_) {
    ++places_->refused_streams_;
    return Refusal(ErrorReason::kClientBusy, kBusyDelay,
                   "the address has as many streams over HTTP open as it may");
  }
  return absl::OkStatus();
}

bool HttpPlaces::Place::HoldAnswer(std::size_t bytes) {
  MutexLock lock(places_->mutex_);
  Quota<std::uint64_t>& answers = places_->answers_;
  answers.GiveBack(network_, answer_bytes_);
  if (bytes <= answer_bytes_ || answers.total() == 0) {
    answers.TakeAnyway(network_, bytes);
  } else if (!answers.Take(network_, bytes)) {
    answers.TakeAnyway(network_, answer_bytes_);
    ++places_->refused_memory_;
    return false;
  }
  answer_bytes_ = bytes;
  return true;
}

void HttpPlaces::Collect(runtime::MetricSink& sink) const {
  constexpr char kRefused[] = "waystar_http_refused_total";
  constexpr char kRefusedHelp[] = "Requests over HTTP that were refused, by the limit.";
  MutexLock lock(mutex_);
  sink.AddCounter(kRefused, kRefusedHelp, refused_client_, {{"limit", "address"}});
  sink.AddCounter(kRefused, kRefusedHelp, refused_memory_, {{"limit", "memory"}});
  sink.AddCounter(kRefused, kRefusedHelp, refused_streams_, {{"limit", "streams"}});
  sink.AddGauge("waystar_http_answer_bytes", "Memory of answers over HTTP that are not sent yet.",
                answers_.total());
  sink.AddGauge("waystar_http_streams", "Streams over HTTP that are open.", streams_.total());
}

namespace {

// Allows only what this server sends: no inline scripts or styles, no framing.
constexpr char kContentPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace

std::optional<http::HttpAnswer> PageAnswer(const http::RequestHead& head) {
  const auto file =
      std::ranges::find_if(PageFiles(), [&](const PageFile& each) { return each.path == head.path; });
  if (file == PageFiles().end()) {
    return std::nullopt;
  }
  http::HttpAnswer answer{.content_type = std::string(file->type),
                          .fields = {{"Content-Security-Policy", kContentPolicy},
                                     {"X-Content-Type-Options", "nosniff"},
                                     {"Referrer-Policy", "no-referrer"},
                                     {"Cross-Origin-Resource-Policy", "same-origin"},
                                     // Cached, but revalidated each time: an ETag saves the bytes.
                                     {"Cache-Control", "no-cache"},
                                     {"ETag", std::string(file->etag)}}};
  if (head.method != "GET" && head.method != "HEAD") {
    answer.code = 405;
    answer.content_type = "text/plain; charset=utf-8";
    answer.body = "A page is read with GET.\n";
    answer.fields.emplace_back("Allow", "GET, HEAD, OPTIONS");
  } else if (head.Field("If-None-Match") == file->etag) {
    answer.code = 304;
  } else {
    answer.body = std::string(file->text);
  }
  return answer;
}

}  // namespace waystar::rpc
