#pragma once

#include <fstream>
#include <istream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::cli {

std::string ReadToTheEnd(std::istream& in);

// Opens a file to be read. An error says why it cannot be.
absl::StatusOr<std::ifstream> OpenInput(const std::string& name);

// Reads a whole file; "-" is standard input. An error says why it cannot be read.
absl::StatusOr<std::string> ReadInput(const std::string& name, std::istream& standard_input);

// Writes a whole file, in place of one that there was. An error says why it cannot be written.
absl::Status WriteOutput(const std::string& name, absl::string_view bytes);

// Writes a whole file under another name, and gives it its own once it is on stable storage: after a loss of
// power there is the file as it was before, or this one. An error says why it cannot be written.
absl::Status WriteDurably(const std::string& name, absl::string_view bytes);

}  // namespace waystar::cli
