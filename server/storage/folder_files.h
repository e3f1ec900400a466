// What the files of a data folder are for.
#pragma once

#include <string>
#include <vector>

#include "server/storage/log_history.h"
#include "server/storage/map_reader.h"

namespace waystar::storage {

// The files that no map is read from, in the order of their names.
struct OtherFiles {
  // The log or another file has all that they hold: a start removes them.
  std::vector<std::string> left_overs;
  // Images that nothing explains. They stay, as do the rest.
  std::vector<std::string> unknown_images;
  // Copies of the files of damaged maps (KeptName).
  std::vector<std::string> kept;
  // Files that no server has made.
  std::vector<std::string> strangers;
};

// Returns what the files of these names are. `images` are those that maps are read from.
OtherFiles FindOtherFiles(const std::vector<std::string>& names, const LogHistory& history,
                          const ImagesByMap& images);

}  // namespace waystar::storage
