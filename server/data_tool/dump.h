// Prints the commits of a map that are in the log.
#pragma once

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "server/storage/folder/folder.h"

namespace waystar::data_tool {

// Prints the commits of a map by revision, one JSON line each: a MapRevision of the API with its edits, the
// digest as 16 hexadecimal digits, and requestId and requestTime if the batch had them. Returns NOT_FOUND if
// the map does not exist, DATA_LOSS if a commit is damaged, and the errors of ReadDataFiles.
absl::Status DumpCommits(const storage::Folder& folder, const std::string& map, std::ostream& out);

}  // namespace waystar::data_tool
