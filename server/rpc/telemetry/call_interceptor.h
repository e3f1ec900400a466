// What every call goes through on its way in and out.
#pragma once

#include <memory>

#include "grpcpp/support/server_interceptor.h"
#include "server/rpc/telemetry/call_metrics.h"

namespace waystar::rpc {

// Makes interceptors for calls, which
// - count the call in `metrics`, unless that is null; one that ends without a status counts as cancelled,
// - send its "x-request-id" back in the initial metadata, if the caller gave it one,
// - write a line to the log if it ends with INTERNAL, UNKNOWN or DATA_LOSS, which are faults of the server.
//
// An intercepted call costs the RPC library some microseconds more. So without `metrics` only those calls are
// intercepted that their callers gave an id; of the others' faults ToGrpcStatus tells.
//
// `metrics` must outlive the server.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeCallInterceptors(
    CallMetrics* metrics);

}  // namespace waystar::rpc
