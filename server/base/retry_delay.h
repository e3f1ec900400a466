// When to try again what failed.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace waystar {

// The payload of a status that holds the delay, in nanoseconds.
inline constexpr char kRetryDelayPayload[] = "waystar/retry-delay-nanos";

// Returns an error that passes by itself with what RetryDelayOf is to return of it.
absl::Status WithRetryDelay(absl::Status error, absl::Duration delay);

}  // namespace waystar
