// Cuts the end of the log of a data folder off.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/folder.h"

namespace waystar::data_tool {

struct TruncateArguments {
  // The last file of the log.
  std::string file;
  // It is cut where the last record ends that ends here or before.
  std::uint64_t offset = 0;
  // If false, nothing is changed.
  bool is_confirmed = false;
};

// Writes what would be lost and how the maps would be then, and cuts the file if that is confirmed; the whole
// file is kept beside it. Returns whether it was cut. Returns INVALID_ARGUMENT for another file than the last
// of the log and for an offset beyond its end; DATA_LOSS, with the offset, if the file is damaged before.
absl::StatusOr<bool> TruncateLog(storage::Folder& folder, const TruncateArguments& arguments,
                                 std::ostream& out);

}  // namespace waystar::data_tool
