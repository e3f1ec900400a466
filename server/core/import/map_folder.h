// Maps from a folder of files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/import/import_map.h"

namespace waystar::core {

struct MapFile {
  std::filesystem::path path;
  // The id of the map: the file's name without its extension, in lower case.
  std::string id;
};

struct LoadedMap {
  // The id of the file, to which a level of a file with several adds its name: "world.entrance".
  std::string id;
  AnyMap map;
};

// Returns the files of a folder, in the order of their names, that end in .waymap, .map, .txt, .tmx, .tmj,
// .ldtk, .geojson, .mesh, .navmesh, .obj, .tres, .tscn or .mmap; and in .png, .webp or .gif, if there is a
// file of the same name that ends in .terrains: other pictures are those of tiles. Returns NOT_FOUND if there
// is no such folder, UNKNOWN if it is unreadable.
absl::StatusOr<std::vector<MapFile>> ListMapFiles(const std::filesystem::path& folder);

// Reads and parses one file in the format that its first bytes are in; a file of the same name that ends in
// .terrains says what its colours, values and names mean. Files that it refers to are read from its folder
// and those below. Returns the errors of ImportMaps, and UNKNOWN if the file cannot be read.
absl::StatusOr<std::vector<LoadedMap>> LoadMapFile(const MapFile& file, int max_side);

}  // namespace waystar::core
