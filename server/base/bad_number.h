// The error of a number that is out of its range.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"

namespace waystar {

// Makes INVALID_ARGUMENT. `must` says what the number has to be, as "from 0 to 1000"; the message is
// "edges[2].cost is -1, and must be from 0 to 1000". It names the field as it is given here; callers that put
// a prefix before the field leave the message as it is.
absl::Status BadNumber(ErrorReason reason, absl::string_view field, double number, absl::string_view must);

}  // namespace waystar
