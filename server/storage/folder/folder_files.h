// Files of a data folder from which no map is read, and copies of those of damaged maps.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/folder_reader.h"
#include "server/storage/folder/log_history.h"

namespace waystar::storage {

// Returns the name of a file's copy: its own name plus ".kept".
std::string KeptName(absl::string_view name);
// Returns the name of the copied file; `name` itself if it is not that of a copy.
absl::string_view OriginalOfKept(absl::string_view name);

// Copies the files and waits until the copies are on stable storage. Files that already have a copy are
// skipped. Returns the errors of the folder.
absl::Status KeepFiles(Folder& folder, const std::vector<std::string>& names);

// Files from which no map is read, sorted by name.
struct OtherFiles {
  // Files whose contents the log or another file has: removed at start.
  std::vector<std::string> left_overs;
  // Images of versions that the log does not know. They are kept, as are all files below.
  std::vector<std::string> unknown_images;
  // Copies of the files of damaged maps (KeptName).
  std::vector<std::string> kept;
  // Files not made by a server.
  std::vector<std::string> strangers;
};

// Classifies the files of these names. `images` are the ones that maps are read from.
OtherFiles FindOtherFiles(const std::vector<std::string>& names, const LogHistory& history,
                          const ImagesByMap& images);

}  // namespace waystar::storage
