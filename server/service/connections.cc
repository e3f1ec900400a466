#include "server/service/connections.h"

#include <limits>

#include "absl/time/time.h"
#include "grpc/compression.h"
#include "grpc/grpc.h"
#include "grpcpp/resource_quota.h"

namespace waystar::rpc {
namespace {

// Returns the time in the library's format, where the largest number means forever.
int MillisecondsOf(absl::Duration duration) {
  return duration == absl::ZeroDuration() ? std::numeric_limits<int>::max()
                                          : static_cast<int>(absl::ToInt64Milliseconds(duration));
}

}  // namespace

void LimitConnections(const runtime::ConnectionOptions& options, grpc::ServerBuilder& builder) {
  const auto set = [&builder](const char* name, int value) { builder.AddChannelArgument(name, value); };
  set(GRPC_ARG_MAX_CONNECTION_AGE_MS, MillisecondsOf(options.max_age));
  set(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, MillisecondsOf(options.max_age_grace));
  set(GRPC_ARG_MAX_CONNECTION_IDLE_MS, MillisecondsOf(options.max_idle));
  set(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, MillisecondsOf(options.handshake_timeout));
  set(GRPC_ARG_KEEPALIVE_TIME_MS, MillisecondsOf(options.keepalive_time));
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, MillisecondsOf(options.keepalive_timeout));
  // Applies in both directions: a watch of an unchanged map is a connection without data.
  set(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  set(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, MillisecondsOf(options.min_client_keepalive));
  set(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_concurrent_streams);
  // A kilobyte may inflate to a megabyte, before its size is checked and its sender is identified.
  set(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  if (options.memory_mib > 0) {
    grpc::ResourceQuota quota("waystar");
    quota.Resize(options.memory_mib << 20);
    builder.SetResourceQuota(quota);
  }
}

}  // namespace waystar::rpc
