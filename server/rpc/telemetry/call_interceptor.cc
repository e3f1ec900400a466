#include "server/rpc/telemetry/call_interceptor.h"

#include <chrono>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "grpcpp/support/interceptor.h"
#include "server/rpc/call/request_id.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

bool IsServerFault(grpc::StatusCode code) {
  return code == grpc::StatusCode::INTERNAL || code == grpc::StatusCode::UNKNOWN ||
         code == grpc::StatusCode::DATA_LOSS;
}

// The hooks of one call come one after the other.
class CallInterceptor final : public grpc::experimental::Interceptor {
 public:
  CallInterceptor(ServerRpcInfo& call, MethodMetrics* metrics) : call_(call), metrics_(metrics) {
    if (metrics_ != nullptr) {
      metrics_->CountStarted();
    }
  }

  ~CallInterceptor() override { CountHandled(grpc::StatusCode::CANCELLED); }

  void Intercept(InterceptorBatchMethods* batch) override {
    if (metrics_ != nullptr) {
      CountMessages(*batch);
    }
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      if (const auto id = SentRequestId(*call_.server_context())) {
        batch->GetSendInitialMetadata()->emplace(kRequestIdKey, std::string(*id));
      }
    }
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      OnStatus(batch->GetSendStatus());
    }
    batch->Proceed();
  }

 private:
  void CountMessages(InterceptorBatchMethods& batch) {
    // A read that finds the end of a stream has no message.
    if (batch.QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE) &&
        batch.GetRecvMessage() != nullptr) {
      metrics_->CountReceived();
    }
    if (batch.QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      metrics_->CountSent();
    }
  }

  void OnStatus(const grpc::Status& status) {
    // The library's own health service ends cancelled watches with UNKNOWN.
    if (IsServerFault(status.error_code()) && call_.server_context()->IsCancelled()) {
      CountHandled(grpc::StatusCode::CANCELLED);
      return;
    }
    CountHandled(status.error_code());
    if (IsServerFault(status.error_code())) {
      runtime::Log(runtime::LogLevel::kError, "call_failed",
                   {{"method", absl::string_view(call_.method()).substr(1)},
                    {"code", static_cast<int>(status.error_code())},
                    {"error", status.error_message()},
                    {"peer", call_.server_context()->peer()},
                    {"request_id", RequestIdOf(*call_.server_context())}});
    }
  }

  void CountHandled(grpc::StatusCode code) {
    if (metrics_ != nullptr && !is_handled_) {
      is_handled_ = true;
      metrics_->CountHandled(code, absl::FromChrono(std::chrono::steady_clock::now() - begin_));
    }
  }

  ServerRpcInfo& call_;
  MethodMetrics* const metrics_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool is_handled_ = false;
};

class CallInterceptorFactory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CallInterceptorFactory(CallMetrics* metrics) : metrics_(metrics) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(ServerRpcInfo* call) override {
    if (metrics_ != nullptr) {
      return new CallInterceptor(*call, &metrics_->Of(call->method()));
    }
    return HasSentId(*call->server_context()) ? new CallInterceptor(*call, nullptr) : nullptr;
  }

 private:
  CallMetrics* const metrics_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeCallInterceptors(
    CallMetrics* metrics) {
  return std::make_unique<CallInterceptorFactory>(metrics);
}

}  // namespace waystar::rpc
