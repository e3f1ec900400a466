// Retry delays of transient errors.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace waystar {

// Status payload with the delay in nanoseconds.
inline constexpr char kRetryDelayPayload[] = "waystar/retry-delay-nanos";

// Returns the error with a payload of the delay, which RetryDelayOf reads.
absl::Status WithRetryDelay(absl::Status error, absl::Duration delay);

}  // namespace waystar
