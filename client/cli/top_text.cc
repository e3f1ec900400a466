#include "client/cli/top_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "client/cli/table.h"

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

}  // namespace

std::string TopText(const Rates& rates, const std::string& server, Window window) {
  const auto width = static_cast<std::size_t>(window.columns);
  // Two lines on top, headings, empty lines, what stands below the maps, and the line of the cursor.
  constexpr int kOtherLines = 9;
  const int room = window.rows - kOtherLines - static_cast<int>(rates.lanes.size());
  const auto rows = static_cast<std::size_t>(std::max(room, 2));
  const std::size_t methods =
      std::min(rates.methods.size(), std::max(rows / 2, rows - std::min(rows, rates.maps.size())));
  return absl::StrCat(SummaryLines(rates, server), "\n", LanesTable(rates, width), "\n",
                      MethodsTable(rates, methods, width), "\n", MapsTable(rates, rows - methods, width));
}

}  // namespace waystar::cli
