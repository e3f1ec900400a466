#include "server/service/metrics/store_metrics.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/maintenance/map_usage.h"

namespace waystar::rpc {
namespace {

std::string LabelOf(core::MapKind kind) {
  switch (kind) {
    case core::MapKind::kSquares:
    case core::MapKind::kHexagons:
      return "grid";
    case core::MapKind::kWaypointGraph:
      return "waypoint_graph";
    case core::MapKind::kMesh:
      return "mesh";
  }
  return "";
}

void CollectTotals(const std::vector<maintenance::MapUsage>& maps, runtime::MetricSink& sink) {
  std::map<std::string, double> of_kind = {{"grid", 0}, {"mesh", 0}, {"waypoint_graph", 0}};
  double bytes = 0;
  for (const maintenance::MapUsage& map : maps) {
    ++of_kind[LabelOf(map.kind)];
    bytes += static_cast<double>(map.bytes);
  }
  for (const auto& [kind, count] : of_kind) {
    sink.AddGauge("waystar_maps", "Maps that the server holds.", {{"kind", kind}}, count);
  }
  sink.AddGauge("waystar_maps_bytes", "Memory of all maps at their latest revisions, indexes included.", {},
                bytes);
}

void CollectMemory(const core::MapStore& store, runtime::MetricSink& sink) {
  const MemoryAccount& account = store.memory();
  const MemoryUse use = store.MeasureMemory();
  const auto add = [&sink](absl::string_view kind, std::size_t bytes) {
    sink.AddGauge("waystar_memory_bytes", "Memory that is counted against the limit of all maps, by kind.",
                  {{"kind", std::string(kind)}}, static_cast<double>(bytes));
  };
  add("maps", use.maps);
  add("indexes", use.indexes + use.promised);
  add("views", use.views);
  add("old_snapshots", use.old_snapshots);
  add("request_ids", use.requests);
  add("history", use.history);
  if (account.max_bytes() != MemoryAccount::kNoLimit) {
    sink.AddGauge("waystar_memory_limit_bytes", "The limit of these together.", {},
                  static_cast<double>(account.max_bytes()));
  }
  sink.AddCounter("waystar_memory_refusals_total", "Maps, updates and queries refused for want of memory.",
                  {}, static_cast<double>(account.refusals()));
  sink.AddCounter("waystar_memory_drops_total", "How often views and the like were dropped to make room.", {},
                  static_cast<double>(account.drops()));
}

void CollectRefused(const char* name, const char* help, const CallSlots::Counts& counts,
                    runtime::MetricSink& sink) {
  sink.AddCounter(name, help, {{"limit", "all"}}, static_cast<double>(counts.refused_all));
  sink.AddCounter(name, help, {{"limit", "client"}}, static_cast<double>(counts.refused_client));
}

}  // namespace

void StoreMetrics::Collect(runtime::MetricSink& sink) const {
  CollectMemory(store_, sink);
  const std::vector<maintenance::MapUsage> maps =
      maintenance::UsageOf(store_, [](absl::string_view) { return true; });
  CollectTotals(maps, sink);
  std::size_t named = 0;
  for (const maintenance::MapUsage& map : maps) {
    if (named == kMaxMaps) {
      break;
    }
    if (!MayBeNamed(map.id)) {
      continue;
    }
    ++named;
    const std::uint64_t oldest = store_.OldSnapshotsOf(map.id).oldest_revision;
    sink.AddGauge("waystar_map_bytes", "Memory of one of the largest maps.", {{"map", map.id}},
                  static_cast<double>(map.bytes));
    sink.AddGauge("waystar_map_revision", "The latest revision of one of the largest maps.",
                  {{"map", map.id}}, static_cast<double>(map.version.revision));
    sink.AddGauge("waystar_map_oldest_pinned_revision",
                  "The oldest revision of one of the largest maps that somebody still reads.",
                  {{"map", map.id}}, static_cast<double>(oldest == 0 ? map.version.revision : oldest));
  }
  const core::OldSnapshotsTotal old = store_.AllOldSnapshots();
  sink.AddGauge("waystar_old_snapshots", "Earlier revisions of maps that somebody still reads.", {},
                static_cast<double>(old.count));
  sink.AddGauge("waystar_old_snapshots_bytes", "Memory that these alone hold.", {},
                static_cast<double>(old.bytes));
  sink.AddGauge("waystar_old_snapshot_age_seconds", "How long ago the oldest of these was replaced.", {},
                absl::ToDoubleSeconds(old.oldest_age));
  const CallSlots::Counts watches = watches_.counts();
  sink.AddGauge("waystar_watches", "Watches of maps and paths that are open.", {}, watches.taken);
  CollectRefused("waystar_watches_refused_total", "Watches that were refused, by the limit.", watches, sink);
  const CallSlots::Counts streams = streams_.counts();
  sink.AddGauge("waystar_streams", "Streams of queries and of updates that are open.", {}, streams.taken);
  CollectRefused("waystar_streams_refused_total", "Streams that were refused, by the limit.", streams, sink);
  const CallSlots::Counts transfers = transfers_.counts();
  sink.AddGauge("waystar_transfers", "Imports, exports and traces that are under way.", {}, transfers.taken);
  sink.AddGauge("waystar_transfers_waiting", "Imports that wait for others to end.", {}, transfers.waiting);
  CollectRefused("waystar_transfers_refused_total", "Transfers that were refused, by the limit.", transfers,
                 sink);
}

bool StoreMetrics::MayBeNamed(const std::string& map) const {
  MutexLock lock(mutex_);
  if (names_.size() < kMaxNames) {
    names_.insert(map);
  }
  return names_.contains(map);
}

}  // namespace waystar::rpc
