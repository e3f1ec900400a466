// Which build this is.
#pragma once

#include "absl/strings/string_view.h"

namespace waystar::runtime {

// "0.1.0".
absl::string_view Version();

}  // namespace waystar::runtime
