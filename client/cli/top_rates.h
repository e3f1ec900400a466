// The rates of what a server did between two answers to GetMetrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/cli/draw/picture.h"
#include "waystar/v1/server_service.pb.h"

namespace waystar::cli {

struct MethodRates {
  // The full name of the method, such as "waystar.v1.PathService/FindPath".
  std::string method;
  double requests_per_second = 0;
  double failures_per_second = 0;
  // The time that half of the requests did not exceed, and 99 of 100. Nothing where there were no requests.
  std::optional<absl::Duration> median;
  std::optional<absl::Duration> percentile_99;
  std::int64_t open_calls = 0;
};

struct LaneRates {
  std::string lane;
  int workers = 0;
  int running = 0;
  std::int64_t queued = 0;
  bool is_overloaded = false;
  double jobs_per_second = 0;
  double refusals_per_second = 0;
  // The part of the time of all workers that they were at work: from 0 to 1.
  double busy = 0;
  // The average wait of a job. Nothing where there were no jobs.
  std::optional<absl::Duration> wait;
};

struct MapRates {
  std::string map;
  std::uint64_t revision = 0;
  // Unset for a map that was not in the previous answer.
  std::optional<double> updates_per_second;
  std::int64_t bytes = 0;
};

struct StorageRates {
  double commits_per_second = 0;
  // The average time of a commit and of a sync. Nothing where there were none.
  std::optional<absl::Duration> commit;
  std::optional<absl::Duration> sync;
  absl::Duration unsynced_age;
  std::int64_t log_bytes = 0;
};

// Rates of a server in a fleet.
struct FleetRates {
  // How long ago etcd told something, and how much it told that is not applied yet.
  absl::Duration staleness;
  std::int64_t lag = 0;
  double landed_per_second = 0;
  double followed_per_second = 0;
  double conflicts_per_second = 0;
  // The average time of a change. Nothing where there were none.
  std::optional<absl::Duration> commit;
};

struct Rates {
  absl::Duration uptime;
  // The time between the two answers, by the server's clock.
  absl::Duration period;
  double requests_per_second = 0;
  double failures_per_second = 0;
  // The failures with RESOURCE_EXHAUSTED.
  double refusals_per_second = 0;
  // The methods, the busiest first.
  std::vector<MethodRates> methods;
  std::vector<LaneRates> lanes;
  // The maps, the largest first.
  std::vector<MapRates> maps;
  std::int64_t map_count = 0;
  std::int64_t map_bytes = 0;
  int transfers = 0;
  int watches = 0;
  // Nothing where the server does not know.
  std::optional<std::int64_t> connections;
  std::optional<std::int64_t> resident_bytes;
  // Nothing where maps live in memory alone.
  std::optional<StorageRates> storage;
  // Nothing without a fleet.
  std::optional<FleetRates> fleet;
  // The conditions that hold.
  std::vector<v1::Condition> conditions;
  // The number of processors that were kept busy.
  std::optional<double> processors;
};

// Computes the rates. If the server was restarted between the two answers, they are those since its start.
Rates RatesBetween(const v1::GetMetricsResponse& before, const v1::GetMetricsResponse& after);

// Returns text of several lines: the server as a whole, its queues, its methods and its maps. To fit the
// window, the least busy methods and the smallest maps are omitted first.
std::string TopText(const Rates& rates, const std::string& server, Window window);

// One line of JSON: rates a second, lengths of time in nanoseconds, null for what is not known.
std::string TopJson(const Rates& rates, const std::string& server);

}  // namespace waystar::cli
