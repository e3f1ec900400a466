#include "server/service/metrics/call_interceptor.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/support/interceptor.h"
#include "server/runtime/logging.h"
#include "server/runtime/worker_pool.h"

namespace waystar::rpc {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

bool IsServerFault(grpc::StatusCode code) {
  return code == grpc::StatusCode::INTERNAL || code == grpc::StatusCode::UNKNOWN ||
         code == grpc::StatusCode::DATA_LOSS;
}

void LogIfFault(absl::string_view method, const grpc::Status& status, const CallHead& head) {
  if (IsServerFault(status.error_code())) {
    runtime::Log(runtime::LogLevel::kError, "call_failed",
                 {{"method", method},
                  {"code", static_cast<int>(status.error_code())},
                  {"error", status.error_message()},
                  {"peer", head.Peer()},
                  {"request_id", RequestIdOf(head)}});
  }
}

// The hooks of one call are called in sequence.
class CallInterceptor final : public grpc::experimental::Interceptor {
 public:
  // `statistics` is null for a call that is not counted.
  CallInterceptor(ServerRpcInfo& call, MethodStatistics* statistics) : call_(call) {
    if (statistics != nullptr) {
      counted_.emplace(*statistics);
    }
  }

  ~CallInterceptor() override { CountEnd(grpc::StatusCode::CANCELLED); }

  void Intercept(InterceptorBatchMethods* batch) override {
    if (counted_.has_value()) {
      CountMessages(*batch);
    }
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      if (const auto id = SentRequestId(*call_.server_context())) {
        batch->GetSendInitialMetadata()->emplace(kRequestIdKey, std::string(*id));
      }
    }
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      OnStatus(batch->GetSendStatus());
    }
    batch->Proceed();
  }

 private:
  void CountMessages(InterceptorBatchMethods& batch) {
    // A read at the end of a stream has no message.
    if (batch.QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE) &&
        batch.GetRecvMessage() != nullptr) {
      counted_->CountReceived();
    }
    if (batch.QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      counted_->CountSent();
    }
  }

  void OnStatus(const grpc::Status& status) {
    // The library's own health service ends cancelled watches with UNKNOWN.
    if (IsServerFault(status.error_code()) && call_.server_context()->IsCancelled()) {
      CountEnd(grpc::StatusCode::CANCELLED);
      return;
    }
    CountEnd(status.error_code());
    LogIfFault(absl::string_view(call_.method()).substr(1), status, *call_.server_context());
  }

  void CountEnd(grpc::StatusCode code) {
    if (counted_.has_value()) {
      counted_->End(static_cast<absl::StatusCode>(code));
      counted_.reset();
    }
  }

  ServerRpcInfo& call_;
  // Valid until the call has ended.
  std::optional<CountedCall> counted_;
};

class CallInterceptorFactory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CallInterceptorFactory(CallStatistics* statistics) : statistics_(statistics) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(ServerRpcInfo* call) override {
    MethodStatistics* const counts =
        statistics_ == nullptr ? nullptr : statistics_->OfLibrary(call->method());
    return counts != nullptr || HasSentId(*call->server_context()) ? new CallInterceptor(*call, counts)
                                                                   : nullptr;
  }

 private:
  CallStatistics* const statistics_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeCallInterceptors(
    CallStatistics* statistics) {
  return std::make_unique<CallInterceptorFactory>(statistics);
}

DirectMethod WithFaultsLogged(const google::protobuf::MethodDescriptor& method, DirectMethod direct) {
  return
      [&method, direct = std::move(direct)](HttpHead head, const grpc::ByteBuffer& request, DirectDone done) {
        if (HasSentId(head)) {
          done = [&method, head, done = std::move(done)](const grpc::Status& status,
                                                         const grpc::ByteBuffer& answer) {
            LogIfFault(absl::StrCat(method.service()->full_name(), "/", method.name()), status, head);
            done(status, answer);
          };
        }
        return direct(std::move(head), request, std::move(done));
      };
}

namespace {

constexpr char kTraceParentKey[] = "traceparent";

constexpr std::size_t kMaxRequestIdBytes = 128;

// Position of the trace id in a traceparent: "00-<32 digits>-<16 digits>-<2 digits>".
constexpr std::size_t kTraceIdBegin = 3;
constexpr std::size_t kTraceIdDigits = 32;
constexpr std::size_t kTraceParentBytes = 55;

// Returns true for a hexadecimal digit in lower case, as the standard requires.
bool IsHexDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
}

absl::optional<absl::string_view> TraceId(const CallHead& head) {
  const absl::string_view parent = head.Metadata(kTraceParentKey);
  // Later versions may be longer.
  if (parent.size() < kTraceParentBytes || parent[kTraceIdBegin - 1] != '-' ||
      parent[kTraceIdBegin + kTraceIdDigits] != '-') {
    return absl::nullopt;
  }
  const absl::string_view id = parent.substr(kTraceIdBegin, kTraceIdDigits);
  if (!std::all_of(id.begin(), id.end(), IsHexDigit) ||
      std::all_of(id.begin(), id.end(), [](char c) { return c == '0'; })) {
    return absl::nullopt;
  }
  return id;
}

}  // namespace

absl::optional<absl::string_view> SentRequestId(const CallHead& head) {
  const absl::string_view id = head.Metadata(kRequestIdKey);
  if (id.empty() || id.size() > kMaxRequestIdBytes || !std::all_of(id.begin(), id.end(), [](char c) {
        return absl::ascii_isgraph(static_cast<unsigned char>(c));
      })) {
    return absl::nullopt;
  }
  return id;
}

bool HasSentId(const CallHead& head) {
  return !head.Metadata(kRequestIdKey).empty() || !head.Metadata(kTraceParentKey).empty();
}

std::string RequestIdOf(const CallHead& head) {
  if (const auto sent = SentRequestId(head)) {
    return std::string(*sent);
  }
  if (const auto trace = TraceId(head)) {
    return std::string(*trace);
  }
  thread_local absl::BitGen generator;
  return absl::StrCat("local-", absl::Hex(absl::Uniform<std::uint64_t>(generator), absl::kZeroPad16));
}

namespace {

std::string TypeOf(const google::protobuf::MethodDescriptor& method) {
  if (method.client_streaming()) {
    return method.server_streaming() ? "bidi_stream" : "client_stream";
  }
  return method.server_streaming() ? "server_stream" : "unary";
}

runtime::MetricLabels LabelsOf(const google::protobuf::MethodDescriptor* method) {
  if (method == nullptr) {
    return {{"grpc_type", "unary"}, {"grpc_service", "unknown"}, {"grpc_method", "unknown"}};
  }
  return {{"grpc_type", TypeOf(*method)},
          {"grpc_service", std::string(method->service()->full_name())},
          {"grpc_method", std::string(method->name())}};
}

// Returns the code in the format of other languages' servers: "OK", "InvalidArgument".
std::string CodeName(std::size_t code) {
  static constexpr absl::string_view kNames[kStatusCodes] = {
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  return std::string(kNames[code]);
}

void CollectEnded(const MethodCounts& counts, const runtime::MetricLabels& labels, absl::string_view total,
                  absl::string_view total_help, absl::string_view seconds, absl::string_view seconds_help,
                  runtime::MetricSink& sink) {
  for (std::size_t code = 0; code < kStatusCodes; ++code) {
    if (code == 0 || counts.by_code[code] > 0) {
      runtime::MetricLabels with_code = labels;
      with_code.emplace_back("grpc_code", CodeName(code));
      sink.AddCounter(total, total_help, counts.by_code[code], std::move(with_code));
    }
  }
  sink.AddHistogram(seconds, seconds_help, counts.seconds, labels);
}

void CollectMethod(const CallStatistics::Row& method, runtime::MetricSink& sink) {
  const runtime::MetricLabels labels = LabelsOf(method.descriptor);
  const MethodCounts calls = method.calls.Counts();
  // A call has one request unless its client streams, and one answer, if it is OK, unless its server does.
  const bool receives_many = method.descriptor != nullptr && method.descriptor->client_streaming();
  const bool sends_many = method.descriptor != nullptr && method.descriptor->server_streaming();
  const auto add = [&](absl::string_view name, absl::string_view help, std::uint64_t count) {
    sink.AddCounter(name, help, count, labels);
  };
  add("grpc_server_started_total", "Calls that were started.", calls.begun);
  add("grpc_server_msg_received_total", "Messages received from clients.",
      receives_many ? calls.received : calls.begun);
  add("grpc_server_msg_sent_total", "Messages sent to clients.", sends_many ? calls.sent : calls.by_code[0]);
  sink.AddGauge("waystar_open_calls", "Calls that have begun and not ended.", calls.open, labels);
  CollectEnded(calls, labels, "grpc_server_handled_total", "Calls that have ended, by their status.",
               "grpc_server_handling_seconds", "How long calls took, from their start to their status.",
               sink);
  if (method.requests != nullptr) {
    CollectEnded(
        method.requests->Counts(), labels, "waystar_stream_requests_total",
        "Queries and batches in streams, by their status.", "waystar_stream_request_seconds",
        "How long queries and batches in streams took, from the arrival of their message to their answer.",
        sink);
  }
}

}  // namespace

void CallMetrics::Collect(runtime::MetricSink& sink) const {
  for (const auto& row : statistics_.rows()) {
    CollectMethod(*row, sink);
  }
}

namespace {

double SecondsOf(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

void CollectLane(const std::string& name, const Executor& executor, Lane lane, runtime::MetricSink& sink) {
  const runtime::WorkerPoolCounts counts = executor.counts(lane);
  const runtime::MetricLabels labels = {{"lane", name}};
  sink.AddGauge("waystar_queue_workers", "Workers of the lane.", executor.workers(lane), labels);
  sink.AddGauge("waystar_queue_running", "Workers that are at work.", counts.running, labels);
  sink.AddGauge("waystar_queue_depth", "Jobs that wait for a worker: calls, or parts of them.", counts.queued,
                labels);
  sink.AddCondition("waystar_queue_overloaded", "1 while jobs may only wait for a short time, else 0.",
                    counts.is_overloaded,
                    absl::StrCat("the lane \"", name, "\" is overloaded: ", counts.queued, " jobs wait"),
                    labels);
  sink.AddCounter("waystar_queue_started_total", "Jobs that workers have started.", counts.started, labels);
  constexpr char kRefused[] = "waystar_queue_refused_total";
  constexpr char kRefusedHelp[] =
      "Jobs that were refused: the queue was too full for them to be done in time, or they had waited too "
      "long.";
  sink.AddCounter(kRefused, kRefusedHelp, counts.refused_full, {{"lane", name}, {"reason", "full"}});
  sink.AddCounter(kRefused, kRefusedHelp, counts.refused_late, {{"lane", name}, {"reason", "late"}});
  sink.AddCounter("waystar_queue_wait_seconds_total", "Total time that started jobs had waited for a worker.",
                  SecondsOf(counts.waited), labels);
  sink.AddCounter("waystar_queue_run_seconds_total", "Total time that workers were at work.",
                  SecondsOf(counts.ran), labels);
}

}  // namespace

void QueueMetrics::Collect(runtime::MetricSink& sink) const {
  CollectLane("small", executor_, Lane::kSmall, sink);
  CollectLane("large", executor_, Lane::kLarge, sink);
  CollectLane("updates", executor_, Lane::kUpdates, sink);
  CollectLane("imports", executor_, Lane::kImports, sink);
  const ClientCalls::Counts clients = client_calls_.counts();
  sink.AddGauge("waystar_clients", "Clients that have calls waiting or running.", clients.clients);
  sink.AddGauge("waystar_client_calls", "Calls of all clients that wait or run.", clients.calls);
  sink.AddCounter("waystar_client_calls_refused_total",
                  "Calls that were refused because their client had too many.", clients.refused);
}

}  // namespace waystar::rpc
