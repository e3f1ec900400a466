#include "client/cli/top_rates.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "absl/status/status.h"
#include "client/cli/cell_argument.h"

namespace waystar::cli {
namespace {

// Counters only grow, but one that was read while others were written may lag.
std::uint64_t Growth(std::uint64_t before, std::uint64_t after) { return after - std::min(before, after); }

// An empty one if there is none.
template <typename Rows, typename IsWanted>
auto FindRow(const Rows& rows, IsWanted is_wanted) {
  const auto found = std::find_if(rows.begin(), rows.end(), is_wanted);
  return found == rows.end() ? typename Rows::value_type() : *found;
}

// Where a count of latency_counts begins.
absl::Duration BeginOf(std::size_t bucket) {
  return absl::Nanoseconds(250) * (std::int64_t{4 + static_cast<std::int64_t>(bucket) % 4} << (bucket / 4));
}

// As far into its bucket as it is among the requests there.
std::optional<absl::Duration> Percentile(const std::vector<std::uint64_t>& counts, double share) {
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts) {
    total += count;
  }
  const double rank = share * static_cast<double>(total);
  double below = 0;
  for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
    const auto count = static_cast<double>(counts[bucket]);
    if (count > 0 && below + count >= rank) {
      return BeginOf(bucket) + (BeginOf(bucket + 1) - BeginOf(bucket)) * ((rank - below) / count);
    }
    below += count;
  }
  return std::nullopt;
}

std::uint64_t FailuresOf(const v1::MethodStatistics& method) {
  std::uint64_t failures = 0;
  for (const v1::CodeCount& row : method.failures()) {
    failures += row.count();
  }
  return failures;
}

std::uint64_t RefusalsOf(const v1::MethodStatistics& method) {
  constexpr auto kRefused = static_cast<int>(absl::StatusCode::kResourceExhausted);
  return FindRow(method.failures(), [](const v1::CodeCount& row) { return row.code() == kRefused; }).count();
}

// The average time of the jobs, commits or syncs between two answers. Nothing where there were none.
std::optional<absl::Duration> Average(std::uint64_t before, std::uint64_t after,
                                      const google::protobuf::Duration& time_before,
                                      const google::protobuf::Duration& time_after) {
  const std::uint64_t count = Growth(before, after);
  return count == 0
             ? std::nullopt
             : std::optional((DurationOf(time_after) - DurationOf(time_before)) / static_cast<double>(count));
}

// Compares consecutive answers.
class Comparison {
 public:
  Comparison(const v1::GetServerStatisticsResponse& before, const v1::GetServerStatisticsResponse& after)
      : before_(before), after_(after), seconds_(0) {
    rates_.uptime = DurationOf(after.uptime());
    if (after.has_loading()) {
      rates_.loading = after.loading();
    }
    rates_.period = rates_.uptime - DurationOf(before.uptime());
    seconds_ = std::max(absl::ToDoubleSeconds(rates_.period), 1e-9);
  }

  Rates Run() {
    for (const v1::MethodStatistics& method : after_.methods()) {
      AddMethod(method);
    }
    std::sort(rates_.methods.begin(), rates_.methods.end(), [](const MethodRates& a, const MethodRates& b) {
      return std::tie(b.requests_per_second, a.method) < std::tie(a.requests_per_second, b.method);
    });
    for (const v1::LaneStatistics& lane : after_.lanes()) {
      AddLane(lane);
    }
    for (const v1::MapStatistics& map : after_.maps()) {
      AddMap(map);
    }
    rates_.map_count = after_.map_count();
    rates_.map_bytes = after_.map_bytes();
    rates_.transfers = after_.transfers();
    rates_.watches = after_.watches();
    if (after_.has_storage()) {
      AddStorage(before_.storage(), after_.storage());
    }
    if (after_.has_fleet()) {
      AddFleet(before_.fleet(), after_.fleet());
    }
    if (after_.has_connections()) {
      rates_.connections = after_.connections();
    }
    if (after_.has_process()) {
      rates_.resident_bytes = after_.process().resident_bytes();
      rates_.processors =
          Share(DurationOf(before_.process().cpu_time()), DurationOf(after_.process().cpu_time()));
    }
    return rates_;
  }

 private:
  double PerSecond(std::uint64_t before, std::uint64_t after) const {
    return static_cast<double>(Growth(before, after)) / seconds_;
  }
  double Share(absl::Duration before, absl::Duration after) const {
    return absl::ToDoubleSeconds(after - before) / seconds_;
  }

  void AddMethod(const v1::MethodStatistics& after) {
    const v1::MethodStatistics before = FindRow(
        before_.methods(), [&](const v1::MethodStatistics& row) { return row.method() == after.method(); });
    std::vector<std::uint64_t> latencies;
    for (int i = 0; i < after.latency_counts_size(); ++i) {
      const std::uint64_t count = i < before.latency_counts_size() ? before.latency_counts(i) : 0;
      latencies.push_back(Growth(count, after.latency_counts(i)));
    }
    MethodRates& method = rates_.methods.emplace_back();
    method.method = after.method();
    method.requests_per_second = PerSecond(before.requests(), after.requests());
    method.failures_per_second = PerSecond(FailuresOf(before), FailuresOf(after));
    method.median = Percentile(latencies, 0.5);
    method.percentile_99 = Percentile(latencies, 0.99);
    method.open_calls = after.open_calls();
    rates_.requests_per_second += method.requests_per_second;
    rates_.failures_per_second += method.failures_per_second;
    rates_.refusals_per_second += PerSecond(RefusalsOf(before), RefusalsOf(after));
  }

  void AddLane(const v1::LaneStatistics& after) {
    const v1::LaneStatistics before =
        FindRow(before_.lanes(), [&](const v1::LaneStatistics& row) { return row.lane() == after.lane(); });
    LaneRates& lane = rates_.lanes.emplace_back();
    lane.lane = after.lane();
    lane.workers = after.workers();
    lane.running = after.running();
    lane.queued = after.queued();
    lane.is_overloaded = after.overloaded();
    lane.jobs_per_second = PerSecond(before.started(), after.started());
    lane.refusals_per_second =
        PerSecond(before.refused_full() + before.refused_late(), after.refused_full() + after.refused_late());
    // Work counts when it ends: a long job may have begun before.
    lane.busy = std::min(
        Share(DurationOf(before.ran()), DurationOf(after.ran())) / std::max(after.workers(), 1), 1.0);
    lane.wait = Average(before.started(), after.started(), before.waited(), after.waited());
  }

  void AddStorage(const v1::StorageStatistics& before, const v1::StorageStatistics& after) {
    StorageRates& storage = rates_.storage.emplace();
    storage.commits_per_second = PerSecond(before.commits(), after.commits());
    storage.commit = Average(before.commits(), after.commits(), before.commit_time(), after.commit_time());
    storage.sync = Average(before.syncs(), after.syncs(), before.sync_time(), after.sync_time());
    storage.unsynced_age = DurationOf(after.unsynced_age());
    storage.log_bytes = after.log_bytes();
    if (after.refuses()) {
      storage.error = after.error();
    }
  }

  void AddFleet(const v1::FleetStatistics& before, const v1::FleetStatistics& after) {
    FleetRates& fleet = rates_.fleet.emplace();
    fleet.staleness = DurationOf(after.staleness());
    fleet.lag = after.lag();
    fleet.landed_per_second = PerSecond(before.landed(), after.landed());
    fleet.followed_per_second = PerSecond(before.followed(), after.followed());
    fleet.conflicts_per_second = PerSecond(before.conflicts(), after.conflicts());
    fleet.commit = Average(before.commits(), after.commits(), before.commit_time(), after.commit_time());
    if (after.refuses()) {
      fleet.error = after.error();
    }
  }

  void AddMap(const v1::MapStatistics& after) {
    // Revisions of another map that had the id tell nothing.
    const v1::MapStatistics before = FindRow(before_.maps(), [&](const v1::MapStatistics& row) {
      return row.map() == after.map() && row.version().epoch() == after.version().epoch();
    });
    MapRates& map = rates_.maps.emplace_back();
    map.map = after.map();
    map.revision = after.version().revision();
    map.bytes = after.bytes();
    if (before.version().revision() > 0) {
      map.updates_per_second = PerSecond(before.version().revision(), after.version().revision());
    }
  }

  const v1::GetServerStatisticsResponse& before_;
  const v1::GetServerStatisticsResponse& after_;
  double seconds_;
  Rates rates_;
};

}  // namespace

Rates RatesBetween(const v1::GetServerStatisticsResponse& before,
                   const v1::GetServerStatisticsResponse& after) {
  const bool is_another_run = DurationOf(after.uptime()) < DurationOf(before.uptime());
  return Comparison(is_another_run ? v1::GetServerStatisticsResponse() : before, after).Run();
}

}  // namespace waystar::cli
