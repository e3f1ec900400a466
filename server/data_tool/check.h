// Checks whether a server would start on a data folder.
#pragma once

#include <cstddef>
#include <ostream>

#include "absl/status/statusor.h"
#include "server/data_tool/data_files.h"
#include "server/storage/folder/folder.h"

namespace waystar::data_tool {

// Reads each map as a start would, one at a time, and prints a line for it. Returns the number of damaged
// maps.
std::size_t CheckMaps(const storage::Folder& folder, const DataFiles& files, std::ostream& out);

// Checks the log and calls CheckMaps; prints all findings and what to do about them. Returns true if a server
// would start and load every map. Changes nothing in the folder.
absl::StatusOr<bool> CheckFolder(const storage::Folder& folder, std::ostream& out);

}  // namespace waystar::data_tool
