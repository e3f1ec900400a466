// Settings of the RPC library for connections.
#pragma once

#include "grpcpp/server_builder.h"
#include "server/runtime/connection_options.h"

namespace waystar::rpc {

void LimitConnections(const runtime::ConnectionOptions& options, grpc::ServerBuilder& builder);

}  // namespace waystar::rpc
