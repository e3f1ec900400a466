// Error for a number out of its range.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"

namespace waystar {

// Returns INVALID_ARGUMENT with a message such as "edges[2].cost must be 0 to 1000, got -1", where
// `must` is "0 to 1000". The message names the field as given here; adding a prefix to the field later does
// not change it.
absl::Status BadNumber(ErrorReason reason, absl::string_view field, double number, absl::string_view must);

}  // namespace waystar
