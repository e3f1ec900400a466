// Metrics of the number and results of map updates.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/store/store_listener.h"
#include "server/core/store/update_batch.h"
#include "server/runtime/metric_sink.h"

namespace waystar::rpc {

// Listens to commits, and is notified of answers to clients.
//
// Thread safety: any.
class UpdateMetrics final : public core::StoreListener, public runtime::MetricSource {
 public:
  // Counts the answer to a client's batch; called once for each.
  void CountAnswer(const absl::StatusOr<core::UpdateResult>& answer);

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::SharedCommit> commits,
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
