#include "server/base/retry_delay.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace waystar {

absl::Status WithRetryDelay(absl::Status error, absl::Duration delay) {
  error.SetPayload(kRetryDelayPayload, absl::Cord(absl::StrCat(absl::ToInt64Nanoseconds(delay))));
  return error;
}

}  // namespace waystar
