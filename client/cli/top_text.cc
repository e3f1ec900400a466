#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/table.h"
#include "client/cli/top_rates.h"
#include "client/load/report_text.h"

namespace waystar::cli {
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
