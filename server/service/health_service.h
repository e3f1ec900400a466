// The standard health protocol of gRPC, which probes and load balancers ask without a token.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "server/base/mutex.h"
#include "server/service/admission/server_context.h"

namespace waystar::rpc {

class HealthWatch;

// Does what the library's own health service does, and lists the services, but within bounds: calls whose
// request does not arrive are ended, and watches have places of which a network has a share.
//
// Thread safety: any.
class HealthService final : public grpc::health::v1::Health::Service {
 public:
  using Status = grpc::health::v1::HealthCheckResponse::ServingStatus;

  // What `probes` names must outlive the server that this is registered with.
  explicit HealthService(const ServerContext& probes);

  // Sets the status of a service, which is known from then on, and tells those who watch it. An empty name
  // stands for the server as a whole.
  void Set(absl::string_view service, bool is_serving);

 private:
  friend HealthWatch;
  using Watches = std::vector<std::weak_ptr<HealthWatch>>;

  struct Service {
    Status status = grpc::health::v1::HealthCheckResponse::SERVICE_UNKNOWN;
    Watches watches;
  };

  void Add(const std::string& service, std::weak_ptr<HealthWatch> watch);
  void Remove(const std::string& service, const HealthWatch& watch);
  Status StatusOf(const std::string& service) const;
  // Only services that are known, since strangers choose which others are watched.
  void FillStatuses(grpc::health::v1::HealthListResponse& response) const;

  const ServerContext& probes_;
  // Watches are counted by the interceptor of calls.
  MethodStatistics uncounted_;
  mutable Mutex mutex_;
  // Services that are known or watched.
  absl::flat_hash_map<std::string, Service> services_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
