#include "server/data_tool/data_files.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/storage/folder/image_file.h"

namespace waystar::data_tool {

absl::StatusOr<DataFiles> ReadDataFiles(const storage::Folder& folder) {
  DataFiles files;
  WAYSTAR_ASSIGN_OR_RETURN(files.names, folder.List());
  WAYSTAR_ASSIGN_OR_RETURN(files.history, storage::ReadLogFiles(folder, files.names));
  files.images = storage::NewestImages(files.names, files.history);
  return files;
}

std::string SourceText(const DataFiles& files, const std::string& map, const storage::ReadMapResult& read) {
  const auto image = files.images.find(map);
  return absl::StrCat(
      image == files.images.end() ? "its creation in the log" : storage::ImageFileName(image->second),
      " and ", CountText(read.commits, "commit"));
}

std::string CountText(std::size_t count, absl::string_view thing) {
  return absl::StrCat(count, " ", thing, count == 1 ? "" : "s");
}

}  // namespace waystar::data_tool
