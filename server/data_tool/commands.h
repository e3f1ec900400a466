// Commands of the data tool on a folder that no server uses, and what they read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/folder_reader.h"
#include "server/storage/folder/log_history.h"

namespace waystar::data_tool {

// File names, log and newest images of a data folder, without the maps.
struct DataFiles {
  std::vector<std::string> names;
  storage::LogHistory history;
  storage::ImagesByMap images;
};

// Returns the errors of Folder::List and ReadLogFiles.
absl::StatusOr<DataFiles> ReadDataFiles(const storage::Folder& folder);

// Returns "1 commit" or "2 commits".
std::string CountText(std::size_t count, absl::string_view thing);

// Prints one line per map and one for the log. A damaged map gets a line with its error. Returns true if no
// map is damaged. Holds one map in memory at a time. Returns the errors of ReadDataFiles.
absl::StatusOr<bool> ListMaps(const storage::Folder& folder, std::ostream& out);

// Reads each map as a start would, one at a time, and prints a line for it. Returns the number of damaged
// maps.
std::size_t CheckMaps(const storage::Folder& folder, const DataFiles& files, std::ostream& out);

// Checks the log and calls CheckMaps; prints all findings and what to do about them. Returns true if a server
// would start and load every map. Changes nothing in the folder.
absl::StatusOr<bool> CheckFolder(const storage::Folder& folder, std::ostream& out);

// Prints the commits of a map by revision, one JSON line each: a MapRevision of the API with its edits, the
// digest as 16 hexadecimal digits, and requestId and requestTime if the batch had them. Returns NOT_FOUND if
// the map does not exist, DATA_LOSS if a commit is damaged, and the errors of ReadDataFiles.
absl::Status DumpCommits(const storage::Folder& folder, const std::string& map, std::ostream& out);

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
