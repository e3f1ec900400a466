// Files that an operator may replace while the server runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace waystar::rpc {

// What tells one state of a file from another. The same for each file that cannot be looked at.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = -1;
  std::int64_t modified_nanos = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// Of the file that a link leads to.
FileStamp StampOf(const std::string& path);

// The file's bytes. UNKNOWN, naming the file and why, if it cannot be read, has more than `max_bytes`, or is
// changed meanwhile.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path, std::size_t max_bytes);

}  // namespace waystar::rpc
