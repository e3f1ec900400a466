// Statistics of the data folder, for GetServerStatistics and for metrics.
#pragma once

#include <atomic>

#include "server/runtime/metric_sink.h"
#include "server/storage/data_folder.h"
#include "waystar/v1/server_service.pb.h"

namespace waystar::rpc {

// Thread safety: any.
class StorageStatistics final : public runtime::MetricSource {
 public:
  // Sets the folder that is reported, which must outlive this.
  void SetFolder(const storage::DataFolder& folder) { folder_.store(&folder, std::memory_order_release); }

  // Sets `storage`, unless there is no folder.
  void Fill(v1::GetServerStatisticsResponse& out) const;
  // Adds waystar_storage_*, unless there is no folder.
  void Collect(runtime::MetricSink& sink) const override;

 private:
  std::atomic<const storage::DataFolder*> folder_ = nullptr;
};

}  // namespace waystar::rpc
