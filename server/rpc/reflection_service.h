// Tells clients such as grpcurl which services there are, and what their messages are.
#pragma once

#include "grpcpp/impl/service_type.h"

namespace waystar::rpc {

// Serves grpc.reflection.v1, and under the name of v1alpha the same, which differs in nothing else: new tools
// ask for the one, old tools for the other, and the library has only one of them in some versions.
//
// Thread safety: any thread.
class ReflectionService : public grpc::Service {
 public:
  ReflectionService();
};

}  // namespace waystar::rpc
