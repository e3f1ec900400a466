// Settings of the RPC library for connections.
#pragma once

#include "grpcpp/server_builder.h"
#include "server/runtime/connection_options.h"

namespace waystar::rpc {

// Sets the limits of connections. Compressed messages are never inflated: a call that names a compression of
// its messages is answered with UNIMPLEMENTED, whatever its service, as gRPC's specification of compression
// says.
void LimitConnections(const runtime::ConnectionOptions& options, grpc::ServerBuilder& builder);

}  // namespace waystar::rpc
