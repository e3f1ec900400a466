// Metrics of search durations and sizes.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>

#include "server/runtime/histogram.h"
#include "server/runtime/metric_sink.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Labelled by algorithm and outcome. Thread safety: any.
class SearchMetrics final : public runtime::MetricSource {
 public:
  SearchMetrics();

  void Count(const v1::FindPathResponse& answer);
  // Counts a query's waiting time for a worker.
  void CountWait(std::chrono::nanoseconds waited);

  void Collect(runtime::MetricSink& sink) const override;

 private:
  struct Kind {
    runtime::Histogram seconds;
    runtime::Histogram expansions;
  };

  static constexpr std::size_t kAlgorithms = v1::Algorithm_ARRAYSIZE;
  static constexpr std::size_t kOutcomes = v1::Outcome_ARRAYSIZE;

  std::array<std::unique_ptr<Kind>, kAlgorithms * kOutcomes> kinds_;
  runtime::Histogram wait_seconds_;
};

}  // namespace waystar::rpc
