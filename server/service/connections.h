// Settings of the RPC library for connections.
#pragma once

#include "grpcpp/server_builder.h"
#include "server/runtime/options.h"

namespace waystar::rpc {

// Sets the limits of connections. Compressed messages are never inflated: a call with compressed messages
// fails with UNIMPLEMENTED, whatever its service, as gRPC's specification of compression requires.
void LimitConnections(const runtime::ConnectionOptions& options, grpc::ServerBuilder& builder);

}  // namespace waystar::rpc
