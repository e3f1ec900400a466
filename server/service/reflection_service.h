// Tells clients such as grpcurl which services there are, and what their messages are.
#pragma once

#include "grpcpp/impl/service_type.h"
#include "server/service/admission/server_context.h"

namespace waystar::rpc {

// Serves grpc.reflection.v1, and under the name of v1alpha the same, which differs in nothing else: new tools
// ask for the one, old tools for the other, and the library has only one of them in some versions.
//
// A network has a share of the places for such calls, as nobody asks them for a token.
//
// Thread safety: any thread.
class ReflectionService : public grpc::Service {
 public:
  // What `probes` names must outlive the server that this is registered with.
  explicit ReflectionService(const ServerContext& probes);

 private:
  // Calls are counted by their interceptor.
  MethodStatistics uncounted_;
};

}  // namespace waystar::rpc
