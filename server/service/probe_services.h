// Services that need no token: health for probes and load balancers, and reflection for tools such as
// grpcurl.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/impl/service_type.h"
#include "server/base/mutex.h"
#include "server/service/admission/server_context.h"

namespace waystar::rpc {

class HealthWatch;

// Standard gRPC health protocol. Works like the library's own health service, and lists the services, but
// within limits: calls whose request does not arrive are ended, and a network has a share of the places for
// watches.
//
// Thread safety: any.
class HealthService final : public grpc::health::v1::Health::Service {
 public:
  using Status = grpc::health::v1::HealthCheckResponse::ServingStatus;

  // Objects referenced by `probes` must outlive the server that this is registered with.
  explicit HealthService(const ServerContext& probes);

  // Sets the status of a service, which is known from then on, and notifies its watchers. An empty name means
  // the server as a whole.
  void Set(absl::string_view service, bool is_serving);
  // Returns true if the server as a whole is serving.
  bool IsServing() const { return StatusOf("") == grpc::health::v1::HealthCheckResponse::SERVING; }

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
  // Only known services, since unauthenticated clients choose which others are watched.
  void FillStatuses(grpc::health::v1::HealthListResponse& response) const;

  const ServerContext& probes_;
  // Watches are counted by the call interceptor.
  MethodStatistics uncounted_;
  mutable Mutex mutex_;
  // Known or watched services.
  absl::flat_hash_map<std::string, Service> services_ ABSL_GUARDED_BY(mutex_);
};

// Describes services and messages to clients. Serves grpc.reflection.v1, and also the otherwise identical
// v1alpha: new tools use the former, old tools the latter, and some versions of the library have only one.
//
// A network has a share of the places for such calls, since they need no token.
//
// Thread safety: any thread.
class ReflectionService : public grpc::Service {
 public:
  // Objects referenced by `probes` must outlive the server that this is registered with.
  explicit ReflectionService(const ServerContext& probes);

 private:
  // Calls are counted by the interceptor.
  MethodStatistics uncounted_;
};

}  // namespace waystar::rpc
