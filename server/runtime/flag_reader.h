// Reader of flag values.
#pragma once

#include <cstdint>
#include <string>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace waystar::runtime {

// Copies flag values into option fields, and keeps the error of the first value that is out of range.
class FlagReader {
 public:
  template <typename T>
  void Number(const absl::Flag<std::int64_t>& flag, std::int64_t low, std::int64_t high, T& field) {
    field = static_cast<T>(CheckedNumber(flag, low, high));
  }
  // The value must be more than 0, and at most 24 hours.
  void PositiveTime(const absl::Flag<absl::Duration>& flag, absl::Duration& field);
  // The value must be from 0 to 24 hours.
  void Time(const absl::Flag<absl::Duration>& flag, absl::Duration& field);
  void Switch(const absl::Flag<bool>& flag, bool& field) { field = absl::GetFlag(flag); }
  void Text(const absl::Flag<std::string>& flag, std::string& field) { field = absl::GetFlag(flag); }

  // Returns INVALID_ARGUMENT, with the flag's name, if a value was out of range.
  const absl::Status& status() const { return status_; }

 private:
  std::int64_t CheckedNumber(const absl::Flag<std::int64_t>& flag, std::int64_t low, std::int64_t high);

  absl::Status status_;
};

}  // namespace waystar::runtime
