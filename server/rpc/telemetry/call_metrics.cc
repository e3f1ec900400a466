#include "server/rpc/telemetry/call_metrics.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"

namespace waystar::rpc {
namespace {

constexpr absl::string_view kServices[] = {
    "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection", "waystar.v1.MapService",
    "waystar.v1.PathService", "waystar.v1.ServerService"};

absl::string_view TypeOf(const google::protobuf::MethodDescriptor& method) {
  if (method.client_streaming()) {
    return method.server_streaming() ? "bidi_stream" : "client_stream";
  }
  return method.server_streaming() ? "server_stream" : "unary";
}

// As other languages' servers write it: "OK", "InvalidArgument".
std::string CodeName(std::size_t code) {
  static constexpr absl::string_view kNames[] = {
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  return std::string(kNames[code]);
}

double Read(const std::atomic<std::uint64_t>& counter) {
  return static_cast<double>(counter.load(std::memory_order_relaxed));
}

}  // namespace

MethodMetrics::MethodMetrics(absl::string_view type, absl::string_view service, absl::string_view method)
    : labels_{{"grpc_type", std::string(type)},
              {"grpc_service", std::string(service)},
              {"grpc_method", std::string(method)}},
      seconds_(runtime::CallSecondsBounds()) {}

void MethodMetrics::CountHandled(grpc::StatusCode code, absl::Duration duration) {
  const auto index = static_cast<std::size_t>(code);
  constexpr auto kUnknown = static_cast<std::size_t>(grpc::StatusCode::UNKNOWN);
  handled_[index < kCodes ? index : kUnknown].fetch_add(1, std::memory_order_relaxed);
  seconds_.Observe(absl::ToDoubleSeconds(duration));
}

void MethodMetrics::Collect(runtime::MetricSink& sink) const {
  sink.AddCounter("grpc_server_started_total", "Calls that were started.", labels_, Read(started_));
  sink.AddCounter("grpc_server_msg_received_total", "Messages received from clients.", labels_,
                  Read(received_));
  sink.AddCounter("grpc_server_msg_sent_total", "Messages sent to clients.", labels_, Read(sent_));
  for (std::size_t code = 0; code < kCodes; ++code) {
    const double count = Read(handled_[code]);
    if (code == 0 || count > 0) {
      runtime::MetricLabels labels = labels_;
      labels.emplace_back("grpc_code", CodeName(code));
      sink.AddCounter("grpc_server_handled_total", "Calls that have ended, by their status.",
                      std::move(labels), count);
    }
  }
  sink.AddHistogram("grpc_server_handling_seconds", "How long calls took, from their start to their status.",
                    labels_, seconds_.Counts());
}

CallMetrics::CallMetrics() {
  const google::protobuf::DescriptorPool& pool = *google::protobuf::DescriptorPool::generated_pool();
  for (const absl::string_view name : kServices) {
    const google::protobuf::ServiceDescriptor* service = pool.FindServiceByName(std::string(name));
    for (int i = 0; service != nullptr && i < service->method_count(); ++i) {
      const google::protobuf::MethodDescriptor& method = *service->method(i);
      methods_.emplace(absl::StrCat("/", name, "/", method.name()),
                       std::make_unique<MethodMetrics>(TypeOf(method), name, method.name()));
    }
  }
}

MethodMetrics& CallMetrics::Of(absl::string_view path) {
  const auto found = methods_.find(path);
  return found == methods_.end() ? unknown_ : *found->second;
}

void CallMetrics::Collect(runtime::MetricSink& sink) const {
  std::vector<absl::string_view> paths;
  for (const auto& method : methods_) {
    paths.push_back(method.first);
  }
  std::sort(paths.begin(), paths.end());
  for (const absl::string_view path : paths) {
    methods_.find(path)->second->Collect(sink);
  }
  unknown_.Collect(sink);
}

}  // namespace waystar::rpc
