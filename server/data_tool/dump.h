// The commits that the log of a data folder holds.
#pragma once

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "server/storage/folder.h"

namespace waystar::data_tool {

// Writes the commits of a map in the order of their revisions, each as a line of JSON: a MapRevision of the
// API with its edits, with the digest as 16 hexadecimal digits, and with requestId and requestTime where the
// batch had them. Returns NOT_FOUND if there is no such map, and the errors of ReadLogFiles.
absl::Status DumpCommits(const storage::Folder& folder, const std::string& map, std::ostream& out);

}  // namespace waystar::data_tool
