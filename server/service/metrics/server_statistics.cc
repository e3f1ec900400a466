#include "server/service/metrics/server_statistics.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/base/error.h"
#include "server/maintenance/map_usage.h"
#include "server/runtime/process.h"
#include "server/runtime/worker_pool.h"
#include "server/service/admission/call_statistics.h"
#include "server/service/convert/convert.h"

namespace waystar::rpc {
namespace {

constexpr int kDefaultMaps = 20;
constexpr int kMostMaps = 200;

void FillMethod(const CallStatistics::Method& method, v1::MethodStatistics& out) {
  out.set_method(absl::StrCat(method.descriptor->service()->full_name(), "/", method.descriptor->name()));
  const MethodCounts& counts = method.requests;
  out.set_requests(counts.ended());
  out.set_open_calls(method.calls.open);
  for (std::size_t code = 1; code < counts.by_code.size(); ++code) {
    if (counts.by_code[code] > 0) {
      v1::CodeCount& failures = *out.add_failures();
      failures.set_code(static_cast<std::int32_t>(code));
      failures.set_count(counts.by_code[code]);
    }
  }
  const auto last = std::find_if(counts.by_latency.rbegin(), counts.by_latency.rend(),
                                 [](std::uint64_t count) { return count > 0; });
  out.mutable_latency_counts()->Add(counts.by_latency.begin(), last.base());
}

void FillLane(const std::string& name, const Executor& executor, Lane lane, v1::LaneStatistics& out) {
  const runtime::WorkerPoolCounts counts = executor.counts(lane);
  out.set_lane(name);
  out.set_workers(executor.workers(lane));
  out.set_running(static_cast<std::int32_t>(counts.running));
  out.set_queued(static_cast<std::int64_t>(counts.queued));
  out.set_overloaded(counts.is_overloaded);
  out.set_started(counts.started);
  out.set_refused_full(counts.refused_full);
  out.set_refused_late(counts.refused_late);
  FillDuration(absl::FromChrono(counts.waited), *out.mutable_waited());
  FillDuration(absl::FromChrono(counts.ran), *out.mutable_ran());
}

void FillProcess(const runtime::ProcessUsage& usage, v1::ProcessStatistics& out) {
  out.set_resident_bytes(static_cast<std::int64_t>(usage.resident_bytes));
  FillDuration(absl::Seconds(usage.cpu_seconds), *out.mutable_cpu_time());
  out.set_threads(static_cast<std::int32_t>(usage.threads));
}

void FillMemory(const core::MapStore& store, v1::MemoryStatistics& out) {
  const MemoryAccount& account = store.memory();
  const MemoryUse use = store.MeasureMemory();
  out.set_limit_bytes(
      account.max_bytes() == MemoryAccount::kNoLimit ? 0 : static_cast<std::int64_t>(account.max_bytes()));
  out.set_maps_bytes(static_cast<std::int64_t>(use.maps));
  out.set_indexes_bytes(static_cast<std::int64_t>(use.indexes + use.promised));
  out.set_views_bytes(static_cast<std::int64_t>(use.views));
  out.set_old_snapshots_bytes(static_cast<std::int64_t>(use.old_snapshots));
  out.set_request_ids_bytes(static_cast<std::int64_t>(use.requests));
  out.set_history_bytes(static_cast<std::int64_t>(use.history));
  out.set_refusals(account.refusals());
  out.set_drops(account.drops());
}

}  // namespace

absl::Status ServerStatistics::Fill(const v1::GetServerStatisticsRequest& request, const Caller& caller,
                                    v1::GetServerStatisticsResponse& out) const {
  if (request.max_maps() < 0) {
    return MakeError(ErrorReason::kBadValue, "max_maps",
                     absl::StrCat("there cannot be ", request.max_maps(), " maps"));
  }
  for (const CallStatistics::Method& method : context_.statistics.Called()) {
    FillMethod(method, *out.add_methods());
  }
  FillLane("small", context_.executor, Lane::kSmall, *out.add_lanes());
  FillLane("large", context_.executor, Lane::kLarge, *out.add_lanes());
  FillLane("updates", context_.executor, Lane::kUpdates, *out.add_lanes());
  FillLane("imports", context_.executor, Lane::kImports, *out.add_lanes());
  const int max_maps = request.max_maps() == 0 ? kDefaultMaps : std::min(request.max_maps(), kMostMaps);
  FillMaps(static_cast<std::size_t>(max_maps), caller, out);
  out.set_transfers(context_.transfers.counts().taken);
  out.set_watches(context_.watches.counts().taken);
  if (const net::Door* const door = door_.load(std::memory_order_acquire)) {
    out.set_connections(static_cast<std::int64_t>(door->connections()));
  }
  FillMemory(store_, *out.mutable_memory());
  storage_.Fill(out);
  fleet_.Fill(out);
  residence_.Fill(out);
  if (const std::optional<LoadProgress::Maps> loading = loading_.Get()) {
    out.mutable_loading()->set_read_maps(loading->read);
    out.mutable_loading()->set_total_maps(loading->total);
  }
  if (const std::optional<runtime::ProcessUsage> usage = runtime::ReadProcessUsage()) {
    FillProcess(*usage, *out.mutable_process());
  }
  return absl::OkStatus();
}

void ServerStatistics::FillMaps(std::size_t max_maps, const Caller& caller,
                                v1::GetServerStatisticsResponse& out) const {
  const std::vector<maintenance::MapUsage> maps =
      maintenance::UsageOf(store_, [&caller](absl::string_view id) { return caller.MayRead(id); });
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    bytes += static_cast<std::int64_t>(maps[i].bytes);
    if (i < max_maps) {
      v1::MapStatistics& map = *out.add_maps();
      map.set_map(maps[i].id);
      FillVersion(maps[i].version, *map.mutable_version());
      map.set_bytes(static_cast<std::int64_t>(maps[i].bytes));
      map.set_kind(FromKind(maps[i].kind));
    }
  }
  out.set_map_count(static_cast<std::int64_t>(maps.size()));
  out.set_map_bytes(bytes);
}

}  // namespace waystar::rpc
