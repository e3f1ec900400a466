#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::cli {

// Writes a whole file, in place of one that there was. An error says why it cannot be written.
absl::Status WriteOutput(const std::string& name, absl::string_view bytes);

}  // namespace waystar::cli
