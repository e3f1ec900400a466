#include "client/cli/top_rates.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"
#include "client/load/report_text.h"
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

namespace {

constexpr char kNothing[] = "-";

std::string RateText(double rate) {
  return rate > 0 && rate < 10 ? absl::StrFormat("%.1f", rate) : absl::StrFormat("%.0f", rate);
}

std::string TimeText(const std::optional<absl::Duration>& time) {
  return time ? absl::StrFormat("%.3g ms", absl::ToDoubleMilliseconds(*time)) : kNothing;
}

std::string BytesText(std::int64_t bytes) {
  constexpr std::int64_t kKibi = 1024;
  if (bytes < kKibi * kKibi) {
    return absl::StrCat((bytes + kKibi - 1) / kKibi, " KiB");
  }
  const double mebi = static_cast<double>(bytes) / (kKibi * kKibi);
  return mebi < kKibi ? absl::StrFormat("%.1f MiB", mebi) : absl::StrFormat("%.1f GiB", mebi / kKibi);
}

std::string SummaryLines(const Rates& rates, const std::string& server) {
  std::string text =
      absl::StrCat(server, "  up ", absl::FormatDuration(absl::Trunc(rates.uptime, absl::Seconds(1))));
  if (rates.resident_bytes) {
    absl::StrAppend(&text, "  memory ", BytesText(*rates.resident_bytes));
  }
  if (rates.processors) {
    absl::StrAppendFormat(&text, "  processors %.2f", *rates.processors);
  }
  if (rates.connections) {
    absl::StrAppend(&text, "  connections ", *rates.connections);
  }
  for (const v1::Condition& condition : rates.conditions) {
    absl::StrAppend(&text, "\nATTENTION: ", condition.text());
  }
  if (rates.storage) {
    const StorageRates& storage = *rates.storage;
    absl::StrAppend(&text, "\nstorage: ", RateText(storage.commits_per_second), " commits/s  commit ",
                    TimeText(storage.commit), "  sync ", TimeText(storage.sync), "  log ",
                    BytesText(storage.log_bytes));
  }
  if (rates.fleet) {
    const FleetRates& fleet = *rates.fleet;
    absl::StrAppendFormat(&text, "\nfleet: heard %.1f s ago  lag %d  ",
                          absl::ToDoubleSeconds(fleet.staleness), fleet.lag);
    absl::StrAppend(&text, RateText(fleet.landed_per_second), " landed/s  ",
                    RateText(fleet.followed_per_second), " followed/s  ",
                    RateText(fleet.conflicts_per_second), " conflicts/s  commit ", TimeText(fleet.commit));
  }
  absl::StrAppend(&text, "\n", RateText(rates.requests_per_second), " requests/s  ",
                  RateText(rates.failures_per_second), " failed/s  ", RateText(rates.refusals_per_second),
                  " of them refused/s  ", rates.watches, " watches  ", rates.transfers, " transfers\n");
  return text;
}

std::string LanesTable(const Rates& rates, std::size_t width) {
  std::vector<TableRow> rows = {{"LANE", "RUNNING", "BUSY", "QUEUED", "JOBS/S", "WAIT", "REFUSED/S"}};
  for (const LaneRates& lane : rates.lanes) {
    rows.push_back({lane.lane, absl::StrCat(lane.running, " of ", lane.workers),
                    absl::StrFormat("%.0f%%", 100 * lane.busy),
                    absl::StrCat(lane.queued, lane.is_overloaded ? " overloaded" : ""),
                    RateText(lane.jobs_per_second), TimeText(lane.wait), RateText(lane.refusals_per_second)});
  }
  return FormatTable(rows, width);
}

std::string MethodsTable(const Rates& rates, std::size_t most, std::size_t width) {
  std::vector<TableRow> rows = {{"METHOD", "REQUESTS/S", "FAILED/S", "P50", "P99", "OPEN"}};
  for (std::size_t i = 0; i < std::min(most, rates.methods.size()); ++i) {
    const MethodRates& method = rates.methods[i];
    rows.push_back({std::string(absl::StripPrefix(method.method, "waystar.v1.")),
                    RateText(method.requests_per_second), RateText(method.failures_per_second),
                    TimeText(method.median), TimeText(method.percentile_99),
                    absl::StrCat(method.open_calls)});
  }
  return FormatTable(rows, width);
}

std::string MapsTable(const Rates& rates, std::size_t most, std::size_t width) {
  const std::size_t shown = std::min(most, rates.maps.size());
  std::vector<TableRow> rows = {{"MAP", "REVISION", "UPDATES/S", "MEMORY"}};
  for (std::size_t i = 0; i < shown; ++i) {
    const MapRates& map = rates.maps[i];
    rows.push_back({map.map, absl::StrCat(map.revision),
                    map.updates_per_second ? RateText(*map.updates_per_second) : kNothing,
                    BytesText(map.bytes)});
  }
  return absl::StrCat(FormatTable(rows, width), shown, " of ", rates.map_count, " maps, ",
                      BytesText(rates.map_bytes), " together\n");
}

using load::JsonArray;
using load::JsonBool;
using load::JsonNumber;
using load::JsonObject;
using load::JsonQuoted;

std::string Nanos(absl::Duration time) { return JsonNumber(absl::ToInt64Nanoseconds(time)); }
std::string Nanos(const std::optional<absl::Duration>& time) { return time ? Nanos(*time) : "null"; }

template <typename T>
std::string NumberOrNull(const std::optional<T>& number) {
  return number ? JsonNumber(*number) : "null";
}

std::string MethodsJson(const Rates& rates) {
  return JsonArray(rates.methods, [](const MethodRates& method) {
    return JsonObject({{"method", JsonQuoted(method.method)},
                       {"requests_per_second", JsonNumber(method.requests_per_second)},
                       {"failures_per_second", JsonNumber(method.failures_per_second)},
                       {"p50_nanos", Nanos(method.median)},
                       {"p99_nanos", Nanos(method.percentile_99)},
                       {"open_calls", JsonNumber(method.open_calls)}});
  });
}

std::string LanesJson(const Rates& rates) {
  return JsonArray(rates.lanes, [](const LaneRates& lane) {
    return JsonObject({{"lane", JsonQuoted(lane.lane)},
                       {"workers", JsonNumber(lane.workers)},
                       {"running", JsonNumber(lane.running)},
                       {"busy", JsonNumber(lane.busy)},
                       {"queued", JsonNumber(lane.queued)},
                       {"overloaded", JsonBool(lane.is_overloaded)},
                       {"jobs_per_second", JsonNumber(lane.jobs_per_second)},
                       {"wait_nanos", Nanos(lane.wait)},
                       {"refusals_per_second", JsonNumber(lane.refusals_per_second)}});
  });
}

std::string StorageJson(const Rates& rates) {
  if (!rates.storage) {
    return "null";
  }
  const StorageRates& storage = *rates.storage;
  return JsonObject({{"commits_per_second", JsonNumber(storage.commits_per_second)},
                     {"commit_nanos", Nanos(storage.commit)},
                     {"sync_nanos", Nanos(storage.sync)},
                     {"unsynced_age_nanos", Nanos(storage.unsynced_age)},
                     {"log_bytes", JsonNumber(storage.log_bytes)}});
}

std::string FleetJson(const Rates& rates) {
  if (!rates.fleet) {
    return "null";
  }
  const FleetRates& fleet = *rates.fleet;
  return JsonObject({{"staleness_nanos", Nanos(fleet.staleness)},
                     {"lag", JsonNumber(fleet.lag)},
                     {"landed_per_second", JsonNumber(fleet.landed_per_second)},
                     {"followed_per_second", JsonNumber(fleet.followed_per_second)},
                     {"conflicts_per_second", JsonNumber(fleet.conflicts_per_second)},
                     {"commit_nanos", Nanos(fleet.commit)}});
}

std::string ConditionsJson(const Rates& rates) {
  return JsonArray(rates.conditions, [](const v1::Condition& condition) {
    return JsonObject({{"metric", JsonQuoted(condition.metric())}, {"text", JsonQuoted(condition.text())}});
  });
}

std::string MapsJson(const Rates& rates) {
  return JsonArray(rates.maps, [](const MapRates& map) {
    return JsonObject({{"map", JsonQuoted(map.map)},
                       {"revision", JsonNumber(map.revision)},
                       {"updates_per_second", NumberOrNull(map.updates_per_second)},
                       {"bytes", JsonNumber(map.bytes)}});
  });
}

}  // namespace

std::string TopText(const Rates& rates, const std::string& server, Window window) {
  const auto width = static_cast<std::size_t>(window.columns);
  // Four lines on top, headings, empty lines, what stands below the maps, and the line of the cursor.
  constexpr int kOtherLines = 11;
  const int room = window.rows - kOtherLines - static_cast<int>(rates.lanes.size() + rates.conditions.size());
  const auto rows = static_cast<std::size_t>(std::max(room, 2));
  const std::size_t methods =
      std::min(rates.methods.size(), std::max(rows / 2, rows - std::min(rows, rates.maps.size())));
  return absl::StrCat(SummaryLines(rates, server), "\n", LanesTable(rates, width), "\n",
                      MethodsTable(rates, methods, width), "\n", MapsTable(rates, rows - methods, width));
}

std::string TopJson(const Rates& rates, const std::string& server) {
  return JsonObject({{"server", JsonQuoted(server)},
                     {"uptime_nanos", Nanos(rates.uptime)},
                     {"period_nanos", Nanos(rates.period)},
                     {"requests_per_second", JsonNumber(rates.requests_per_second)},
                     {"failures_per_second", JsonNumber(rates.failures_per_second)},
                     {"refusals_per_second", JsonNumber(rates.refusals_per_second)},
                     {"resident_bytes", NumberOrNull(rates.resident_bytes)},
                     {"processors", NumberOrNull(rates.processors)},
                     {"connections", NumberOrNull(rates.connections)},
                     {"storage", StorageJson(rates)},
                     {"fleet", FleetJson(rates)},
                     {"conditions", ConditionsJson(rates)},
                     {"watches", JsonNumber(rates.watches)},
                     {"transfers", JsonNumber(rates.transfers)},
                     {"lanes", LanesJson(rates)},
                     {"methods", MethodsJson(rates)},
                     {"map_count", JsonNumber(rates.map_count)},
                     {"map_bytes", JsonNumber(rates.map_bytes)},
                     {"maps", MapsJson(rates)}}) +
         "\n";
}

}  // namespace waystar::cli
