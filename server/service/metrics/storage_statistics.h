// Statistics of the data folder, for GetServerStatistics and metrics.
#pragma once

#include <atomic>

#include "absl/time/time.h"
#include "server/runtime/histogram.h"
#include "server/runtime/metric_sink.h"
#include "server/storage/folder/data_folder.h"
#include "waystar/v1/server_service.pb.h"

namespace waystar::rpc {

// Thread safety: any.
class StorageStatistics final : public runtime::MetricSource {
 public:
  StorageStatistics();

  // Sets the folder that is reported, which must outlive all calls of Fill and Collect.
  void SetFolder(const storage::DataFolder& folder) { folder_.store(&folder, std::memory_order_release); }

  // Count what the folder's log does; storage::CommitLogOptions says when.
  void CountSync(absl::Duration took) { sync_seconds_.Observe(absl::ToDoubleSeconds(took)); }
  void CountCommit(absl::Duration waited) { commit_seconds_.Observe(absl::ToDoubleSeconds(waited)); }

  // Sets `storage`, unless there is no folder.
  void Fill(v1::GetServerStatisticsResponse& out) const;
  // Adds waystar_storage_*, unless there is no folder.
  void Collect(runtime::MetricSink& sink) const override;

 private:
  std::atomic<const storage::DataFolder*> folder_ = nullptr;
  runtime::Histogram sync_seconds_;
  runtime::Histogram commit_seconds_;
};

}  // namespace waystar::rpc
