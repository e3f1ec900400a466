// Cuts off the end of the log of a data folder.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/folder/folder.h"

namespace waystar::data_tool {

struct TruncateArguments {
  // Must be the last file of the log.
  std::string file;
  // The file is cut after the last record that ends at or before this offset.
  std::uint64_t offset = 0;
  // If false, nothing is changed.
  bool is_confirmed = false;
};

// Prints what would be lost and the resulting state of the maps. If confirmed, cuts the file and keeps a copy
// of the whole one. Returns true if the file was cut. Returns INVALID_ARGUMENT if the file is not the last of
// the log, the offset is beyond its end, or no record would remain; and DATA_LOSS, with the offset, if the
// file is damaged before it.
absl::StatusOr<bool> TruncateLog(storage::Folder& folder, const TruncateArguments& arguments,
                                 std::ostream& out);

}  // namespace waystar::data_tool
