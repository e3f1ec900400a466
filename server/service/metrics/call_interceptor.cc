#include "server/service/metrics/call_interceptor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "grpcpp/support/interceptor.h"
#include "server/runtime/logging.h"
#include "server/service/auth/caller.h"

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

namespace {

constexpr char kTraceParentKey[] = "traceparent";

constexpr std::size_t kMaxRequestIdBytes = 128;

// Position of the trace id in a traceparent: "00-<32 digits>-<16 digits>-<2 digits>".
constexpr std::size_t kTraceIdBegin = 3;
constexpr std::size_t kTraceIdDigits = 32;
constexpr std::size_t kTraceParentBytes = 55;

// Returns an empty value if the key is missing.
absl::string_view MetadataOf(const grpc::ServerContextBase& context, const char* key) {
  const auto found = context.client_metadata().find(key);
  return found == context.client_metadata().end()
             ? absl::string_view()
             : absl::string_view(found->second.data(), found->second.size());
}

// Returns true for a hexadecimal digit in lower case, as the standard requires.
bool IsHexDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
}

absl::optional<absl::string_view> TraceId(const grpc::ServerContextBase& context) {
  const absl::string_view parent = MetadataOf(context, kTraceParentKey);
  // Later versions may be longer.
  if (parent.size() < kTraceParentBytes || parent[kTraceIdBegin - 1] != '-' ||
      parent[kTraceIdBegin + kTraceIdDigits] != '-') {
    return absl::nullopt;
  }
  const absl::string_view id = parent.substr(kTraceIdBegin, kTraceIdDigits);
  if (!std::all_of(id.begin(), id.end(), IsHexDigit) ||
      std::all_of(id.begin(), id.end(), [](char c) { return c == '0'; })) {
    return absl::nullopt;
  }
  return id;
}

}  // namespace

absl::optional<absl::string_view> SentRequestId(const grpc::ServerContextBase& context) {
  const absl::string_view id = MetadataOf(context, kRequestIdKey);
  if (id.empty() || id.size() > kMaxRequestIdBytes || !std::all_of(id.begin(), id.end(), [](char c) {
        return absl::ascii_isgraph(static_cast<unsigned char>(c));
      })) {
    return absl::nullopt;
  }
  return id;
}

bool HasSentId(const grpc::ServerContextBase& context) {
  return !MetadataOf(context, kRequestIdKey).empty() || !MetadataOf(context, kTraceParentKey).empty();
}

std::string RequestIdOf(const grpc::ServerContextBase& context) {
  if (const auto sent = SentRequestId(context)) {
    return std::string(*sent);
  }
  if (const auto trace = TraceId(context)) {
    return std::string(*trace);
  }
  thread_local absl::BitGen generator;
  return absl::StrCat("local-", absl::Hex(absl::Uniform<std::uint64_t>(generator), absl::kZeroPad16));
}

}  // namespace waystar::rpc
