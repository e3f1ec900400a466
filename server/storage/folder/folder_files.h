// Classifies the files of a data folder.
#pragma once

#include <string>
#include <vector>

#include "server/storage/folder/log_history.h"
#include "server/storage/folder/map_reader.h"

namespace waystar::storage {

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
