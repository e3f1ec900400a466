// Metrics of where the maps are kept: data folder, fleet and memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"
#include "server/core/store/map_store.h"
#include "server/maintenance/map_keeper.h"
#include "server/runtime/metric_sink.h"
#include "server/storage/fleet/fleet.h"
#include "server/storage/folder/data_folder.h"

namespace waystar::rpc {

// Statistics of the data folder. Thread safety: any.
class StorageStatistics final : public runtime::MetricSource {
 public:
  StorageStatistics();

  // Sets the folder that is reported, which must outlive all calls of Collect.
  void SetFolder(const storage::DataFolder& folder) { folder_.store(&folder, std::memory_order_release); }

  // Count what the folder's log does; storage::CommitLogOptions says when.
  void CountSync(absl::Duration took) { sync_seconds_.Observe(absl::ToDoubleSeconds(took)); }
  void CountCommit(absl::Duration waited) { commit_seconds_.Observe(absl::ToDoubleSeconds(waited)); }

  // Adds waystar_storage_*, unless there is no folder.
  void Collect(runtime::MetricSink& sink) const override;

 private:
  std::atomic<const storage::DataFolder*> folder_ = nullptr;
  runtime::Histogram sync_seconds_;
  runtime::Histogram commit_seconds_;
};

// Statistics of this server in its fleet. Thread safety: any.
class FleetStatistics final : public runtime::MetricSource {
 public:
  FleetStatistics();

  // Sets the fleet that is reported, which must outlive all calls of Collect.
  void SetFleet(const cluster::Fleet& fleet) { fleet_.store(&fleet, std::memory_order_release); }

  // Returns null if there is none.
  const cluster::Fleet* fleet() const { return fleet_.load(std::memory_order_acquire); }

  // Counts a change that became durable; ClusterLogOptions says when.
  void CountCommit(absl::Duration waited) { commit_seconds_.Observe(absl::ToDoubleSeconds(waited)); }

  // Adds waystar_fleet_*, unless there is none.
  void Collect(runtime::MetricSink& sink) const override;

 private:
  std::atomic<const cluster::Fleet*> fleet_ = nullptr;
  runtime::Histogram commit_seconds_;
};

// Statistics of the maps in memory. Thread safety: any.
class ResidenceStatistics final : public runtime::MetricSource {
 public:
  // Both must outlive this.
  ResidenceStatistics(const core::MapStore& store, const maintenance::MapKeeper& keeper)
      : store_(store), keeper_(keeper) {}

  // Adds nothing if all maps stay in memory.
  void Collect(runtime::MetricSink& sink) const override;

 private:
  const core::MapStore& store_;
  const maintenance::MapKeeper& keeper_;
};

// Progress in loading the initial maps. Thread safety: any.
class LoadProgress final : public runtime::MetricSource {
 public:
  struct Maps {
    std::int64_t read = 0;
    std::int64_t total = 0;
  };

  void Set(const Maps& maps) {
    MutexLock lock(mutex_);
    maps_ = maps;
  }
  // All are read.
  void Finish() {
    MutexLock lock(mutex_);
    maps_.reset();
  }

  void Collect(runtime::MetricSink& sink) const override;

 private:
  mutable Mutex mutex_;
  std::optional<Maps> maps_ ABSL_GUARDED_BY(mutex_) = Maps();
};

// Watcher of an age that must not exceed a limit, such as that of changes that wait for a hanging disk. Runs
// one thread, which checks several times per limit.
//
// Thread safety: one thread.
class StallWatcher {
 public:
  // Checks once, and starts the thread, which continues. `on_turn` is called with the age when it exceeds
  // `stall_time`, and with 0 when it no longer does, once per change. Both functions must be callable until
  // Stop. REQUIRES: called at most once; stall_time > 0.
  void Start(absl::Duration stall_time, std::function<absl::Duration()> age,
             std::function<void(absl::Duration)> on_turn);

  // Ends the thread.
  void Stop() { thread_.Stop(); }

 private:
  PeriodicThread thread_;
};

}  // namespace waystar::rpc
