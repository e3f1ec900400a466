#include "client/cli/input.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/status/status.h"

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

}  // namespace waystar::cli
