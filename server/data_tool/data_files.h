// File names, log and newest images of a data folder, without the maps.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/log_history.h"
#include "server/storage/folder/map_reader.h"

namespace waystar::data_tool {

struct DataFiles {
  std::vector<std::string> names;
  storage::LogHistory history;
  storage::ImagesByMap images;
};

// Returns the errors of Folder::List and ReadLogFiles.
absl::StatusOr<DataFiles> ReadDataFiles(const storage::Folder& folder);

// Returns where a map was read from: "image-arena-7-12 and 3 commits", or "its creation in the log and 3
// commits".
std::string SourceText(const DataFiles& files, const std::string& map, const storage::ReadMapResult& read);

// Returns "1 commit" or "2 commits".
std::string CountText(std::size_t count, absl::string_view thing);

}  // namespace waystar::data_tool
