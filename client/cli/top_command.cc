#include "client/cli/top_command.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/arguments.h"
#include "client/cli/exit_code.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"
#include "client/metrics.h"

namespace waystar::cli {

using load::Value;

namespace {

using client::LabelOf;
using client::MetricLabels;
using client::MetricsOf;
using client::SumOf;

// Interpolates within a bucket. Values above the last bound count as that bound.
Value Percentile(const google::protobuf::RepeatedField<double>& bounds, const v1::Histogram& histogram,
                 double share) {
  if (histogram.count() == 0) {
    return {};
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

Value Average(double seconds, double count) {
  return count > 0 ? Value(absl::Seconds(seconds / count)) : Value();
}

// Returns nothing if there is no value of that name.
template <typename T>
const T* FindValue(const Record& record, std::string_view name) {
  for (const auto& [key, value] : record) {
    if (key == name) {
      return std::get_if<T>(&value);
    }
  }
  return nullptr;
}

template <typename T>
T ValueOf(const Record& record, std::string_view name) {
  const T* const value = FindValue<T>(record, name);
  return value == nullptr ? T() : *value;
}

// Compares consecutive answers.
class Comparison {
 public:
  Comparison(const v1::GetMetricsResponse& before, const v1::GetMetricsResponse& after)
      : before_(before),
        after_(after),
        period_(DurationOf(after.uptime()) - DurationOf(before.uptime())),
        seconds_(std::max(absl::ToDoubleSeconds(period_), 1e-9)) {}

  Record Run(std::size_t most_maps) const {
    // These families have a metric for each method, lane or map.
    std::vector<Record> methods;
    double refusals = 0;
    for (const v1::Metric* const metric : MetricsOf(after_, "waystar_open_calls")) {
      AddMethod(*metric, methods, refusals);
    }
    double requests = 0;
    double failures = 0;
    for (const Record& method : methods) {
      requests += ValueOf<double>(method, kRequests);
      failures += ValueOf<double>(method, kFailures);
    }
    std::ranges::sort(methods, {}, [](const Record& method) {
      return std::tuple(-ValueOf<double>(method, kRequests), ValueOf<std::string>(method, "method"));
    });
    std::vector<Record> lanes;
    for (const v1::Metric* const metric : MetricsOf(after_, "waystar_queue_workers")) {
      lanes.push_back(LaneOf(*metric));
    }
    std::vector<Record> maps;
    for (const v1::Metric* const metric : MetricsOf(after_, "waystar_map_bytes")) {
      if (maps.size() < most_maps) {
        maps.push_back(MapOf(*metric));
      }
    }
    std::vector<Record> conditions;
    for (const v1::Condition& condition : after_.conditions()) {
      conditions.push_back({{"metric", condition.metric()}, {"text", condition.text()}});
    }
    const bool has_process = Has("process_cpu_seconds_total");
    return {{"uptime_nanos", DurationOf(after_.uptime())},
            {"period_nanos", period_},
            {kRequests, requests},
            {kFailures, failures},
            {kRefusals, refusals},
            {"resident_bytes", has_process ? Now("process_resident_memory_bytes") : Value()},
            {"processors", has_process ? PerSecond("process_cpu_seconds_total") : Value()},
            {"connections", Has("waystar_connections") ? Now("waystar_connections") : Value()},
            {"storage", Has("waystar_storage_commit_seconds") ? Storage() : Value()},
            {"fleet", Has("waystar_fleet_commit_seconds") ? Fleet() : Value()},
            {"conditions", conditions},
            {"watches", Now("waystar_watches")},
            {"transfers", Now("waystar_transfers")},
            {"lanes", lanes},
            {"methods", methods},
            {"map_count", Now("waystar_maps")},
            {"map_bytes", Now("waystar_maps_bytes")},
            {"maps", maps}};
  }

  static constexpr char kRequests[] = "requests_per_second";
  static constexpr char kFailures[] = "failures_per_second";
  static constexpr char kRefusals[] = "refusals_per_second";

 private:
  bool Has(std::string_view family) const { return !MetricsOf(after_, family).empty(); }
  std::int64_t Now(std::string_view family, const MetricLabels& labels = {}) const {
    return static_cast<std::int64_t>(SumOf(after_, family, labels));
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
  Value AverageIn(std::string_view family) const {
    const v1::Histogram growth = HistogramGrowth(family);
    return Average(growth.sum(), static_cast<double>(growth.count()));
  }

  // `refusals` are the failures with RESOURCE_EXHAUSTED a second. Nothing is added for a method that is
  // unused.
  void AddMethod(const v1::Metric& open_calls, std::vector<Record>& methods, double& refusals) const {
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
    const auto with_code = [&](std::string_view code) {
      MetricLabels more = labels;
      more.emplace_back("grpc_code", code);
      return PerSecond(total, more);
    };
    const double requests = PerSecond(total, labels);
    refusals += with_code("ResourceExhausted");
    Value median;
    Value percentile_99;
    for (const v1::MetricFamily& family : after_.families()) {
      if (family.name() == seconds) {
        const v1::Histogram latencies = HistogramGrowth(seconds, labels);
        median = Percentile(family.bounds(), latencies, 0.5);
        percentile_99 = Percentile(family.bounds(), latencies, 0.99);
      }
    }
    methods.push_back({{"method", absl::StrCat(service, "/", name)},
                       {kRequests, requests},
                       {kFailures, std::max(requests - with_code("OK"), 0.0)},
                       {"p50_nanos", median},
                       {"p99_nanos", percentile_99},
                       {"open_calls", static_cast<std::int64_t>(open_calls.value())}});
  }

  Record LaneOf(const v1::Metric& workers) const {
    const std::string lane = LabelOf(workers, "lane");
    const MetricLabels labels = {{"lane", lane}};
    // Work counts when it ends: a long job may have begun before.
    const double busy = PerSecond("waystar_queue_run_seconds_total", labels) / std::max(workers.value(), 1.0);
    return {{"lane", lane},
            {"workers", static_cast<std::int64_t>(workers.value())},
            {"running", Now("waystar_queue_running", labels)},
            {"busy", std::min(busy, 1.0)},
            {"queued", Now("waystar_queue_depth", labels)},
            {"overloaded", Now("waystar_queue_overloaded", labels) != 0},
            {"jobs_per_second", PerSecond("waystar_queue_started_total", labels)},
            {"wait_nanos", Average(Growth("waystar_queue_wait_seconds_total", labels),
                                   Growth("waystar_queue_started_total", labels))},
            {kRefusals, PerSecond("waystar_queue_refused_total", labels)}};
  }

  Record Storage() const {
    return {{"commits_per_second", PerSecond("waystar_storage_commit_seconds")},
            {"commit_nanos", AverageIn("waystar_storage_commit_seconds")},
            {"sync_nanos", AverageIn("waystar_storage_sync_seconds")},
            {"unsynced_age_nanos", absl::Seconds(SumOf(after_, "waystar_storage_unsynced_seconds"))},
            {"log_bytes", Now("waystar_storage_log_bytes")}};
  }

  Record Fleet() const {
    return {{"staleness_nanos", absl::Seconds(SumOf(after_, "waystar_fleet_staleness_seconds"))},
            {"lag", Now("waystar_fleet_lag")},
            {"landed_per_second", PerSecond("waystar_fleet_landed_total")},
            {"followed_per_second", PerSecond("waystar_fleet_followed_total")},
            {"conflicts_per_second", PerSecond("waystar_fleet_conflicts_total")},
            {"commit_nanos", AverageIn("waystar_fleet_commit_seconds")}};
  }

  Record MapOf(const v1::Metric& bytes) const {
    const std::string map = LabelOf(bytes, "map");
    const MetricLabels labels = {{"map", map}};
    const std::int64_t revision = Now("waystar_map_revision", labels);
    // Earlier revisions than before are those of another map with the same id.
    const auto before = MetricsOf(before_, "waystar_map_revision", labels);
    const bool is_known = !before.empty() && before[0]->value() <= static_cast<double>(revision);
    return {{"map", map},
            {"revision", revision},
            {"updates_per_second", is_known ? PerSecond("waystar_map_revision", labels) : Value()},
            {"bytes", static_cast<std::int64_t>(bytes.value())}};
  }

  const v1::GetMetricsResponse& before_;
  const v1::GetMetricsResponse& after_;
  // The time between the two answers, by the server's clock.
  const absl::Duration period_;
  const double seconds_;
};

}  // namespace

Record RatesBetween(const v1::GetMetricsResponse& before, const v1::GetMetricsResponse& after,
                    std::size_t most_maps) {
  const bool is_another_run = DurationOf(after.uptime()) < DurationOf(before.uptime());
  return Comparison(is_another_run ? v1::GetMetricsResponse::default_instance() : before, after)
      .Run(most_maps);
}

namespace {

std::string RateText(double rate) {
  return rate > 0 && rate < 10 ? absl::StrFormat("%.1f", rate) : absl::StrFormat("%.0f", rate);
}

std::string BytesText(std::int64_t bytes) {
  constexpr std::int64_t kKibi = 1024;
  if (bytes < kKibi * kKibi) {
    return absl::StrCat((bytes + kKibi - 1) / kKibi, " KiB");
  }
  const double mebi = static_cast<double>(bytes) / (kKibi * kKibi);
  return mebi < kKibi ? absl::StrFormat("%.1f MiB", mebi) : absl::StrFormat("%.1f GiB", mebi / kKibi);
}

// Writes a rate, a length of time, a count, a text, or "-" if there is no value of that name.
std::string Text(const Record& record, std::string_view name) {
  if (const auto* const rate = FindValue<double>(record, name)) {
    return RateText(*rate);
  }
  if (const auto* const time = FindValue<absl::Duration>(record, name)) {
    return absl::StrFormat("%.3g ms", absl::ToDoubleMilliseconds(*time));
  }
  if (const auto* const count = FindValue<std::int64_t>(record, name)) {
    return absl::StrCat(*count);
  }
  const auto* const text = FindValue<std::string>(record, name);
  return text == nullptr ? "-" : *text;
}

std::string Bytes(const Record& record, std::string_view name) {
  return BytesText(ValueOf<std::int64_t>(record, name));
}

std::string SummaryLines(const Record& rates, const std::string& server) {
  const auto uptime = ValueOf<absl::Duration>(rates, "uptime_nanos");
  std::string text =
      absl::StrCat(server, "  up ", absl::FormatDuration(absl::Trunc(uptime, absl::Seconds(1))));
  if (FindValue<std::int64_t>(rates, "resident_bytes") != nullptr) {
    absl::StrAppend(&text, "  memory ", Bytes(rates, "resident_bytes"));
  }
  if (const auto* const processors = FindValue<double>(rates, "processors")) {
    absl::StrAppendFormat(&text, "  processors %.2f", *processors);
  }
  if (FindValue<std::int64_t>(rates, "connections") != nullptr) {
    absl::StrAppend(&text, "  connections ", Text(rates, "connections"));
  }
  for (const Record& condition : ValueOf<std::vector<Record>>(rates, "conditions")) {
    absl::StrAppend(&text, "\nATTENTION: ", Text(condition, "text"));
  }
  if (const auto* const storage = FindValue<Record>(rates, "storage")) {
    absl::StrAppend(&text, "\nstorage: ", Text(*storage, "commits_per_second"), " commits/s  commit ",
                    Text(*storage, "commit_nanos"), "  sync ", Text(*storage, "sync_nanos"), "  log ",
                    Bytes(*storage, "log_bytes"));
  }
  if (const auto* const fleet = FindValue<Record>(rates, "fleet")) {
    absl::StrAppendFormat(&text, "\nfleet: heard %.1f s ago  lag %s  ",
                          absl::ToDoubleSeconds(ValueOf<absl::Duration>(*fleet, "staleness_nanos")),
                          Text(*fleet, "lag"));
    absl::StrAppend(&text, Text(*fleet, "landed_per_second"), " landed/s  ",
                    Text(*fleet, "followed_per_second"), " followed/s  ",
                    Text(*fleet, "conflicts_per_second"), " conflicts/s  commit ",
                    Text(*fleet, "commit_nanos"));
  }
  absl::StrAppend(&text, "\n", Text(rates, Comparison::kRequests), " requests/s  ",
                  Text(rates, Comparison::kFailures), " failed/s  ", Text(rates, Comparison::kRefusals),
                  " of them refused/s  ", Text(rates, "watches"), " watches  ", Text(rates, "transfers"),
                  " transfers\n");
  return text;
}

// Writes a row for each of the first `most` records.
std::string Table(const TableRow& head, const std::vector<Record>& records, std::size_t most,
                  std::size_t width, TableRow (*row_of)(const Record&)) {
  std::vector<TableRow> rows = {head};
  for (std::size_t i = 0; i < std::min(most, records.size()); ++i) {
    rows.push_back(row_of(records[i]));
  }
  return FormatTable(rows, width);
}

TableRow LaneRow(const Record& lane) {
  return {Text(lane, "lane"),
          absl::StrCat(Text(lane, "running"), " of ", Text(lane, "workers")),
          absl::StrFormat("%.0f%%", 100 * ValueOf<double>(lane, "busy")),
          absl::StrCat(Text(lane, "queued"), ValueOf<bool>(lane, "overloaded") ? " overloaded" : ""),
          Text(lane, "jobs_per_second"),
          Text(lane, "wait_nanos"),
          Text(lane, Comparison::kRefusals)};
}

TableRow MethodRow(const Record& method) {
  return {std::string(absl::StripPrefix(Text(method, "method"), "waystar.v1.")),
          Text(method, Comparison::kRequests),
          Text(method, Comparison::kFailures),
          Text(method, "p50_nanos"),
          Text(method, "p99_nanos"),
          Text(method, "open_calls")};
}

TableRow MapRow(const Record& map) {
  return {Text(map, "map"), Text(map, "revision"), Text(map, "updates_per_second"), Bytes(map, "bytes")};
}

}  // namespace

std::string TopText(const Record& rates, const std::string& server, Window window) {
  const auto width = static_cast<std::size_t>(window.columns);
  const auto lanes = ValueOf<std::vector<Record>>(rates, "lanes");
  const auto methods = ValueOf<std::vector<Record>>(rates, "methods");
  const auto maps = ValueOf<std::vector<Record>>(rates, "maps");
  const auto conditions = ValueOf<std::vector<Record>>(rates, "conditions");
  // Four lines on top, headings, empty lines, what stands below the maps, and the line of the cursor.
  constexpr int kOtherLines = 11;
  const int room = window.rows - kOtherLines - static_cast<int>(lanes.size() + conditions.size());
  const auto rows = static_cast<std::size_t>(std::max(room, 2));
  const std::size_t method_rows =
      std::min(methods.size(), std::max(rows / 2, rows - std::min(rows, maps.size())));
  const std::size_t map_rows = std::min(maps.size(), rows - method_rows);
  return absl::StrCat(SummaryLines(rates, server), "\n",
                      Table({"LANE", "RUNNING", "BUSY", "QUEUED", "JOBS/S", "WAIT", "REFUSED/S"}, lanes,
                            lanes.size(), width, &LaneRow),
                      "\n",
                      Table({"METHOD", "REQUESTS/S", "FAILED/S", "P50", "P99", "OPEN"}, methods, method_rows,
                            width, &MethodRow),
                      "\n", Table({"MAP", "REVISION", "UPDATES/S", "MEMORY"}, maps, map_rows, width, &MapRow),
                      map_rows, " of ", Text(rates, "map_count"), " maps, ", Bytes(rates, "map_bytes"),
                      " together\n");
}

std::string TopJson(const Record& rates, const std::string& server) {
  Record all = {{"server", server}};
  all.insert(all.end(), rates.begin(), rates.end());
  return load::ToJson(all) + "\n";
}

namespace {

// To the top left, and away with all that is there.
constexpr char kRedraw[] = "\x1b[H\x1b[J";

struct TopArguments {
  absl::Duration interval = absl::Seconds(1);
  // Number of reports; 0 for no limit.
  std::uint64_t count = 0;
  // Number of maps to show.
  std::uint64_t maps = 20;
};

// Without a terminal, the window is unlimited.
Window WindowOf(const Io& io) {
  constexpr int kUnlimited = std::numeric_limits<int>::max() / 2;
  return io.is_terminal ? io.window : Window{kUnlimited, kUnlimited};
}

ExitCode Top(const TopArguments& arguments, Session& session) {
  Io& io = session.io();
  const bool is_json = session.options().json;
  const bool is_live = io.is_terminal && !is_json && arguments.count == 0;
  const std::string& server = session.options().connection.target;
  auto before = session.client().GetMetrics();
  if (!before.ok()) {
    return session.Fail(before.status());
  }
  for (std::uint64_t told = 0; arguments.count == 0 || told < arguments.count; ++told) {
    absl::SleepFor(arguments.interval);
    auto after = session.client().GetMetrics();
    if (!after.ok() && !(is_live && absl::IsUnavailable(after.status()))) {
      return session.Fail(after.status());
    }
    io.out << (is_live ? kRedraw : told > 0 && !is_json ? "\n" : "");
    if (!after.ok()) {
      // It may be started again.
      io.out << session.TextOf(after.status()) << "\n" << std::flush;
      continue;
    }
    const Record rates = RatesBetween(*before, *after, arguments.maps);
    io.out << (is_json ? TopJson(rates, server) : TopText(rates, server, WindowOf(io))) << std::flush;
    if (!io.out) {
      break;
    }
    before = std::move(after);
  }
  return ExitCode::kOk;
}

}  // namespace

void AddTopCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] = AddCommand(
      parent, session, "top",
      "Shows what the server is doing: requests and how long they take, queues, maps; until Ctrl-C", &Top,
      "On a terminal in place, as much as fits; elsewhere, and with --count, one table below the other. "
      "With\n"
      "--json, one object a line: rates a second, lengths of time in nanoseconds.\n\n"
      "Requests are calls, of StreamFindPath queries, of StreamUpdates batches. Times are those on the\n"
      "server, estimated from buckets that double from 4 us. Workers are busy with what is not small enough\n"
      "to be answered where it arrives.\n\n"
      "Examples:\n"
      "  waystar top\n"
      "  waystar top --interval 10s --json | jq .requests_per_second\n");
  AddParsed(
      command, "--interval", &ParseTimeout,
      [&interval = arguments.interval](absl::Duration given) { interval = given; },
      "How often to look [1s]; what is shown is what happened in between")
      ->type_name("TIME");
  command.add_option("--count", arguments.count, "End after so many looks")->type_name("N");
  command.add_option("--maps", arguments.maps, "How many maps to show, the largest first [20; 200 at most]")
      ->type_name("N");
}

}  // namespace waystar::cli
