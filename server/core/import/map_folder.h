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
  // The id of the map: the file's name without its extension, in lower case, with '-' for what ids may not
  // have.
  std::string id;
};

// A file of the folder that is not loaded.
struct PassedFile {
  std::filesystem::path path;
  std::string reason;
};

struct MapFolder {
  // Both are in the order of their names.
  std::vector<MapFile> files;
  std::vector<PassedFile> passed;
};

struct LoadedMap {
  // The id of the file, to which a level of a file with several adds its name: "world.entrance", with a
  // number behind it where two levels have one.
  std::string id;
  AnyMap map;
};

struct LoadedFile {
  std::vector<LoadedMap> maps;
  // What was passed over in the file.
  std::vector<ImportNote> notes;
  // Why the file is no map at all, and has none; else empty.
  std::string no_map;
};

// Lists the files of a folder that end, in any letters, in .waymap, .map, .txt, .tmx, .tmj, .ldtk, .geojson,
// .mesh, .navmesh, .obj, .tres, .tscn or .mmap; in .png, .webp or .gif, if there is a file of the same name
// that ends in .terrains: other pictures are those of tiles; and in .json, if LooksLikeUnityMesh says so. The
// others are passed, but for those that maps refer to (.terrains, .tsx, .tsj, .tx, .tj, .ldtkl, .mmtile) and
// hidden ones. Returns NOT_FOUND if there is no such folder, UNKNOWN if it is unreadable.
absl::StatusOr<MapFolder> ListMapFiles(const std::filesystem::path& folder);

// Reads and parses one file in the format that its first bytes are in; a file of the same name that ends in
// .terrains says what its colours, values and names mean. Files that it refers to are read from its folder
// and those below. To a .mmap belong the .mmtile beside it that have its name and then four digits, the place
// of the tile, or "_31_32". A text, a scene or a mesh that is something else than a map, such as a readme,
// has no maps. Returns the errors of ImportMaps, and UNKNOWN if the file cannot be read.
absl::StatusOr<LoadedFile> LoadMapFile(const MapFile& file, int max_side);

}  // namespace waystar::core
