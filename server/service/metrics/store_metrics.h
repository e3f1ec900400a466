// Metrics of the server's maps, snapshots, watches and transfers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"
#include "server/core/store/update_batch.h"
#include "server/maintenance/map_keeper.h"
#include "server/runtime/metric_sink.h"
#include "server/service/admission/call_slots.h"
#include "server/service/auth/caller.h"

namespace waystar::rpc {

// Metrics of the maps in memory: their totals, and the largest by name.
//
// Thread safety: any. Collecting takes time proportional to the number of maps and their bands of rows: a few
// milliseconds for thousands.
class MapMetrics final : public runtime::MetricSource {
 public:
  // Limits of Collect, whose readers keep every name: maps that are named at a time, and names that are ever
  // used, however many maps clients create and delete.
  static constexpr std::size_t kMaxMaps = 20;
  static constexpr std::size_t kMaxNames = 100;
  // Limit of CollectFor.
  static constexpr std::size_t kMaxListedMaps = 200;

  // `store` must outlive this.
  explicit MapMetrics(const core::MapStore& store) : store_(store) {}

  void Collect(runtime::MetricSink& sink) const override;
  // Adds the same metrics of the maps that the caller may read.
  void CollectFor(const Caller& caller, runtime::MetricSink& sink) const;

 private:
  void CollectLargest(const std::vector<maintenance::MapUsage>& maps, std::size_t most,
                      absl::FunctionRef<bool(const std::string&)> may_be_named,
                      runtime::MetricSink& sink) const;
  bool MayBeNamed(const std::string& map) const;

  const core::MapStore& store_;
  mutable Mutex mutex_;
  mutable absl::flat_hash_set<std::string> names_ ABSL_GUARDED_BY(mutex_);
};

// Metrics of memory, snapshots, watches, streams and transfers. Thread safety: any.
class StoreMetrics final : public runtime::MetricSource {
 public:
  // All must outlive this.
  StoreMetrics(const core::MapStore& store, const CallSlots& transfers, const CallSlots& watches,
               const CallSlots& streams, const CallSlots& agents)
      : store_(store), transfers_(transfers), watches_(watches), streams_(streams), agents_(agents) {}

  void Collect(runtime::MetricSink& sink) const override;

 private:
  const core::MapStore& store_;
  const CallSlots& transfers_;
  const CallSlots& watches_;
  const CallSlots& streams_;
  const CallSlots& agents_;
};

// Metrics of the number and results of map updates. Listens to commits, and is notified of answers to
// clients.
//
// Thread safety: any.
class UpdateMetrics final : public core::StoreListener, public runtime::MetricSource {
 public:
  // Counts the answer to a client's batch; called once for each.
  void CountAnswer(const absl::StatusOr<core::UpdateResult>& answer);

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::CommitPtr> commits,
                const core::MapChanges& changes) override;
  void OnDelete(const core::PinnedSnapshot& /*last*/) override {}

  void Collect(runtime::MetricSink& sink) const override;

 private:
  std::atomic<std::uint64_t> applied_ = 0;
  std::atomic<std::uint64_t> repeated_ = 0;
  std::atomic<std::uint64_t> commits_ = 0;
  std::atomic<std::uint64_t> snapshots_ = 0;
  std::atomic<std::uint64_t> edits_ = 0;
  std::atomic<std::uint64_t> changed_cells_ = 0;
  mutable Mutex mutex_;
  // Keys are reasons, whose number is bounded.
  absl::btree_map<std::string, std::uint64_t> refused_ ABSL_GUARDED_BY(mutex_);
};

// Does nothing if `metrics` is null.
inline void CountAnswer(UpdateMetrics* metrics, const absl::StatusOr<core::UpdateResult>& answer) {
  if (metrics != nullptr) {
    metrics->CountAnswer(answer);
  }
}

}  // namespace waystar::rpc
