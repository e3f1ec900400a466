// Handler of calls that is told of them when their headers are here, not only when their request is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "grpcpp/impl/rpc_service_method.h"
#include "grpcpp/server_context.h"
#include "server/rpc/admission/awaited_requests.h"

namespace waystar::rpc {

// Reads the one request of a call, and then lets the library's own handler go on with it. The library reads
// the request of such a call itself before it tells anyone of it, and so has no bound on calls that are begun
// and never go on. To be set for a method that the library takes for a stream.
//
// A request that is there already, as nearly all are, costs one more operation on the call and nothing else.
//
// Thread safety: any.
class AfterRequest final : public grpc::internal::MethodHandler {
 public:
  // Returns who is to hold the place of a call whose request is not there yet, or why the call may not wait.
  using FindHolder = std::function<absl::StatusOr<std::uint64_t>(const grpc::CallbackServerContext&)>;

  // `awaited` must outlive the server.
  AfterRequest(std::unique_ptr<grpc::internal::MethodHandler> handler, AwaitedRequests& awaited,
               FindHolder find_holder);

  void RunHandler(const HandlerParameter& call) override;

 private:
  class Call;

  const std::unique_ptr<grpc::internal::MethodHandler> handler_;
  AwaitedRequests& awaited_;
  const FindHolder find_holder_;
};

}  // namespace waystar::rpc
