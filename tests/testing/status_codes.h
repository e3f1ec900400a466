// Short names for the codes that tests expect most.
#pragma once

#include "absl/status/status.h"

namespace waystar {

inline constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
inline constexpr auto kOutOfRange = absl::StatusCode::kOutOfRange;
inline constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;

}  // namespace waystar
