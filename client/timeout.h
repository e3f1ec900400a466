#pragma once

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"

namespace waystar::client {

// Ends the call when `timeout` has passed from now; absl::InfiniteDuration() leaves it open.
inline void SetTimeout(grpc::ClientContext& context, absl::Duration timeout) {
  if (timeout != absl::InfiniteDuration()) {
    context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  }
}

}  // namespace waystar::client
