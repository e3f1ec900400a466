#include "server/service/call/call_context.h"

#include <chrono>

#include "absl/hash/hash.h"
#include "server/service/auth/failed_tokens.h"
#include "server/service/auth/peer.h"

namespace waystar::rpc {

std::chrono::steady_clock::time_point DeadlineOf(const grpc::CallbackServerContext& context) {
  using std::chrono::steady_clock;
  using std::chrono::system_clock;
  const system_clock::time_point deadline = context.deadline();
  if (deadline == system_clock::time_point::max()) {
    return steady_clock::time_point::max();
  }
  const system_clock::time_point now = system_clock::now();
  // A deadline this far away counts as none; the conversion might overflow.
  if (deadline - now > std::chrono::hours(24 * 365)) {
    return steady_clock::time_point::max();
  }
  return steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(deadline - now);
}

runtime::Flow FlowOf(const Caller& caller, const grpc::CallbackServerContext& context,
                     absl::string_view map) {
  return {.client = caller.is_anyone() ? absl::HashOf(PeerOf(context)) : caller.id(),
          .map = absl::HashOf(map)};
}

runtime::Flow ImportFlowOf(const Caller& caller, const grpc::CallbackServerContext& context) {
  return {.client = HolderOf(caller, context)};
}

std::uint64_t HolderOf(const Caller& caller, const grpc::CallbackServerContext& context) {
  return caller.is_anyone() ? absl::HashOf(NetworkOf(PeerOf(context))) : caller.id();
}

}  // namespace waystar::rpc
