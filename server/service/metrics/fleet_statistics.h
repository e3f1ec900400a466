// Statistics of this server in its fleet, for GetServerStatistics and metrics.
#pragma once

#include <atomic>

#include "absl/time/time.h"
#include "server/runtime/histogram.h"
#include "server/runtime/metric_sink.h"
#include "server/storage/fleet/fleet.h"
#include "waystar/v1/server_service.pb.h"

namespace waystar::rpc {

// Thread safety: any.
class FleetStatistics final : public runtime::MetricSource {
 public:
  FleetStatistics();

  // Sets the fleet that is reported, which must outlive all calls of Fill and Collect.
  void SetFleet(const cluster::Fleet& fleet) { fleet_.store(&fleet, std::memory_order_release); }

  // Returns null if there is none.
  const cluster::Fleet* fleet() const { return fleet_.load(std::memory_order_acquire); }

  // Counts a change that became durable; ClusterLogOptions says when.
  void CountCommit(absl::Duration waited) { commit_seconds_.Observe(absl::ToDoubleSeconds(waited)); }

  // Sets `fleet`, unless there is none.
  void Fill(v1::GetServerStatisticsResponse& out) const;
  // Adds waystar_fleet_*, unless there is none.
  void Collect(runtime::MetricSink& sink) const override;

 private:
  std::atomic<const cluster::Fleet*> fleet_ = nullptr;
  runtime::Histogram commit_seconds_;
};

}  // namespace waystar::rpc
