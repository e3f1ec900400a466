// Maps from a folder of files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/detect/import_map.h"

namespace waystar::core {

struct MapFile {
  std::filesystem::path path;
  // Map id: the file name without extension, in lower case, with '-' for invalid characters.
  std::string id;
};

// A file of the folder that is not loaded.
struct PassedFile {
  std::filesystem::path path;
  std::string reason;
};

struct MapFolder {
  // Both are sorted by name.
  std::vector<MapFile> files;
  std::vector<PassedFile> passed;
};

struct LoadedMap {
  // Id of the file, plus the level name if the file has several levels ("world.entrance"), plus a number if
  // two levels have the same name.
  std::string id;
  AnyMap map;
};

struct LoadedFile {
  std::vector<LoadedMap> maps;
  // Notes on skipped content of the file.
  std::vector<ImportNote> notes;
  // Reason if the file is not a map, in which case `maps` is empty; else empty.
  std::string no_map;
};

// Lists the map files of a folder, by extension (case-insensitive): .waymap, .map, .txt, .tmx, .tmj, .ldtk,
// .geojson, .mesh, .navmesh, .obj, .tres, .tscn, .mmap; .png, .webp, .gif if a .terrains file of the same
// name exists, since other images are usually tilesets; .glb and .gltf if such an .agents file exists, since
// other models are usually not levels; and .json if LooksLikeUnityMesh is true. Other files are listed in
// `passed`, except files that maps refer to (.agents, .terrains, .tsx, .tsj, .tx, .tj, .ldtkl, .mmtile) and
// hidden files. Returns NOT_FOUND if the folder does not exist, UNKNOWN if it is unreadable.
absl::StatusOr<MapFolder> ListMapFiles(const std::filesystem::path& folder);

// Builds the mesh of a level for the agents that the text of an .agents file lists.
using LevelBuilder = absl::StatusOr<AnyMap> (*)(MapFormat format, absl::string_view bytes,
                                                absl::string_view agents, const ImportOptions& options);

// Reads and parses one file in the format detected from its first bytes. A .terrains file of the same name
// gives the meanings of its colours, values and names. A file with an .agents file of the same name is a
// level for `build`. Files that it refers to are read from its folder and subfolders. A .mmap is read with
// the adjacent .mmtile files named after it with four digits (the tile's position) or "_31_32" appended. A
// text, scene or mesh file that is not a map, such as a readme, has no maps. Returns the errors of ImportMaps
// and `build`, and UNKNOWN if the file cannot be read. REQUIRES: `build` is not null if there are .agents
// files.
absl::StatusOr<LoadedFile> LoadMapFile(const MapFile& file, int max_side, LevelBuilder build);

}  // namespace waystar::core
