// The service waystar.v1.ServerService.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/core/store/map_store.h"
#include "server/runtime/options.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/raw_service.h"
#include "server/service/call/unary_call.h"
#include "server/service/metrics/metric_collector.h"
#include "server/service/metrics/storage_statistics.h"
#include "waystar/v1/server_service.grpc.pb.h"

namespace waystar::rpc {

// Thread safety: any. The referenced objects must outlive the server that this is registered with.
class ServerService final : public RawService<v1::ServerService> {
 public:
  // The server's start time is now.
  ServerService(const ServerContext& server, const core::MapStore& store, const MetricCollector& metrics,
                const FleetStatistics& fleet, const runtime::Options& options);

  absl::Time start_time() const { return start_time_; }
  // Sets the address for clients. REQUIRES: not registered yet.
  void SetAddress(std::string address) { address_ = std::move(address); }

 private:
  absl::Status Describe(v1::GetServerInfoResponse& response) const;
  void AnswerServers(v1::ListServersResponse& response, UnaryDone done) const;

  const core::MapStore& store_;
  const FleetStatistics& fleet_;
  const runtime::Options options_;
  const absl::Time start_time_;
  std::string address_;
};

}  // namespace waystar::rpc
