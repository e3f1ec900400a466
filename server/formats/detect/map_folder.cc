#include "server/formats/detect/map_folder.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/formats/mesh/mesh_readers.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

// Size limit of files that maps refer to: tilesets and levels.
constexpr std::uintmax_t kMaxNeighbourBytes = std::uintmax_t{80} << 20;

constexpr char kAgentsPart[] = ".agents";
constexpr char kTerrainsPart[] = ".terrains";

// Returns the path with another extension.
std::filesystem::path PartOf(std::filesystem::path path, const char* extension) {
  return path.replace_extension(extension);
}

bool HasPart(const std::filesystem::path& path, const char* extension) {
  std::error_code error;
  return std::filesystem::is_regular_file(PartOf(path, extension), error);
}

// Extensions of files that belong to maps and are none themselves.
constexpr std::array<absl::string_view, 8> kPartExtensions = {
    kAgentsPart, kTerrainsPart, ".tsx", ".tsj", ".tx", ".tj", ".ldtkl", ".mmtile"};

std::string ExtensionOf(const std::filesystem::path& path) {
  return absl::AsciiStrToLower(path.extension().string());
}

absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream bytes;
  // Inserting an empty streambuf would set failbit.
  if (stream.peek() != std::ifstream::traits_type::eof()) {
    bytes << stream.rdbuf();
  }
  if (stream.bad() || !stream.is_open() || !bytes) {
    return absl::UnknownError(absl::StrCat("cannot read ", path.string()));
  }
  return bytes.str();
}

// Returns true if a file is a Unity mesh; many kinds of files end in .json.
bool HoldsUnityMesh(const std::filesystem::path& path) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  return bytes.ok() && LooksLikeUnityMesh(*bytes);
}

// Returns why a file is not loaded; empty if it is.
std::string WhyPassed(const std::filesystem::path& path) {
  const std::optional<FileEnding> ending = FindEnding(ExtensionOf(path));
  if (!ending) {
    return "no map has a name with this ending";
  }
  if (ending->format == MapFormat::kImage && !HasPart(path, kTerrainsPart)) {
    return absl::StrCat("a picture is a map if a file ", PartOf(path, kTerrainsPart).filename().string(),
                        " beside it says what its colours are");
  }
  if (ending->format == MapFormat::kGltf && !HasPart(path, kAgentsPart)) {
    return absl::StrCat("a model is a map if a file ", PartOf(path, kAgentsPart).filename().string(),
                        " beside it lists the agents that walk on it");
  }
  return ending->format != MapFormat::kUnity || HoldsUnityMesh(path)
             ? ""
             : "this is not a mesh of Unity; maps of Tiled end in .tmj, those of LDtk in .ldtk, and graphs "
               "in "
               ".geojson";
}

// Returns true if the text is a header and rows, or only rows, rather than prose.
bool LooksLikeTextMap(absl::string_view bytes) {
  constexpr std::array<absl::string_view, 9> kHeader = {"cell_size", "connectivity", "diagonal_cost",
                                                        "hexagons",  "map",          "origin",
                                                        "profile",   "terrain",      "world"};
  std::int64_t symbols = 0;
  std::int64_t characters = 0;
  std::int64_t lines = 0;
  std::size_t length = 0;
  bool is_even = true;
  bool has_blanks = false;
  bool is_header = true;
  LineReader reader(bytes);
  while (const std::optional<absl::string_view> next = reader.Next()) {
    const absl::string_view line = absl::StripAsciiWhitespace(*next);
    if (line.empty()) {
      continue;
    }
    const absl::string_view word = line.substr(0, line.find_first_of(" \t"));
    is_header = is_header && absl::c_linear_search(kHeader, word);
    if (is_header && line == "map") {
      return true;
    }
    has_blanks = has_blanks || word.size() < line.size();
    is_even = is_even && (lines == 0 || line.size() == length);
    length = line.size();
    ++lines;
    characters += static_cast<std::int64_t>(line.size());
    symbols +=
        std::count_if(line.begin(), line.end(), [](char c) { return c == '.' || IsObstacleSymbol(c); });
  }
  // A typing error in one row does not make a map prose.
  return !has_blanks && symbols > 0 && (2 * symbols >= characters || (is_even && lines > 1));
}

// Returns why a file with a map's extension is not a map; empty if it is one.
std::string WhyNoMap(const std::filesystem::path& path, MapFormat format, absl::string_view bytes) {
  const std::optional<FileEnding> ending = FindEnding(ExtensionOf(path));
  if (!ending) {
    return "";
  }
  // JSON of unknown format is detected as Tiled.
  const bool may_be_prose =
      format == MapFormat::kText || (format == MapFormat::kTiled && !absl::StrContains(bytes, "orientation"));
  const bool is_text = ending->format == MapFormat::kText || ending->format == MapFormat::kMovingAi;
  if (is_text && may_be_prose && !LooksLikeTextMap(bytes)) {
    return "this is text, but no map";
  }
  const bool is_empty_scene = format == MapFormat::kGodot && !absl::StrContains(bytes, "Navigation");
  return std::string(format != ending->format || is_empty_scene ? ending->if_other : "");
}

// Reads a file that a map refers to. Never reads outside the folder, except through symbolic links.
absl::StatusOr<std::string> ReadNeighbour(const std::filesystem::path& folder, absl::string_view name) {
  const std::filesystem::path relative = std::filesystem::path(std::string(name)).lexically_normal();
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

// Returns the id suffix for a level name.
std::string IdOf(absl::string_view name) {
  std::string id = absl::AsciiStrToLower(name);
  std::replace_if(
      id.begin(), id.end(),
      [](unsigned char c) { return !absl::ascii_isalnum(c) && c != '_' && c != '.' && c != '-'; }, '-');
  return id;
}

}  // namespace

absl::StatusOr<MapFolder> ListMapFiles(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat("there is no folder ", folder.string()));
  }
  MapFolder listed;
  auto entry = std::filesystem::directory_iterator(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    if (!entry->is_regular_file(error) || absl::StartsWith(path.filename().string(), ".") ||
        absl::c_linear_search(kPartExtensions, ExtensionOf(path))) {
      continue;
    }
    if (std::string reason = WhyPassed(path); reason.empty()) {
      listed.files.push_back({.path = path, .id = absl::AsciiStrToLower(path.stem().string())});
    } else {
      listed.passed.push_back({.path = path, .reason = std::move(reason)});
    }
  }
  if (error) {
    return absl::UnknownError(absl::StrCat("cannot read ", folder.string(), ": ", error.message()));
  }
  const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
  std::sort(listed.files.begin(), listed.files.end(), by_path);
  std::sort(listed.passed.begin(), listed.passed.end(), by_path);
  return listed;
}

// Returns true if `text`, which follows the map id in the name of a .mmtile, is a tile position: two times
// two digits, as in "0013132" and "0001_31_32".
bool IsPlaceOfTile(absl::string_view text) {
  constexpr std::array<absl::string_view, 2> kForms = {"dddd", "_dd_dd"};
  return std::any_of(kForms.begin(), kForms.end(), [&](absl::string_view form) {
    return std::equal(form.begin(), form.end(), text.begin(), text.end(), [](char wanted, char c) {
      return wanted == 'd' ? absl::ascii_isdigit(static_cast<unsigned char>(c)) : c == wanted;
    });
  });
}

bool IsTileOf(const std::filesystem::path& tile, const std::filesystem::path& map) {
  const std::string stem = tile.stem().string();
  absl::string_view place = stem;
  return ExtensionOf(tile) == ".mmtile" && absl::ConsumePrefix(&place, map.stem().string()) &&
         IsPlaceOfTile(place);
}

MapFormat FormatOf(const std::filesystem::path& path, absl::string_view bytes) {
  const MapFormat format = DetectFormat(bytes);
  // A .mmap has no magic.
  return format == MapFormat::kText && ExtensionOf(path) == ".mmap" ? MapFormat::kDetour : format;
}

// Appends the tiles of a .mmap in the order of their names.
absl::Status AppendTiles(const std::filesystem::path& path, std::string& bytes) {
  std::vector<std::filesystem::path> tiles;
  std::error_code error;
  auto entry = std::filesystem::directory_iterator(path.parent_path(), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (IsTileOf(entry->path(), path)) {
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

absl::StatusOr<LoadedFile> LoadMapFile(const MapFile& file, int max_side, LevelBuilder build) {
  WAYSTAR_ASSIGN_OR_RETURN(std::string bytes, ReadFile(file.path));
  if (ExtensionOf(file.path) == ".mmap") {
    WAYSTAR_RETURN_IF_ERROR(AppendTiles(file.path, bytes));
  }
  const MapFormat format = FormatOf(file.path, bytes);
  LoadedFile loaded{.no_map = WhyNoMap(file.path, format, bytes)};
  if (!loaded.no_map.empty()) {
    return loaded;
  }
  ImportNotes notes;
  ImportOptions options;
  options.notes = &notes;
  options.grid.max_side = max_side;
  options.neighbours = [folder = file.path.parent_path()](absl::string_view name) {
    return ReadNeighbour(folder, name);
  };
  if (HasPart(file.path, kTerrainsPart)) {
    WAYSTAR_ASSIGN_OR_RETURN(options.terrains, ReadFile(PartOf(file.path, kTerrainsPart)));
  }
  std::vector<NamedMap> maps;
  if (HasPart(file.path, kAgentsPart)) {
    WAYSTAR_ASSIGN_OR_RETURN(const std::string agents, ReadFile(PartOf(file.path, kAgentsPart)));
    WAYSTAR_ASSIGN_OR_RETURN(AnyMap map, build(format, bytes, agents, options));
    maps.push_back({.name = "", .map = std::move(map)});
  } else {
    WAYSTAR_ASSIGN_OR_RETURN(maps, ImportMaps(format, bytes, options));
  }
  loaded.maps.reserve(maps.size());
  UniqueIds ids;
  for (NamedMap& map : maps) {
    const std::string base = map.name.empty() ? file.id : absl::StrCat(file.id, ".", IdOf(map.name));
    loaded.maps.push_back({.id = ids.Take(base) ? base : ids.TakeNumbered(base), .map = std::move(map.map)});
  }
  loaded.notes = notes.notes();
  return loaded;
}

}  // namespace waystar::core
