#include "server/service/health_service.h"

#include <optional>
#include <utility>

#include "google/protobuf/descriptor.h"
#include "grpcpp/support/server_callback.h"
#include "server/base/status_macros.h"
#include "server/service/call/after_request.h"
#include "server/service/call/call_context.h"
#include "server/service/call/request_parser.h"
#include "server/service/call/streaming_call.h"

namespace waystar::rpc {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::health::v1::HealthListRequest;
using grpc::health::v1::HealthListResponse;

// Longer names belong to no service.
constexpr std::size_t kMaxNameBytes = 200;

}  // namespace

// Writes the status initially and after each change. A slow client misses intermediate statuses.
class HealthWatch final : public WritingCall {
 public:
  HealthWatch(HealthService& health, grpc::CallbackServerContext& rpc, const grpc::ByteBuffer& request)
      : WritingCall(Kind::kOpenEnded, health.probes_, rpc, health.uncounted_),
        health_(health),
        request_bytes_(request) {}

  void OnNews() { const Change change(*this); }

 private:
  absl::Status Admit() override {
    WAYSTAR_RETURN_IF_ERROR(ParseRequest(request_bytes_, request_, memory_));
    if (request_.service().size() > kMaxNameBytes) {
      return MakeError(ErrorReason::kBadValue, "service",
                       "service must be the name of a service of this server");
    }
    WAYSTAR_RETURN_IF_ERROR(TakeProbeSlot(server_.watches));
    health_.Add(request_.service(), std::static_pointer_cast<HealthWatch>(shared_from_this()));
    is_added_ = true;
    return absl::OkStatus();
  }

  void Advance() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!is_added_ || is_writing() || end().has_value()) {
      return;
    }
    const HealthService::Status status = health_.StatusOf(request_.service());
    if (status != sent_) {
      sent_ = status;
      HealthCheckResponse message;
      message.set_status(status);
      Write(Serialize(message));
    }
  }

  void OnDetached() override {
    if (is_added_) {
      health_.Remove(request_.service(), *this);
    }
  }

  HealthService& health_;
  // Valid until the watch is admitted.
  const grpc::ByteBuffer& request_bytes_;
  HealthCheckRequest request_;
  bool is_added_ = false;
  std::optional<HealthService::Status> sent_ ABSL_GUARDED_BY(mutex_);
};

HealthService::HealthService(const ServerContext& probes) : probes_(probes) {
  using Bytes = grpc::ByteBuffer;
  using Rpc = grpc::CallbackServerContext;
  const auto mark = [this](const char* name, std::unique_ptr<grpc::internal::MethodHandler> handler) {
    const auto& health = *HealthCheckRequest::descriptor()->file()->FindServiceByName("Health");
    const int method = health.FindMethodByName(name)->index();
    MarkMethodStreamed(method, nullptr);
    MarkMethodRawCallback(method, new AfterRequest(std::move(handler), probes_));
  };
  mark("Check",
       std::make_unique<grpc::internal::CallbackUnaryHandler<HealthCheckRequest, HealthCheckResponse>>(
           [this](Rpc* rpc, const HealthCheckRequest* request, HealthCheckResponse* response) {
             const Status status = StatusOf(request->service());
             response->set_status(status);
             auto* const reactor = rpc->DefaultReactor();
             reactor->Finish(status == HealthCheckResponse::SERVICE_UNKNOWN
                                 ? grpc::Status(grpc::StatusCode::NOT_FOUND, "unknown service")
                                 : grpc::Status::OK);
             return reactor;
           }));
  mark("List", std::make_unique<grpc::internal::CallbackUnaryHandler<HealthListRequest, HealthListResponse>>(
                   [this](Rpc* rpc, const HealthListRequest* /*request*/, HealthListResponse* response) {
                     FillStatuses(*response);
                     auto* const reactor = rpc->DefaultReactor();
                     reactor->Finish(grpc::Status::OK);
                     return reactor;
                   }));
  mark("Watch",
       std::make_unique<grpc::internal::CallbackServerStreamingHandler<Bytes, Bytes>>(
           [this](Rpc* rpc, const Bytes* request) { return StartCall<HealthWatch>(*this, *rpc, *request); }));
}

void HealthService::Set(absl::string_view service, bool is_serving) {
  Watches watches;
  {
    MutexLock lock(mutex_);
    Service& known = services_[service];
    known.status = is_serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
    watches = known.watches;
  }
  for (const std::weak_ptr<HealthWatch>& each : watches) {
    if (const std::shared_ptr<HealthWatch> watch = each.lock()) {
      watch->OnNews();
    }
  }
}

void HealthService::Add(const std::string& service, std::weak_ptr<HealthWatch> watch) {
  MutexLock lock(mutex_);
  services_[service].watches.push_back(std::move(watch));
}

void HealthService::Remove(const std::string& service, const HealthWatch& watch) {
  MutexLock lock(mutex_);
  const auto found = services_.find(service);
  std::erase_if(found->second.watches, [&](const auto& each) { return each.lock().get() == &watch; });
  if (found->second.watches.empty() && found->second.status == HealthCheckResponse::SERVICE_UNKNOWN) {
    services_.erase(found);
  }
}

HealthService::Status HealthService::StatusOf(const std::string& service) const {
  MutexLock lock(mutex_);
  const auto found = services_.find(service);
  return found == services_.end() ? HealthCheckResponse::SERVICE_UNKNOWN : found->second.status;
}

void HealthService::FillStatuses(HealthListResponse& response) const {
  MutexLock lock(mutex_);
  for (const auto& [name, service] : services_) {
    if (service.status != HealthCheckResponse::SERVICE_UNKNOWN) {
      (*response.mutable_statuses())[name].set_status(service.status);
    }
  }
}

}  // namespace waystar::rpc
