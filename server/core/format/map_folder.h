// Maps from a folder of files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

struct MapFile {
  std::filesystem::path path;
  // The file's name without its extension, in lower case: what the map is called.
  std::string id;
};

// The files of a folder that end in .map or .txt, in the order of their names.
// NOT_FOUND if there is no such folder; UNKNOWN if it cannot be read.
absl::StatusOr<std::vector<MapFile>> ListMapFiles(const std::filesystem::path& folder);

// Reads and parses one file in the format that its first bytes are in. Errors of ParseMap, and UNKNOWN if the
// file cannot be read.
absl::StatusOr<GridMap> LoadMapFile(const MapFile& file, int max_side);

}  // namespace waystar::core
