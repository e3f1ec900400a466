// Version of this build.
#pragma once

#include "absl/strings/string_view.h"

namespace waystar::runtime {

// Returns a version such as "0.1.0".
absl::string_view Version();

}  // namespace waystar::runtime
