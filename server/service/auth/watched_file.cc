#include "server/service/auth/watched_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace waystar::rpc {
namespace {

absl::Status CannotRead(const std::string& path, const char* why) {
  return absl::UnknownError(absl::StrCat("cannot read ", path, ": ", why));
}

}  // namespace

FileStamp StampOf(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return {};
  }
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = info.st_size,
          .modified_nanos = info.st_mtim.tv_sec * std::int64_t{1'000'000'000} + info.st_mtim.tv_nsec};
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path, std::size_t max_bytes) {
  const FileStamp before = StampOf(path);
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return CannotRead(path, std::strerror(errno));
  }
  std::string bytes(max_bytes + 1, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (stream.bad() || (stream.fail() && !stream.eof())) {
    return CannotRead(path, errno == 0 ? "it is not a file" : std::strerror(errno));
  }
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  if (bytes.size() > max_bytes) {
    return CannotRead(path, absl::StrCat("it has more than ", max_bytes, " bytes").c_str());
  }
  if (StampOf(path) != before) {
    return CannotRead(path, "it was changed meanwhile");
  }
  return bytes;
}

}  // namespace waystar::rpc
