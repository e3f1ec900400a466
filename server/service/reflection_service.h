// Describes services and messages to clients such as grpcurl.
#pragma once

#include "grpcpp/impl/service_type.h"
#include "server/service/admission/server_context.h"

namespace waystar::rpc {

// Serves grpc.reflection.v1, and also the otherwise identical v1alpha: new tools use the former, old tools
// the latter, and some versions of the library have only one.
//
// A network has a share of the places for such calls, since they need no token.
//
// Thread safety: any thread.
class ReflectionService : public grpc::Service {
 public:
  // Objects referenced by `probes` must outlive the server that this is registered with.
  explicit ReflectionService(const ServerContext& probes);

 private:
  // Calls are counted by the interceptor.
  MethodStatistics uncounted_;
};

}  // namespace waystar::rpc
