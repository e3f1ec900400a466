#include "client/cli/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace waystar::cli {
namespace {

absl::Status CannotWrite(const std::string& name) {
  return absl::InvalidArgumentError(absl::StrCat("cannot write ", name, ": ", std::strerror(errno)));
}

absl::Status Sync(const std::string& name) {
  const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_synced = file >= 0 && fsync(file) == 0;
  absl::Status status = is_synced ? absl::OkStatus() : CannotWrite(name);
  if (file >= 0) {
    close(file);
  }
  return status;
}

}  // namespace

std::string ReadToTheEnd(std::istream& in) {
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

absl::StatusOr<std::ifstream> OpenInput(const std::string& name) {
  std::error_code error;
  if (std::filesystem::is_directory(name, error)) {
    return absl::InvalidArgumentError("it is a folder");
  }
  std::ifstream file(name, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(std::strerror(errno));
  }
  return file;
}

absl::StatusOr<std::string> ReadInput(const std::string& name, std::istream& standard_input) {
  if (name == "-") {
    return ReadToTheEnd(standard_input);
  }
  absl::StatusOr<std::ifstream> file = OpenInput(name);
  return file.ok() ? absl::StatusOr<std::string>(ReadToTheEnd(*file)) : file.status();
}

absl::Status WriteOutput(const std::string& name, absl::string_view bytes) {
  std::ofstream file(name, std::ios::binary);
  file << bytes << std::flush;
  if (!file) {
    return CannotWrite(name);
  }
  return absl::OkStatus();
}

absl::Status WriteDurably(const std::string& name, absl::string_view bytes) {
  const std::string temporary = absl::StrCat(name, ".new");
  absl::Status status = WriteOutput(temporary, bytes);
  if (status.ok()) {
    status = Sync(temporary);
  }
  if (status.ok() && std::rename(temporary.c_str(), name.c_str()) != 0) {
    status = CannotWrite(name);
  }
  if (!status.ok()) {
    return status;
  }
  const std::filesystem::path folder = std::filesystem::path(name).parent_path();
  return Sync(folder.empty() ? "." : folder.string());
}

}  // namespace waystar::cli
