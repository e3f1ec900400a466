// Checks of the values of flags.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace waystar::runtime {

// Each returns INVALID_ARGUMENT, naming the flag, for a value out of range.
absl::Status CheckRange(absl::string_view flag, std::int64_t value, std::int64_t low, std::int64_t high);
// These two allow at most 24 hours.
absl::Status CheckPositive(absl::string_view flag, absl::Duration value);
absl::Status CheckNotNegative(absl::string_view flag, absl::Duration value);

}  // namespace waystar::runtime
