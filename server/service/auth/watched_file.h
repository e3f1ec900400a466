// Files that an operator may replace at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace waystar::rpc {

// Stamp that identifies a state of a file. All files that cannot be examined have the same stamp.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = -1;
  std::int64_t modified_nanos = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// Returns the stamp of the file; symbolic links are followed.
FileStamp StampOf(const std::string& path);

// Returns the file's bytes, or UNKNOWN, with the file and the cause, if it cannot be read, has more than
// `max_bytes`, or changes during the read.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path, std::size_t max_bytes);

}  // namespace waystar::rpc
