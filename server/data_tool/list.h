// The maps of a data folder, a line each.
#pragma once

#include <ostream>

#include "absl/status/statusor.h"
#include "server/storage/folder.h"

namespace waystar::data_tool {

// Writes a line for each map and one for the log. A map that is damaged has a line that says so; returns
// whether there is none. It holds one map in memory at a time. Returns the errors of ReadLogFiles.
absl::StatusOr<bool> ListMaps(const storage::Folder& folder, std::ostream& out);

}  // namespace waystar::data_tool
