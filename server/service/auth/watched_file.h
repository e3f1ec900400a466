// Files that an operator may replace while the server runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace waystar::rpc {

// Stamp that tells one state of a file from another. It is the same for each file that cannot be examined.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = -1;
  std::int64_t modified_nanos = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// Returns the stamp of the file, or of the one that a link leads to.
FileStamp StampOf(const std::string& path);

// Returns the file's bytes. Returns UNKNOWN, naming the file and why, if it cannot be read, has more than
// `max_bytes`, or changes meanwhile.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path, std::size_t max_bytes);

}  // namespace waystar::rpc
