#pragma once

#include <istream>
#include <string>

#include "absl/status/statusor.h"

namespace waystar::cli {

// Reads a whole file; "-" is standard input. An error says why it cannot be read.
absl::StatusOr<std::string> ReadInput(const std::string& name, std::istream& standard_input);

}  // namespace waystar::cli
