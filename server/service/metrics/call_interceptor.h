// Interceptors of the calls that send a request id, and of those that the RPC library answers itself.
#pragma once

#include <memory>

#include "grpcpp/support/server_interceptor.h"
#include "server/service/admission/call_statistics.h"

namespace waystar::rpc {

// Makes interceptors for calls that may have sent an id, which
// - send the call's "x-request-id" back in the initial metadata, if the caller gave it one,
// - write a line to the log if it ends with INTERNAL, UNKNOWN or DATA_LOSS, which are faults of the server.
// Other calls are spared this, which costs some microseconds; ToGrpcStatus logs their faults.
//
// With `statistics`, which may be null and must outlive the server, they also count the calls of the
// library's own services and of unknown methods, which no code of this program sees. A call that ends without
// a status counts as cancelled.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeCallInterceptors(
    CallStatistics* statistics);

}  // namespace waystar::rpc
