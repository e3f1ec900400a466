// Matchers for errors as values.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/base/error.h"

namespace waystar {

inline const absl::Status& AsStatus(const absl::Status& status) { return status; }

template <typename T>
const absl::Status& AsStatus(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, "is OK") {
  *result_listener << AsStatus(arg).ToString();
  return AsStatus(arg).ok();
}

// Matches an error of this canonical code, reason and offending field.
MATCHER_P3(IsError, code, reason, field, "") {
  const absl::Status& status = AsStatus(arg);
  *result_listener << status.ToString();
  return status.code() == code && ErrorReasonOf(status) == ErrorReasonName(reason) &&
         ErrorFieldOf(status) == std::string(field);
}

}  // namespace waystar
