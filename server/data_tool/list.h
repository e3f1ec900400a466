// Lists the maps of a data folder.
#pragma once

#include <ostream>

#include "absl/status/statusor.h"
#include "server/storage/folder/folder.h"

namespace waystar::data_tool {

// Prints one line per map and one for the log. A damaged map gets a line with its error. Returns true if no
// map is damaged. Holds one map in memory at a time. Returns the errors of ReadDataFiles.
absl::StatusOr<bool> ListMaps(const storage::Folder& folder, std::ostream& out);

}  // namespace waystar::data_tool
