// Handler that is notified of a call when its headers arrive, before its request.
#pragma once

#include <memory>
#include <utility>

#include "grpcpp/impl/rpc_service_method.h"
#include "server/service/admission/server_context.h"

namespace waystar::rpc {

// Reads the single request of a call, and then runs the library's own handler. By itself the library reads
// the request before it notifies anyone, and so cannot bound calls that are begun but never continued. Use it
// for a method that is marked as a stream.
//
// A call that is cancelled because its request does not arrive counts against its connection.
//
// A request that has already arrived, as nearly all have, costs one more operation on the call.
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
