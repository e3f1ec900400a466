// Handler of calls that is told of them when their headers are here, not only when their request is.
#pragma once

#include <memory>
#include <utility>

#include "grpcpp/impl/rpc_service_method.h"
#include "server/service/admission/server_context.h"

namespace waystar::rpc {

// Reads the one request of a call, and then lets the library's own handler go on with it. The library reads
// the request of such a call itself before it tells anyone of it, and so has no bound on calls that are begun
// and never go on. To be set for a method that the library takes for a stream.
//
// A call that is cancelled since it does not go on counts against its connection.
//
// A request that is there already, as nearly all are, costs one more operation on the call and nothing else.
//
// Thread safety: any.
class AfterRequest final : public grpc::internal::MethodHandler {
 public:
  // The context must outlive the server that the handler is registered with.
  AfterRequest(std::unique_ptr<grpc::internal::MethodHandler> handler, const ServerContext& server)
      : handler_(std::move(handler)), server_(server) {}

  void RunHandler(const HandlerParameter& call) override;

 private:
  class Call;

  const std::unique_ptr<grpc::internal::MethodHandler> handler_;
  const ServerContext& server_;
};

}  // namespace waystar::rpc
