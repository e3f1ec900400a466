// BoundedContext: a client context whose call ends at the latest when the patience of tests does.
#pragma once

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "tests/testing/patience.h"

namespace waystar::testing {

class BoundedContext : public grpc::ClientContext {
 public:
  BoundedContext() { set_deadline(absl::ToChronoTime(absl::Now() + kPatience)); }
};

}  // namespace waystar::testing
