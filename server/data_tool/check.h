// Tells whether a server would start on a data folder.
#pragma once

#include <cstddef>
#include <ostream>

#include "absl/status/statusor.h"
#include "server/data_tool/data_files.h"
#include "server/storage/folder.h"

namespace waystar::data_tool {

// Reads each map as a start would, one at a time, and writes a line for it. Returns how many are damaged.
std::size_t CheckMaps(const storage::Folder& folder, const DataFiles& files, std::ostream& out);

// Does that, and writes what else is found in the folder, and what to do about it. Returns whether a server
// would start without leaving a map out. Changes nothing in the folder.
absl::StatusOr<bool> CheckFolder(const storage::Folder& folder, std::ostream& out);

}  // namespace waystar::data_tool
