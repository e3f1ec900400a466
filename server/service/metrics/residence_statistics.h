// Statistics and metrics of maps in memory.
#pragma once

#include "server/core/store/map_store.h"
#include "server/maintenance/map_keeper.h"
#include "server/runtime/metric_sink.h"
#include "waystar/v1/server_service.pb.h"

namespace waystar::rpc {

// Thread safety: any.
class ResidenceStatistics final : public runtime::MetricSource {
 public:
  // Both must outlive this.
  ResidenceStatistics(const core::MapStore& store, const maintenance::MapKeeper& keeper)
      : store_(store), keeper_(keeper) {}

  // Report nothing if all maps stay in memory.
  void Fill(v1::GetServerStatisticsResponse& out) const;
  void Collect(runtime::MetricSink& sink) const override;

 private:
  const core::MapStore& store_;
  const maintenance::MapKeeper& keeper_;
};

}  // namespace waystar::rpc
