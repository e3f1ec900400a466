#include "client/cli/top_rates.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/shape_argument.h"
#include "client/metrics.h"

namespace waystar::cli {
namespace {

using client::LabelOf;
using client::MetricLabels;
using client::MetricsOf;
using client::SumOf;

// Interpolates within a bucket. Values above the last bound count as that bound.
std::optional<absl::Duration> Percentile(const google::protobuf::RepeatedField<double>& bounds,
                                         const v1::Histogram& histogram, double share) {
  if (histogram.count() == 0) {
    return std::nullopt;
  }
  const double rank = share * static_cast<double>(histogram.count());
  double begin = 0;
  double below = 0;
  for (int i = 0; i < std::min(bounds.size(), histogram.cumulative_size()); ++i) {
    const auto up_to = static_cast<double>(histogram.cumulative(i));
    if (up_to > below && up_to >= rank) {
      return absl::Seconds(begin + (bounds[i] - begin) * ((rank - below) / (up_to - below)));
    }
    begin = bounds[i];
    below = up_to;
  }
  return absl::Seconds(begin);
}

std::optional<absl::Duration> Average(double seconds, double count) {
  return count > 0 ? std::optional(absl::Seconds(seconds / count)) : std::nullopt;
}

// Compares consecutive answers.
class Comparison {
 public:
  Comparison(const v1::GetMetricsResponse& before, const v1::GetMetricsResponse& after)
      : before_(before), after_(after), seconds_(0) {
    rates_.uptime = DurationOf(after.uptime());
    rates_.period = rates_.uptime - DurationOf(before.uptime());
    seconds_ = std::max(absl::ToDoubleSeconds(rates_.period), 1e-9);
  }

  Rates Run() {
    // These families have a metric for each method, lane or map.
    for (const v1::Metric* const metric : MetricsOf(after_, "waystar_open_calls")) {
      AddMethod(*metric);
    }
    std::sort(rates_.methods.begin(), rates_.methods.end(), [](const MethodRates& a, const MethodRates& b) {
      return std::tie(b.requests_per_second, a.method) < std::tie(a.requests_per_second, b.method);
    });
    for (const v1::Metric* const metric : MetricsOf(after_, "waystar_queue_workers")) {
      AddLane(*metric);
    }
    for (const v1::Metric* const metric : MetricsOf(after_, "waystar_map_bytes")) {
      AddMap(*metric);
    }
    rates_.map_count = Now<std::int64_t>("waystar_maps");
    rates_.map_bytes = Now<std::int64_t>("waystar_maps_bytes");
    rates_.transfers = Now<int>("waystar_transfers");
    rates_.watches = Now<int>("waystar_watches");
    rates_.conditions.assign(after_.conditions().begin(), after_.conditions().end());
    if (Has("waystar_storage_commit_seconds")) {
      AddStorage();
    }
    if (Has("waystar_fleet_commit_seconds")) {
      AddFleet();
    }
    if (Has("waystar_connections")) {
      rates_.connections = Now<std::int64_t>("waystar_connections");
    }
    if (Has("process_cpu_seconds_total")) {
      rates_.resident_bytes = Now<std::int64_t>("process_resident_memory_bytes");
      rates_.processors = PerSecond("process_cpu_seconds_total");
    }
    return rates_;
  }

 private:
  bool Has(std::string_view family) const { return !MetricsOf(after_, family).empty(); }
  template <typename T>
  T Now(std::string_view family, const MetricLabels& labels = {}) const {
    return static_cast<T>(SumOf(after_, family, labels));
  }
  // Counters only grow, but one that was read while others were written may lag.
  double Growth(std::string_view family, const MetricLabels& labels = {}) const {
    return std::max(SumOf(after_, family, labels) - SumOf(before_, family, labels), 0.0);
  }
  double PerSecond(std::string_view family, const MetricLabels& labels = {}) const {
    return Growth(family, labels) / seconds_;
  }
  v1::Histogram HistogramGrowth(std::string_view family, const MetricLabels& labels = {}) const {
    v1::Histogram growth;
    for (const v1::Metric* const after : MetricsOf(after_, family, labels)) {
      growth = after->histogram();
    }
    for (const v1::Metric* const before : MetricsOf(before_, family, labels)) {
      const v1::Histogram& base = before->histogram();
      growth.set_count(growth.count() - std::min(base.count(), growth.count()));
      growth.set_sum(growth.sum() - base.sum());
      for (int i = 0; i < std::min(growth.cumulative_size(), base.cumulative_size()); ++i) {
        growth.set_cumulative(i, growth.cumulative(i) - std::min(base.cumulative(i), growth.cumulative(i)));
      }
    }
    return growth;
  }
  std::optional<absl::Duration> AverageIn(std::string_view family) const {
    const v1::Histogram growth = HistogramGrowth(family);
    return Average(growth.sum(), static_cast<double>(growth.count()));
  }

  void AddMethod(const v1::Metric& open_calls) {
    const std::string service = LabelOf(open_calls, "grpc_service");
    const std::string name = LabelOf(open_calls, "grpc_method");
    const MetricLabels labels = {{"grpc_service", service}, {"grpc_method", name}};
    const bool is_stream = !MetricsOf(after_, "waystar_stream_requests_total", labels).empty();
    const char* const total = is_stream ? "waystar_stream_requests_total" : "grpc_server_handled_total";
    const char* const seconds = is_stream ? "waystar_stream_request_seconds" : "grpc_server_handling_seconds";
    if (!absl::StartsWith(service, "waystar.") ||
        (open_calls.value() == 0 && SumOf(after_, total, labels) == 0)) {
      return;
    }
    const auto with_code = [&labels](std::string_view code) {
      MetricLabels more = labels;
      more.emplace_back("grpc_code", code);
      return more;
    };
    MethodRates& method = rates_.methods.emplace_back();
    method.method = absl::StrCat(service, "/", name);
    method.requests_per_second = PerSecond(total, labels);
    method.failures_per_second =
        std::max(method.requests_per_second - PerSecond(total, with_code("OK")), 0.0);
    const v1::Histogram latencies = HistogramGrowth(seconds, labels);
    for (const v1::MetricFamily& family : after_.families()) {
      if (family.name() == seconds) {
        method.median = Percentile(family.bounds(), latencies, 0.5);
        method.percentile_99 = Percentile(family.bounds(), latencies, 0.99);
      }
    }
    method.open_calls = static_cast<std::int64_t>(open_calls.value());
    rates_.requests_per_second += method.requests_per_second;
    rates_.failures_per_second += method.failures_per_second;
    rates_.refusals_per_second += PerSecond(total, with_code("ResourceExhausted"));
  }

  void AddLane(const v1::Metric& workers) {
    LaneRates& lane = rates_.lanes.emplace_back();
    lane.lane = LabelOf(workers, "lane");
    const MetricLabels labels = {{"lane", lane.lane}};
    lane.workers = static_cast<int>(workers.value());
    lane.running = Now<int>("waystar_queue_running", labels);
    lane.queued = Now<std::int64_t>("waystar_queue_depth", labels);
    lane.is_overloaded = Now<bool>("waystar_queue_overloaded", labels);
    lane.jobs_per_second = PerSecond("waystar_queue_started_total", labels);
    lane.refusals_per_second = PerSecond("waystar_queue_refused_total", labels);
    // Work counts when it ends: a long job may have begun before.
    lane.busy =
        std::min(PerSecond("waystar_queue_run_seconds_total", labels) / std::max(lane.workers, 1), 1.0);
    lane.wait = Average(Growth("waystar_queue_wait_seconds_total", labels),
                        Growth("waystar_queue_started_total", labels));
  }

  void AddStorage() {
    StorageRates& storage = rates_.storage.emplace();
    storage.commits_per_second = PerSecond("waystar_storage_commit_seconds");
    storage.commit = AverageIn("waystar_storage_commit_seconds");
    storage.sync = AverageIn("waystar_storage_sync_seconds");
    storage.unsynced_age = absl::Seconds(Now<double>("waystar_storage_unsynced_seconds"));
    storage.log_bytes = Now<std::int64_t>("waystar_storage_log_bytes");
  }

  void AddFleet() {
    FleetRates& fleet = rates_.fleet.emplace();
    fleet.staleness = absl::Seconds(Now<double>("waystar_fleet_staleness_seconds"));
    fleet.lag = Now<std::int64_t>("waystar_fleet_lag");
    fleet.landed_per_second = PerSecond("waystar_fleet_landed_total");
    fleet.followed_per_second = PerSecond("waystar_fleet_followed_total");
    fleet.conflicts_per_second = PerSecond("waystar_fleet_conflicts_total");
    fleet.commit = AverageIn("waystar_fleet_commit_seconds");
  }

  void AddMap(const v1::Metric& bytes) {
    MapRates& map = rates_.maps.emplace_back();
    map.map = LabelOf(bytes, "map");
    map.bytes = static_cast<std::int64_t>(bytes.value());
    const MetricLabels labels = {{"map", map.map}};
    map.revision = Now<std::uint64_t>("waystar_map_revision", labels);
    // Earlier revisions than before are those of another map with the same id.
    const auto before = MetricsOf(before_, "waystar_map_revision", labels);
    if (!before.empty() && before[0]->value() <= static_cast<double>(map.revision)) {
      map.updates_per_second = PerSecond("waystar_map_revision", labels);
    }
  }

  const v1::GetMetricsResponse& before_;
  const v1::GetMetricsResponse& after_;
  double seconds_;
  Rates rates_;
};

}  // namespace

Rates RatesBetween(const v1::GetMetricsResponse& before, const v1::GetMetricsResponse& after) {
  const bool is_another_run = DurationOf(after.uptime()) < DurationOf(before.uptime());
  return Comparison(is_another_run ? v1::GetMetricsResponse() : before, after).Run();
}

}  // namespace waystar::cli
