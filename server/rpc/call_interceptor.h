// What every call goes through on its way in and out.
#pragma once

#include <memory>

#include "grpcpp/support/server_interceptor.h"
#include "server/rpc/call_metrics.h"

namespace waystar::rpc {

// Makes an interceptor for each call, which
// - counts it in `metrics`, unless that is null; a call that ends without a status counts as cancelled,
// - sends its "x-request-id" back in the initial metadata, if the caller gave it one,
// - writes a line to the log if it ends with INTERNAL, UNKNOWN or DATA_LOSS, which are faults of the server.
//
// `metrics` must outlive the server.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeCallInterceptors(
    CallMetrics* metrics);

}  // namespace waystar::rpc
