#include "server/service/metrics/store_metrics.h"

#include <map>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/error.h"

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
    sink.AddGauge("waystar_maps", "Maps that the server holds.", count, {{"kind", kind}});
  }
  sink.AddGauge("waystar_maps_bytes", "Memory of all maps at their latest revisions, indexes included.",
                bytes);
}

void CollectMemory(const core::MapStore& store, runtime::MetricSink& sink) {
  const MemoryAccount& account = store.memory();
  const MemoryUse use = store.MeasureMemory();
  const auto add = [&sink](absl::string_view kind, std::size_t bytes) {
    sink.AddGauge("waystar_memory_bytes", "Memory that is counted against the limit of all maps, by kind.",
                  bytes, {{"kind", std::string(kind)}});
  };
  add("maps", use.maps);
  add("indexes", use.indexes + use.promised);
  add("views", use.views);
  add("old_snapshots", use.old_snapshots);
  add("request_ids", use.requests);
  add("history", use.history);
  if (account.max_bytes() != MemoryAccount::kNoLimit) {
    sink.AddGauge("waystar_memory_limit_bytes", "Limit of the memory of all maps: --max_maps_memory_mib.",
                  account.max_bytes());
  }
  sink.AddCounter("waystar_memory_refusals_total", "Maps, updates and queries refused for want of memory.",
                  account.refusals());
  sink.AddCounter("waystar_memory_drops_total",
                  "How often views and similar caches were dropped to make room.", account.drops());
}

void CollectRefused(const char* name, const char* help, const CallSlots::Counts& counts,
                    runtime::MetricSink& sink) {
  sink.AddCounter(name, help, counts.refused_all, {{"limit", "all"}});
  sink.AddCounter(name, help, counts.refused_client, {{"limit", "client"}});
}

}  // namespace

void MapMetrics::Collect(runtime::MetricSink& sink) const {
  const std::vector<maintenance::MapUsage> maps =
      maintenance::UsageOf(store_, [](absl::string_view) { return true; });
  CollectTotals(maps, sink);
  CollectLargest(
      maps, kMaxMaps, [this](const std::string& map) { return MayBeNamed(map); }, sink);
}

void MapMetrics::CollectFor(const Caller& caller, runtime::MetricSink& sink) const {
  const std::vector<maintenance::MapUsage> maps =
      maintenance::UsageOf(store_, [&caller](absl::string_view map) { return caller.MayRead(map); });
  CollectTotals(maps, sink);
  CollectLargest(
      maps, kMaxListedMaps, [](const std::string&) { return true; }, sink);
}

void MapMetrics::CollectLargest(const std::vector<maintenance::MapUsage>& maps, std::size_t most,
                                absl::FunctionRef<bool(const std::string&)> may_be_named,
                                runtime::MetricSink& sink) const {
  std::size_t named = 0;
  for (const maintenance::MapUsage& map : maps) {
    if (named == most) {
      break;
    }
    if (!may_be_named(map.id)) {
      continue;
    }
    ++named;
    const std::uint64_t oldest = store_.OldSnapshotsOf(map.id).oldest_revision;
    sink.AddGauge("waystar_map_bytes", "Memory of one of the largest maps.", map.bytes, {{"map", map.id}});
    sink.AddGauge("waystar_map_revision", "The latest revision of one of the largest maps.",
                  map.version.revision, {{"map", map.id}});
    sink.AddGauge("waystar_map_oldest_pinned_revision",
                  "The oldest revision of one of the largest maps that somebody still reads.",
                  oldest == 0 ? map.version.revision : oldest, {{"map", map.id}});
  }
}

bool MapMetrics::MayBeNamed(const std::string& map) const {
  MutexLock lock(mutex_);
  if (names_.size() < kMaxNames) {
    names_.insert(map);
  }
  return names_.contains(map);
}

void StoreMetrics::Collect(runtime::MetricSink& sink) const {
  CollectMemory(store_, sink);
  const core::OldSnapshotsTotal old = store_.AllOldSnapshots();
  sink.AddGauge("waystar_old_snapshots", "Earlier revisions of maps that somebody still reads.", old.count);
  sink.AddGauge("waystar_old_snapshots_bytes", "Memory that only earlier revisions of maps hold.", old.bytes);
  sink.AddGauge("waystar_old_snapshot_age_seconds",
                "How long ago the oldest revision that somebody still reads was replaced.",
                absl::ToDoubleSeconds(old.oldest_age));
  const CallSlots::Counts watches = watches_.counts();
  sink.AddGauge("waystar_watches", "Watches of maps that are open.", watches.taken);
  CollectRefused("waystar_watches_refused_total", "Watches that were refused, by the limit.", watches, sink);
  const CallSlots::Counts streams = streams_.counts();
  sink.AddGauge("waystar_streams", "Streams of queries, of updates and of agents that are open.",
                streams.taken);
  CollectRefused("waystar_streams_refused_total", "Streams that were refused, by the limit.", streams, sink);
  const CallSlots::Counts agents = agents_.counts();
  sink.AddGauge("waystar_agents", "Agents that streams follow.", agents.taken);
  CollectRefused("waystar_agents_refused_total", "Agents that were refused, by the limit.", agents, sink);
  const CallSlots::Counts transfers = transfers_.counts();
  sink.AddGauge("waystar_transfers", "Imports, exports and traces that are under way.", transfers.taken);
  sink.AddGauge("waystar_transfers_waiting", "Imports that wait for others to end.", transfers.waiting);
  CollectRefused("waystar_transfers_refused_total", "Transfers that were refused, by the limit.", transfers,
                 sink);
}

namespace {

void Increase(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

double Value(const std::atomic<std::uint64_t>& counter) {
  return static_cast<double>(counter.load(std::memory_order_relaxed));
}

}  // namespace

void UpdateMetrics::CountAnswer(const absl::StatusOr<core::UpdateResult>& answer) {
  if (answer.ok()) {
    Increase(answer->already_applied ? repeated_ : applied_);
    return;
  }
  std::string reason = ErrorReasonOf(answer.status());
  if (reason.empty()) {
    reason = absl::StatusCodeToString(answer.status().code());
  }
  MutexLock lock(mutex_);
  ++refused_[reason];
}

void UpdateMetrics::OnCommit(const core::PinnedSnapshot& /*snapshot*/,
                             absl::Span<const core::CommitPtr> commits, const core::MapChanges& /*changes*/) {
  Increase(snapshots_);
  Increase(commits_, commits.size());
  for (const core::CommitPtr& commit : commits) {
    Increase(edits_, commit->edits.size());
    Increase(changed_cells_, static_cast<std::uint64_t>(commit->summary.changed_cells));
  }
}

void UpdateMetrics::Collect(runtime::MetricSink& sink) const {
  constexpr char kBatches[] = "waystar_update_batches_total";
  constexpr char kBatchesHelp[] =
      "Batches of edits from clients that were applied, or answered as before under the same request_id.";
  sink.AddCounter(kBatches, kBatchesHelp, Value(applied_), {{"result", "applied"}});
  sink.AddCounter(kBatches, kBatchesHelp, Value(repeated_), {{"result", "repeated"}});
  constexpr char kRefused[] = "waystar_update_refusals_total";
  constexpr char kRefusedHelp[] = "Batches of edits from clients that were refused, by the reason.";
  MutexLock lock(mutex_);
  for (const auto& [reason, count] : refused_) {
    sink.AddCounter(kRefused, kRefusedHelp, count, {{"reason", reason}});
  }
  sink.AddCounter("waystar_commits_total",
                  "Revisions of maps that were committed, by clients or at the end of a lifetime.",
                  Value(commits_));
  sink.AddCounter("waystar_snapshots_total",
                  "Snapshots that were published; commits that wait together become one.", Value(snapshots_));
  sink.AddCounter("waystar_edits_total", "Edits in the commits of maps.", Value(edits_));
  sink.AddCounter("waystar_changed_cells_total", "Cells that the commits of maps changed.",
                  Value(changed_cells_));
}

}  // namespace waystar::rpc
