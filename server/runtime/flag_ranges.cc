#include "server/runtime/flag_ranges.h"

#include "absl/strings/str_cat.h"

namespace waystar::runtime {

absl::Status CheckRange(absl::string_view flag, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, " is from ", low, " to ", high, ", not ", value));
}

absl::Status CheckPositive(absl::string_view flag, absl::Duration value) {
  if (value > absl::ZeroDuration() && value <= absl::Hours(24)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, " is more than 0 and at most 24h, not ", absl::FormatDuration(value)));
}

absl::Status CheckNotNegative(absl::string_view flag, absl::Duration value) {
  if (value >= absl::ZeroDuration() && value <= absl::Hours(24)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, " is from 0 to 24h, not ", absl::FormatDuration(value)));
}

}  // namespace waystar::runtime
