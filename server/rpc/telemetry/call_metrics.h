// How many calls there were of each method, how they ended and how long they took.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "grpcpp/support/status.h"
#include "server/runtime/histogram.h"
#include "server/runtime/metric_sink.h"

namespace waystar::rpc {

// Of one method. Thread safety: any.
class MethodMetrics {
 public:
  // `type` is "unary", "client_stream", "server_stream" or "bidi_stream".
  MethodMetrics(absl::string_view type, absl::string_view service, absl::string_view method);

  void CountStarted() { started_.fetch_add(1, std::memory_order_relaxed); }
  void CountReceived() { received_.fetch_add(1, std::memory_order_relaxed); }
  void CountSent() { sent_.fetch_add(1, std::memory_order_relaxed); }
  void CountHandled(grpc::StatusCode code, absl::Duration duration);

  void Collect(runtime::MetricSink& sink) const;

 private:
  static constexpr std::size_t kCodes = 17;

  const runtime::MetricLabels labels_;
  std::atomic<std::uint64_t> started_ = 0;
  std::atomic<std::uint64_t> received_ = 0;
  std::atomic<std::uint64_t> sent_ = 0;
  std::array<std::atomic<std::uint64_t>, kCodes> handled_{};
  runtime::Histogram seconds_;
};

// The metrics that gRPC servers in other languages have by the same names (grpc_server_started_total and so
// on). The methods are those that this program is linked with; all others count as one, whose service and
// method are "unknown", so that no client can make up labels.
//
// Thread safety: any.
class CallMetrics final : public runtime::MetricSource {
 public:
  CallMetrics();

  // `path` as gRPC has it: "/waystar.v1.PathService/FindPath". Lives as long as this.
  MethodMetrics& Of(absl::string_view path);

  void Collect(runtime::MetricSink& sink) const override;

 private:
  absl::flat_hash_map<std::string, std::unique_ptr<MethodMetrics>> methods_;
  MethodMetrics unknown_{"unary", "unknown", "unknown"};
};

}  // namespace waystar::rpc
