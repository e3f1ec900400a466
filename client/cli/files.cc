#include "client/cli/files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace waystar::cli {
namespace {

std::string ReadToTheEnd(std::istream& in) {
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

}  // namespace

absl::StatusOr<std::string> ReadInput(const std::string& name, std::istream& standard_input) {
  if (name == "-") {
    return ReadToTheEnd(standard_input);
  }
  std::error_code error;
  if (std::filesystem::is_directory(name, error)) {
    return absl::InvalidArgumentError("it is a folder");
  }
  std::ifstream file(name, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(std::strerror(errno));
  }
  return ReadToTheEnd(file);
}

absl::Status WriteOutput(const std::string& name, absl::string_view bytes) {
  std::ofstream file(name, std::ios::binary);
  file << bytes << std::flush;
  if (!file) {
    return absl::InvalidArgumentError(absl::StrCat("cannot write ", name, ": ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

}  // namespace waystar::cli
