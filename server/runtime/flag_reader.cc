#include "server/runtime/flag_reader.h"

#include "absl/flags/reflection.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace waystar::runtime {
namespace {

template <typename T>
absl::Status OutOfRange(const absl::Flag<T>& flag, absl::string_view range, absl::string_view value) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", absl::GetFlagReflectionHandle(flag).Name(), " is ", range, ", not ", value));
}

}  // namespace

std::int64_t FlagReader::CheckedNumber(const absl::Flag<std::int64_t>& flag, std::int64_t low,
                                       std::int64_t high) {
  const std::int64_t value = absl::GetFlag(flag);
  if (value < low || value > high) {
    status_.Update(OutOfRange(flag, absl::StrCat("from ", low, " to ", high), absl::StrCat(value)));
  }
  return value;
}

void FlagReader::PositiveTime(const absl::Flag<absl::Duration>& flag, absl::Duration& field) {
  field = absl::GetFlag(flag);
  if (field <= absl::ZeroDuration() || field > absl::Hours(24)) {
    status_.Update(OutOfRange(flag, "more than 0 and at most 24h", absl::FormatDuration(field)));
  }
}

void FlagReader::Time(const absl::Flag<absl::Duration>& flag, absl::Duration& field) {
  field = absl::GetFlag(flag);
  if (field < absl::ZeroDuration() || field > absl::Hours(24)) {
    status_.Update(OutOfRange(flag, "from 0 to 24h", absl::FormatDuration(field)));
  }
}

}  // namespace waystar::runtime
