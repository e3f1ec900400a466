#include "server/core/import/map_folder.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/core/import/import_map.h"

namespace waystar::core {
namespace {

constexpr std::array<absl::string_view, 13> kMapExtensions = {
    ".waymap", ".map",     ".txt", ".tmx",  ".tmj",  ".ldtk", ".geojson",
    ".mesh",   ".navmesh", ".obj", ".tres", ".tscn", ".mmap"};
constexpr std::array<absl::string_view, 3> kImageExtensions = {".png", ".webp", ".gif"};
// The largest size of files that maps refer to: tilesets and levels.
constexpr std::uintmax_t kMaxNeighbourBytes = std::uintmax_t{80} << 20;

std::filesystem::path TerrainsOf(std::filesystem::path path) { return path.replace_extension(".terrains"); }

bool IsMapFile(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  if (std::find(kMapExtensions.begin(), kMapExtensions.end(), extension) != kMapExtensions.end()) {
    return true;
  }
  std::error_code error;
  return std::find(kImageExtensions.begin(), kImageExtensions.end(), extension) != kImageExtensions.end() &&
         std::filesystem::is_regular_file(TerrainsOf(path), error);
}

absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream bytes;
  // Inserting nothing at all counts as a failure.
  if (stream.peek() != std::ifstream::traits_type::eof()) {
    bytes << stream.rdbuf();
  }
  if (stream.bad() || !stream.is_open() || !bytes) {
    return absl::UnknownError(absl::StrCat("cannot read ", path.string()));
  }
  return bytes.str();
}

// Never leaves the folder, but for links that somebody put there.
absl::StatusOr<std::string> ReadNeighbour(const std::filesystem::path& folder, absl::string_view name) {
  const std::filesystem::path relative{std::string(name)};
  if (relative.is_absolute() ||
      std::any_of(relative.begin(), relative.end(), [](const auto& part) { return part == ".."; })) {
    return absl::InvalidArgumentError("a file outside of the map's folder is not read");
  }
  std::error_code error;
  const std::filesystem::path path = folder / relative;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::NotFoundError("there is no such file");
  }
  if (const std::uintmax_t size = std::filesystem::file_size(path, error);
      error || size > kMaxNeighbourBytes) {
    return absl::InvalidArgumentError(absl::StrCat("it is longer than ", kMaxNeighbourBytes, " bytes"));
  }
  return ReadFile(path);
}

// Returns the id of a map made of a level.
std::string IdOfLevel(absl::string_view level) {
  std::string id = absl::AsciiStrToLower(level);
  std::replace_if(
      id.begin(), id.end(),
      [](unsigned char c) { return !absl::ascii_isalnum(c) && c != '_' && c != '.' && c != '-'; }, '-');
  return id;
}

}  // namespace

absl::StatusOr<std::vector<MapFile>> ListMapFiles(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat("there is no folder ", folder.string()));
  }
  std::vector<MapFile> files;
  auto entry = std::filesystem::directory_iterator(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    if (entry->is_regular_file(error) && IsMapFile(path)) {
      files.push_back({.path = path, .id = absl::AsciiStrToLower(path.stem().string())});
    }
  }
  if (error) {
    return absl::UnknownError(absl::StrCat("cannot read ", folder.string(), ": ", error.message()));
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

// Appends the tiles of a .mmap, whose names begin as its own, in their order.
absl::Status AppendTiles(const std::filesystem::path& path, std::string& bytes) {
  std::vector<std::filesystem::path> tiles;
  std::error_code error;
  auto entry = std::filesystem::directory_iterator(path.parent_path(), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".mmtile" &&
        absl::StartsWith(entry->path().stem().string(), path.stem().string())) {
      tiles.push_back(entry->path());
    }
  }
  std::sort(tiles.begin(), tiles.end());
  for (const std::filesystem::path& tile : tiles) {
    WAYSTAR_ASSIGN_OR_RETURN(const std::string more, ReadFile(tile));
    bytes += more;
  }
  return error ? absl::UnknownError(
                     absl::StrCat("cannot read ", path.parent_path().string(), ": ", error.message()))
               : absl::OkStatus();
}

absl::StatusOr<std::vector<LoadedMap>> LoadMapFile(const MapFile& file, int max_side) {
  WAYSTAR_ASSIGN_OR_RETURN(std::string bytes, ReadFile(file.path));
  if (file.path.extension() == ".mmap") {
    WAYSTAR_RETURN_IF_ERROR(AppendTiles(file.path, bytes));
  }
  ImportOptions options;
  options.grid.max_side = max_side;
  options.neighbours = [folder = file.path.parent_path()](absl::string_view name) {
    return ReadNeighbour(folder, name);
  };
  std::error_code error;
  if (std::filesystem::is_regular_file(TerrainsOf(file.path), error)) {
    WAYSTAR_ASSIGN_OR_RETURN(options.terrains, ReadFile(TerrainsOf(file.path)));
  }
  WAYSTAR_ASSIGN_OR_RETURN(std::vector<NamedMap> maps, ImportMaps(DetectFormat(bytes), bytes, options));
  std::vector<LoadedMap> loaded;
  loaded.reserve(maps.size());
  for (NamedMap& map : maps) {
    loaded.push_back({.id = map.name.empty() ? file.id : absl::StrCat(file.id, ".", IdOfLevel(map.name)),
                      .map = std::move(map.map)});
  }
  return loaded;
}

}  // namespace waystar::core
