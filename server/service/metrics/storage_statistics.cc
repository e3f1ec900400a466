#include "server/service/metrics/storage_statistics.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace waystar::rpc {
namespace {

// A disk with a battery-backed cache syncs in tens of microseconds; a failing one may take many seconds.
std::vector<double> DiskSecondsBounds() {
  return {1e-5, 3e-5, 1e-4, 3e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10};
}

}  // namespace

StorageStatistics::StorageStatistics()
    : sync_seconds_(DiskSecondsBounds()), commit_seconds_(DiskSecondsBounds()) {}

void StorageStatistics::Collect(runtime::MetricSink& sink) const {
  const storage::DataFolder* const folder = folder_.load(std::memory_order_acquire);
  if (folder == nullptr) {
    return;
  }
  const storage::DataStatistics statistics = folder->Statistics();
  sink.AddHistogram("waystar_storage_commit_seconds",
                    "How long creations, deletions and groups of updates of a map waited for the log, from "
                    "the end of their computation.",
                    commit_seconds_.Counts());
  sink.AddCounter("waystar_storage_refusals_total",
                  "Creations, deletions and groups of updates that could not be written, and were refused.",
                  statistics.log.refusals);
  sink.AddCounter("waystar_storage_written_bytes_total", "Bytes written to the log.",
                  statistics.log.written_bytes);
  sink.AddHistogram("waystar_storage_sync_seconds", "How long syncs of the log took.",
                    sync_seconds_.Counts());
  sink.AddGauge("waystar_storage_unsynced_seconds",
                "Age of the oldest commit that was acknowledged and is not on stable storage.",
                absl::ToDoubleSeconds(statistics.log.unsynced_age));
  sink.AddGauge("waystar_storage_loss_window_seconds",
                "Span of acknowledged commits that a power failure may lose: 0, or --sync_interval.",
                absl::ToDoubleSeconds(statistics.log.loss_window));
  sink.AddGauge("waystar_storage_log_bytes", "Size of the log's files.", statistics.log.bytes);
  sink.AddGauge("waystar_storage_images", "Images of maps in the data folder.", statistics.images.count);
  sink.AddGauge("waystar_storage_image_bytes", "Size of the images of maps in the data folder.",
                statistics.images.bytes);
  sink.AddCondition(
      "waystar_storage_refuses", "1 while changes are refused because the log cannot be written.",
      !statistics.log.status.ok(), absl::StrCat("changes are refused: ", statistics.log.status.message()));
  sink.AddCondition("waystar_storage_images_fail", "1 if the last images could not be made.",
                    !statistics.images.status.ok(),
                    absl::StrCat("images cannot be written: ", statistics.images.status.message()));
}

namespace {

// A change waits for a network, three disks and earlier changes.
std::vector<double> CommitSecondsBounds() {
  return {0.0003, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.1, 0.3, 1, 3, 10};
}

}  // namespace

FleetStatistics::FleetStatistics() : commit_seconds_(CommitSecondsBounds()) {}

void FleetStatistics::Collect(runtime::MetricSink& sink) const {
  const cluster::Fleet* const part = fleet();
  if (part == nullptr) {
    return;
  }
  const cluster::ClusterLogStatistics statistics = part->Statistics();
  sink.AddHistogram("waystar_fleet_commit_seconds",
                    "How long creations, deletions and groups of updates of a map waited for etcd, from the "
                    "end of their computation.",
                    commit_seconds_.Counts());
  sink.AddCounter("waystar_fleet_landed_total", "Transactions of this server that became durable.",
                  statistics.landed);
  sink.AddCounter("waystar_fleet_conflicts_total",
                  "How often another server was first, and changes of a map were tried again.",
                  statistics.conflicts);
  sink.AddCounter("waystar_fleet_followed_total", "Transactions of other servers that were applied.",
                  statistics.followed);
  sink.AddGauge("waystar_fleet_etcd_revision", "Revision of etcd up to which this server has followed it.",
                statistics.revision);
  sink.AddGauge("waystar_fleet_lag", "Revisions of etcd that this server has received and not applied yet.",
                statistics.lag);
  sink.AddGauge("waystar_fleet_staleness_seconds", "How long ago this server last had all that etcd has.",
                absl::ToDoubleSeconds(part->Staleness()));
  sink.AddGauge("waystar_fleet_clock_offset_seconds",
                "How far this server's clock is ahead of those of the other servers.",
                absl::ToDoubleSeconds(part->ClockOffset()));
  sink.AddCondition("waystar_fleet_broken_maps", "Maps that did not come out as the log says.",
                    statistics.broken,
                    absl::StrCat(statistics.broken, " maps disagree with the log and are not served"));
  sink.AddCondition("waystar_fleet_gone_back",
                    "1 once etcd is another one than before, or at an earlier revision, until the server is "
                    "started again.",
                    statistics.has_gone_back,
                    "etcd is another one than before, or at an earlier revision; restart the server");
  sink.AddCondition("waystar_fleet_refuses", "1 while changes are refused because etcd cannot be reached.",
                    !statistics.status.ok(),
                    absl::StrCat("changes are refused: ", statistics.status.message()));
}

void ResidenceStatistics::Collect(runtime::MetricSink& sink) const {
  if (!store_.CanMakeRoom()) {
    return;
  }
  const core::MapStore::ResidenceCounts maps = store_.CountResidence();
  const maintenance::MapKeeper::Statistics done = keeper_.GetStatistics();
  sink.AddGauge("waystar_unloaded_maps",
                "Maps that are not in memory, and are loaded when they are asked for.", maps.unloaded);
  sink.AddCounter("waystar_map_hits_total", "How often a map was asked for that was in memory.", maps.hits);
  sink.AddCounter("waystar_map_loads_total", "Maps that were loaded because they were asked for.",
                  done.loads);
  sink.AddCounter("waystar_map_load_failures_total", "Maps that were asked for and could not be loaded.",
                  done.failed_loads);
  sink.AddCounter("waystar_map_evictions_total", "Maps that were let go of to make room for others.",
                  done.evictions);
}

void LoadProgress::Collect(runtime::MetricSink& sink) const {
  MutexLock lock(mutex_);
  sink.AddCondition(
      "waystar_loading", "1 until the server has loaded its initial maps, else 0.", maps_.has_value(),
      maps_ ? absl::StrCat("maps are loading: ", maps_->read, " of ", maps_->total, " are loaded") : "");
}

void StallWatcher::Start(absl::Duration stall_time, std::function<absl::Duration()> age,
                         std::function<void(absl::Duration)> on_turn) {
  constexpr int kLooks = 4;
  auto look = [stall_time, age = std::move(age), on_turn = std::move(on_turn), stalls = false]() mutable {
    const absl::Duration now = age();
    if ((now > stall_time) != stalls) {
      stalls = !stalls;
      on_turn(stalls ? now : absl::ZeroDuration());
    }
  };
  look();
  thread_.Start("storage-stalls", stall_time / kLooks, std::move(look));
}

}  // namespace waystar::rpc
