// Request ids, and interceptors of calls with one and of calls that the RPC library answers itself.
#pragma once

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/support/server_interceptor.h"
#include "server/runtime/metric_sink.h"
#include "server/service/admission/call_slots.h"
#include "server/service/admission/call_statistics.h"
#include "server/service/admission/executor.h"
#include "server/service/auth/call_head.h"
#include "server/service/call/direct_methods.h"

namespace waystar::rpc {

// Makes interceptors for calls that may have sent an id. They
// - return the call's "x-request-id" in the initial metadata, if the caller sent one,
// - log the call if it ends with INTERNAL, UNKNOWN or DATA_LOSS, which are faults of the server.
// Other calls are not intercepted, which saves some microseconds; ToGrpcStatus logs their faults.
//
// With `statistics`, which may be null and must outlive the server, they also count the calls of the
// library's own services and of unknown methods, which this program does not handle. A call that ends without
// a status counts as cancelled.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeCallInterceptors(
    CallStatistics* statistics);

// Returns a method whose faults are logged as by the interceptors.
DirectMethod WithFaultsLogged(const google::protobuf::MethodDescriptor& method, DirectMethod direct);

// Metadata of a request id, which connects log lines to calls.
inline constexpr char kRequestIdKey[] = "x-request-id";

// Returns the caller's "x-request-id" if it is 1 to 128 printable ASCII characters without spaces.
absl::optional<absl::string_view> SentRequestId(const CallHead& head);

// Returns true if the caller has sent anything that RequestIdOf might use.
bool HasSentId(const CallHead& head);

// Returns SentRequestId, else the trace id of a "traceparent" (W3C Trace Context, 2021: 32 hexadecimal
// digits, not all 0), else "local-" and 16 hexadecimal digits, unique per invocation.
std::string RequestIdOf(const CallHead& head);

// Prometheus metrics of calls and of the queues in which they wait. Has the metric names of gRPC servers in
// other languages (grpc_server_started_total and so on). Methods unknown to this program are merged, as
// service and method "unknown".
//
// Thread safety: any.
class CallMetrics final : public runtime::MetricSource {
 public:
  // `statistics` must outlive this.
  explicit CallMetrics(const CallStatistics& statistics) : statistics_(statistics) {}

  void Collect(runtime::MetricSink& sink) const override;

 private:
  const CallStatistics& statistics_;
};

// Metrics of queue lengths and waiting times, labelled by lane: small, large, updates or imports. Thread
// safety: any.
class QueueMetrics final : public runtime::MetricSource {
 public:
  // Both must outlive this.
  QueueMetrics(const Executor& executor, const ClientCalls& client_calls)
      : executor_(executor), client_calls_(client_calls) {}

  void Collect(runtime::MetricSink& sink) const override;

 private:
  const Executor& executor_;
  const ClientCalls& client_calls_;
};

}  // namespace waystar::rpc
