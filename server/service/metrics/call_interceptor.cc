#include "server/service/metrics/call_interceptor.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "grpcpp/support/interceptor.h"
#include "server/runtime/logging.h"
#include "server/service/auth/peer.h"
#include "server/service/call/request_id.h"

namespace waystar::rpc {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

bool IsServerFault(grpc::StatusCode code) {
  return code == grpc::StatusCode::INTERNAL || code == grpc::StatusCode::UNKNOWN ||
         code == grpc::StatusCode::DATA_LOSS;
}

// The hooks of one call are called in sequence.
class CallInterceptor final : public grpc::experimental::Interceptor {
 public:
  // `statistics` is null for a call that is not counted.
  CallInterceptor(ServerRpcInfo& call, MethodStatistics* statistics) : call_(call) {
    if (statistics != nullptr) {
      counted_.emplace(*statistics);
    }
  }

  ~CallInterceptor() override { CountEnd(grpc::StatusCode::CANCELLED); }

  void Intercept(InterceptorBatchMethods* batch) override {
    if (counted_.has_value()) {
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
    // A read at the end of a stream has no message.
    if (batch.QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE) &&
        batch.GetRecvMessage() != nullptr) {
      counted_->CountReceived();
    }
    if (batch.QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      counted_->CountSent();
    }
  }

  void OnStatus(const grpc::Status& status) {
    // The library's own health service ends cancelled watches with UNKNOWN.
    if (IsServerFault(status.error_code()) && call_.server_context()->IsCancelled()) {
      CountEnd(grpc::StatusCode::CANCELLED);
      return;
    }
    CountEnd(status.error_code());
    if (IsServerFault(status.error_code())) {
      runtime::Log(runtime::LogLevel::kError, "call_failed",
                   {{"method", absl::string_view(call_.method()).substr(1)},
                    {"code", static_cast<int>(status.error_code())},
                    {"error", status.error_message()},
                    {"peer", PeerOf(*call_.server_context())},
                    {"request_id", RequestIdOf(*call_.server_context())}});
    }
  }

  void CountEnd(grpc::StatusCode code) {
    if (counted_.has_value()) {
      counted_->End(static_cast<absl::StatusCode>(code));
      counted_.reset();
    }
  }

  ServerRpcInfo& call_;
  // Valid until the call has ended.
  std::optional<CountedCall> counted_;
};

class CallInterceptorFactory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CallInterceptorFactory(CallStatistics* statistics) : statistics_(statistics) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(ServerRpcInfo* call) override {
    MethodStatistics* const counts =
        statistics_ == nullptr ? nullptr : statistics_->OfLibrary(call->method());
    return counts != nullptr || HasSentId(*call->server_context()) ? new CallInterceptor(*call, counts)
                                                                   : nullptr;
  }

 private:
  CallStatistics* const statistics_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeCallInterceptors(
    CallStatistics* statistics) {
  return std::make_unique<CallInterceptorFactory>(statistics);
}

}  // namespace waystar::rpc
