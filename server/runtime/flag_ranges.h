// What the values of flags may be.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace waystar::runtime {

// Each is INVALID_ARGUMENT, naming the flag, for any other value.
absl::Status CheckRange(absl::string_view flag, std::int64_t value, std::int64_t low, std::int64_t high);
// At most 24 hours.
absl::Status CheckPositive(absl::string_view flag, absl::Duration value);
absl::Status CheckNotNegative(absl::string_view flag, absl::Duration value);

}  // namespace waystar::runtime
