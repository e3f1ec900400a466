#include "server/formats/detect/import_map.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/core/codec/map_image.h"
#include "server/formats/graph/geo_json.h"
#include "server/formats/grid/grid_readers.h"
#include "server/formats/grid/terrain_mapping.h"
#include "server/formats/mesh/mesh_readers.h"

namespace waystar::core {
namespace {

constexpr std::size_t kMaxLayerNames = 1000;

// Arguments of a reader.
struct Import {
  absl::string_view bytes;
  const ImportOptions& options;
  const TerrainMapping& mapping;
  ImportNotes& notes;
};

template <typename Map>
absl::StatusOr<AnyMap> AsImported(absl::StatusOr<Map> map) {
  WAYSTAR_RETURN_IF_ERROR(map.status());
  // Constructed in place: g++ 12 warns that a moved variant may be uninitialized.
  absl::StatusOr<AnyMap> imported;
  imported.emplace(*std::move(map));
  return imported;
}

absl::StatusOr<AnyMap> ReadLevel(const Import& in) {
  WAYSTAR_ASSIGN_OR_RETURN(const LdtkFile file, LdtkFile::Parse(in.bytes, in.notes, in.options.grid.stop));
  WAYSTAR_ASSIGN_OR_RETURN(const std::size_t level, file.FindLevel(in.options.level));
  absl::StatusOr<GridMap> map = file.ReadLevel(level, in.mapping, in.options, in.notes);
  if (absl::IsFailedPrecondition(map.status())) {
    return BadFormat(map.status().message());
  }
  return AsImported(std::move(map));
}

// `Parse` is a reader of a mesh, such as ParseObjMesh.
template <auto Parse>
absl::StatusOr<AnyMap> ReadMesh(const Import& in) {
  return AsImported(Parse(in.bytes, in.options));
}

absl::StatusOr<AnyMap> ReadDetourMesh(const Import& in) {
  WAYSTAR_ASSIGN_OR_RETURN(DetourMesh mesh, ParseDetourMesh(in.bytes, in.options));
  if (mesh.passed_over > 0) {
    in.notes.Add("off-mesh connections without ground near both ends, or beyond 1000, are passed over", "",
                 static_cast<std::int64_t>(mesh.passed_over));
  }
  return AsImported(absl::StatusOr<NavMesh>(std::move(mesh.mesh)));
}

// Returns true for text that begins with '{' and a name, which rows of text hardly ever do.
bool IsJsonObject(absl::string_view bytes) {
  const absl::string_view text = SkipByteOrderMark(bytes);
  return FirstOfText(text) == '{' && FirstOfText(text.substr(text.find('{') + 1)) == '"';
}

// Returns true for a JSON object that contains both texts, at any place.
bool IsJsonWith(absl::string_view bytes, absl::string_view member, absl::string_view other) {
  return IsJsonObject(bytes) && absl::StrContains(bytes, member) && absl::StrContains(bytes, other);
}

bool LooksLikeXmlOfTiled(absl::string_view bytes) {
  const absl::string_view text = SkipByteOrderMark(bytes);
  return FirstOfText(bytes) == '<' &&
         (absl::StartsWith(text, "<?xml") || absl::StrContains(text.substr(0, 1000), "<map "));
}

// Traits of formats: binary files, meshes, and the options that have a use (kAxes is for axes and weld).
enum Trait : unsigned { kBinary = 1, kMesh = 2, kTerrains = 4, kLevel = 8, kLayers = 16, kAxes = 32 };

// A format: the names, traits, detection and reader of its files.
struct KnownFormat {
  MapFormat format;
  // Endings of the names of such files, separated by spaces; see FileEnding.
  absl::string_view endings;
  absl::string_view if_other = "";
  // Set of Trait.
  unsigned traits = 0;
  // Note on a grid in which nothing blocks: the file probably marks walls in a way that is not read.
  absl::string_view if_open = "";
  bool (*looks_like)(absl::string_view bytes);
  absl::StatusOr<AnyMap> (*read)(const Import& in);
};

// A file is of the first format that it looks like.
constexpr KnownFormat kFormats[] = {
    {.format = MapFormat::kWaystar,
     .endings = ".waymap",
     .looks_like = IsMapImage,
     .read =
         [](const Import& in) {
           return DecodeImage(in.bytes, {.max_side = in.options.grid.max_side, .stop = in.options.grid.stop});
         }},
    {.format = MapFormat::kImage,
     .endings = ".png .webp .gif",
     .traits = kBinary | kTerrains,
     .if_open = "nothing in the picture says that anything blocks: dark and transparent pixels do, or those "
                "that a mapping says",
     .looks_like = IsImage,
     .read =
         [](const Import& in) {
           const TerrainMapping* const mapping = in.options.terrains.empty() ? nullptr : &in.mapping;
           return AsImported(ParseImageMap(in.bytes, mapping, in.options.grid));
         }},
    {.format = MapFormat::kMovingAi,
     .endings = ".map",
     .looks_like = LooksLikeMovingAi,
     .read = [](const Import& in) { return AsImported(ParseMovingAi(in.bytes, in.options.grid)); }},
    {.format = MapFormat::kPolyanya,
     .endings = ".mesh",
     .if_other = "this is not a mesh of the Polyanya search",
     .traits = kMesh,
     .looks_like = [](absl::string_view bytes) { return absl::StartsWith(bytes, kPolyanyaMeshMagic); },
     .read = ReadMesh<ParsePolyanyaMesh>},
    {.format = MapFormat::kDetour,
     .endings = ".navmesh .mmap",
     .traits = kBinary | kMesh | kAxes,
     .looks_like = LooksLikeDetourMesh,
     .read = ReadDetourMesh},
    {.format = MapFormat::kGodot,
     .endings = ".tres .tscn",
     .if_other = "this holds no navigation mesh of Godot",
     .traits = kMesh | kAxes,
     .looks_like = LooksLikeGodotMesh,
     .read = ReadMesh<ParseGodotMesh>},
    {.format = MapFormat::kUnity,
     .endings = ".json",
     .traits = kMesh | kAxes,
     .looks_like = [](absl::string_view bytes) { return IsJsonObject(bytes) && LooksLikeUnityMesh(bytes); },
     .read = ReadMesh<ParseUnityMesh>},
    {.format = MapFormat::kLdtk,
     .endings = ".ldtk",
     .traits = kTerrains | kLevel | kLayers,
     .if_open =
         "nothing in a level says that anything blocks: call values of IntGrid layers \"wall\", or map "
         "them to terrains",
     .looks_like =
         [](absl::string_view bytes) {
           return IsJsonWith(bytes, "\"__header__\"", "") || IsJsonWith(bytes, "\"jsonVersion\"", "");
         },
     .read = ReadLevel},
    {.format = MapFormat::kGltf,
     .endings = ".glb .gltf",
     .traits = kBinary | kMesh | kAxes,
     .looks_like =
         [](absl::string_view bytes) {
           return absl::StartsWith(bytes, "glTF") || IsJsonWith(bytes, "\"asset\"", "\"bufferViews\"");
         },
     .read = ReadMesh<ParseGltfMesh>},
    {.format = MapFormat::kGeoJson,
     .endings = ".geojson",
     .looks_like = [](absl::string_view bytes) { return IsJsonWith(bytes, "\"FeatureCollection\"", ""); },
     .read =
         [](const Import& in) { return AsImported(ParseGeoJson(in.bytes, in.notes, in.options.grid.stop)); }},
    // Any other JSON.
    {.format = MapFormat::kTiled,
     .endings = ".tmx .tmj",
     .traits = kTerrains | kLayers,
     .looks_like = [](absl::string_view bytes) { return LooksLikeXmlOfTiled(bytes) || IsJsonObject(bytes); },
     .read =
         [](const Import& in) { return AsImported(ParseTiled(in.bytes, in.mapping, in.options, in.notes)); }},
    {.format = MapFormat::kObj,
     .endings = ".obj",
     .if_other = "this is not a mesh of Wavefront OBJ",
     .traits = kMesh | kAxes,
     .looks_like = LooksLikeObjMesh,
     .read = ReadMesh<ParseObjMesh>},
    // Any other text.
    {.format = MapFormat::kText,
     .endings = ".txt",
     .looks_like = [](absl::string_view) { return true; },
     .read = [](const Import& in) { return AsImported(ParseText(in.bytes, in.options.grid)); }},
};

const KnownFormat& RowOf(MapFormat format) {
  return *std::find_if(std::begin(kFormats), std::end(kFormats),
                       [&](const KnownFormat& row) { return row.format == format; });
}

bool Has(MapFormat format, Trait trait) { return (RowOf(format).traits & trait) != 0; }

// Rejects files of another kind, and text in UTF-16: level editors write UTF-8.
absl::Status CheckEncoding(MapFormat format, absl::string_view bytes) {
  WAYSTAR_RETURN_IF_ERROR(CheckFileKind(format, bytes));
  const bool is_utf16 = absl::StartsWith(bytes, "\xFF\xFE") || absl::StartsWith(bytes, "\xFE\xFF") ||
                        absl::StrContains(bytes.substr(0, 4), '\0');
  return is_utf16 && !Has(format, kBinary) ? BadFormat("the file is not UTF-8, but looks like UTF-16")
                                           : absl::OkStatus();
}

struct FileKind {
  // Bytes at offset `at`.
  absl::string_view magic;
  absl::string_view name;
  absl::string_view advice;
  // The supported format of such files, if any.
  std::optional<MapFormat> format = std::nullopt;
  std::size_t at = 0;
};

constexpr absl::string_view kUnpack = "unpack it first";
constexpr absl::string_view kExport = "export its level in a format that is read";
constexpr absl::string_view kSwap = "save it on a machine with little-endian numbers";

template <std::size_t N>
constexpr absl::string_view Bytes(const char (&bytes)[N]) {
  return {bytes, N - 1};
}

// Each magic has bytes that text cannot have, or more letters than a map row has by chance.
constexpr std::array kKinds = {
    FileKind{Bytes("\x1F\x8B"), "compressed by gzip", kUnpack},
    FileKind{Bytes("PK\x03\x04"), "a ZIP archive", kUnpack},
    FileKind{Bytes("PK\x05\x06"), "a ZIP archive without files", kUnpack},
    FileKind{Bytes("\x28\xB5\x2F\xFD"), "compressed by Zstandard", kUnpack},
    FileKind{Bytes("\xFD\x37zXZ\0"), "compressed by xz", kUnpack},
    FileKind{Bytes("7z\xBC\xAF\x27\x1C"), "an archive of 7-Zip", kUnpack},
    FileKind{Bytes("\x04\x22\x4D\x18"), "compressed by LZ4", kUnpack},
    FileKind{Bytes("Rar!\x1A\x07"), "a RAR archive", kUnpack},
    FileKind{.magic = Bytes("1AY&SY"), .name = "compressed by bzip2", .advice = kUnpack, .at = 4},
    FileKind{.magic = Bytes("ustar\0"), .name = "a tar archive", .advice = kUnpack, .at = 257},
    FileKind{.magic = Bytes("ustar  \0"), .name = "a tar archive", .advice = kUnpack, .at = 257},
    FileKind{"version https://git-lfs.github.com/spec/", "a pointer of Git LFS, not the file itself",
             "fetch that (git lfs pull)"},
    FileKind{Bytes("MSET\0\0\0"), "a set of tiles of Detour with big-endian numbers", kSwap},
    FileKind{Bytes("TSET\0\0\0"), "a tile cache of Detour with big-endian numbers", kSwap},
    FileKind{Bytes("DNAV\0\0\0"), "a tile of Detour with big-endian numbers", kSwap},
    FileKind{Bytes("MMAP\0\0\0"), "a map of an emulator with big-endian numbers", kSwap},
    FileKind{Bytes("\xFF\xD8\xFF"), "a JPEG picture", "save it as PNG"},
    FileKind{Bytes("Kaydara FBX Binary"), "a scene in FBX", kExport},
    FileKind{Bytes("BLENDER-v"), "a scene of Blender", kExport},
    FileKind{Bytes("BLENDER_v"), "a scene of Blender", kExport},
    FileKind{Bytes("UnityFS\0"), "a bundle of Unity", kExport},
    FileKind{Bytes("\xC1\x83\x2A\x9E"), "a package of Unreal", kExport},
    FileKind{Bytes("%PDF-"), "a PDF document", kExport},
    FileKind{Bytes("\x7F"
                   "ELF"),
             "a program", kExport},
    FileKind{Bytes("\x89PNG"), "a PNG picture", "", MapFormat::kImage},
    FileKind{Bytes("GIF87a"), "a GIF picture", "", MapFormat::kImage},
    FileKind{Bytes("GIF89a"), "a GIF picture", "", MapFormat::kImage},
    FileKind{Bytes("WEBPVP8"), "a WebP picture", "", MapFormat::kImage, 8},
    FileKind{Bytes("glTF\x02\0\0\0"), "a level in binary glTF", "", MapFormat::kGltf},
};

absl::StatusOr<AnyMap> ReadMap(MapFormat format, absl::string_view bytes, const ImportOptions& options,
                               ImportNotes& notes) {
  WAYSTAR_RETURN_IF_ERROR(CheckEncoding(format, bytes));
  WAYSTAR_RETURN_IF_ERROR(CheckImportOptions(format, options));
  WAYSTAR_ASSIGN_OR_RETURN(const TerrainMapping mapping, ParseTerrainMapping(options.terrains));
  return RowOf(format).read({.bytes = bytes, .options = options, .mapping = mapping, .notes = notes});
}

void NoteOpenGround(MapFormat format, absl::string_view level, const AnyMap& map, ImportNotes& notes) {
  const auto* const grid = std::get_if<GridMap>(&map);
  const absl::string_view note = RowOf(format).if_open;
  if (!note.empty() && grid != nullptr && grid->obstacles().size() == 0 &&
      grid->walkable_cells() == std::int64_t{grid->width()} * grid->height()) {
    notes.Add(note, level);
  }
}

}  // namespace

absl::Status CheckFileKind(MapFormat format, absl::string_view bytes) {
  for (const FileKind& kind : kKinds) {
    if (kind.format != format && bytes.size() >= kind.at &&
        absl::StartsWith(bytes.substr(kind.at), kind.magic)) {
      return BadFormat(
          absl::StrCat("the file is ", kind.name, ": ",
                       kind.format ? "it is not in the format that it is to be read in" : kind.advice));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckImportOptions(MapFormat format, const ImportOptions& options) {
  for (const auto& [field, is_set, use] :
       {std::tuple(kTerrainsField, !options.terrains.empty(), kTerrains),
        std::tuple(kLevelField, !options.level.empty(), kLevel),
        std::tuple(kLayersField, !options.layers.empty(), kLayers),
        std::tuple(kAxesField, options.axes.has_value(), kAxes),
        std::tuple(kWeldField, options.weld.has_value(), kAxes),
        std::tuple(kAgentRadiusField, options.agent_radius.has_value(), kMesh),
        std::tuple(kMeshTerrainsField, !options.mesh_terrains.empty(), kMesh)}) {
    if (is_set && !Has(format, use)) {
      return MakeError(ErrorReason::kBadValue, field, "this option does not apply to files of this format");
    }
  }
  for (const auto& [field, value, most] :
       {std::tuple(kWeldField, options.weld, kMaxWeld),
        std::tuple(kAgentRadiusField, options.agent_radius, kMaxMeshAgentRadius)}) {
    if (value.has_value() && !(*value >= 0.0 && *value <= most)) {
      return MakeError(ErrorReason::kBadValue, field, absl::StrCat("it must be 0 to ", most));
    }
  }
  return options.layers.size() <= kMaxLayerNames
             ? absl::OkStatus()
             : MakeError(ErrorReason::kBadValue, kLayersField,
                         absl::StrCat("at most ", kMaxLayerNames, " layers, got ", options.layers.size()));
}

bool IsMeshFormat(MapFormat format) { return Has(format, kMesh); }

std::optional<FileEnding> FindEnding(absl::string_view ending) {
  for (const KnownFormat& row : kFormats) {
    for (const absl::string_view own : absl::StrSplit(row.endings, ' ', absl::SkipEmpty())) {
      if (own == ending) {
        return FileEnding{.format = row.format, .if_other = row.if_other};
      }
    }
  }
  return std::nullopt;
}

MapFormat DetectFormat(absl::string_view bytes) {
  return std::find_if(std::begin(kFormats), std::end(kFormats),
                      [&](const KnownFormat& row) { return row.looks_like(bytes); })
      ->format;
}

absl::StatusOr<AnyMap> ImportMap(MapFormat format, absl::string_view bytes, const ImportOptions& options) {
  ImportNotes unread;
  ImportNotes& notes = options.notes == nullptr ? unread : *options.notes;
  absl::StatusOr<AnyMap> map = ReadMap(format, bytes, options, notes);
  // A stopped parser may report the file as truncated.
  WAYSTAR_RETURN_IF_ERROR(CheckStop(options.grid.stop));
  if (map.ok()) {
    if (const auto* const mesh = std::get_if<NavMesh>(&*map); mesh != nullptr && options.agent_radius) {
      map = mesh->WithAgentRadius(*options.agent_radius);
    }
    NoteOpenGround(format, options.level, *map, notes);
  }
  return map;
}

absl::StatusOr<std::vector<NamedMap>> ImportMaps(MapFormat format, absl::string_view bytes,
                                                 const ImportOptions& options) {
  std::vector<NamedMap> maps;
  if (format != MapFormat::kLdtk) {
    WAYSTAR_ASSIGN_OR_RETURN(AnyMap map, ImportMap(format, bytes, options));
    maps.push_back({.name = "", .map = std::move(map)});
    return maps;
  }
  ImportNotes unread;
  ImportNotes& notes = options.notes == nullptr ? unread : *options.notes;
  WAYSTAR_RETURN_IF_ERROR(CheckEncoding(format, bytes));
  WAYSTAR_ASSIGN_OR_RETURN(const TerrainMapping mapping, ParseTerrainMapping(options.terrains));
  WAYSTAR_ASSIGN_OR_RETURN(const LdtkFile file, LdtkFile::Parse(bytes, notes));
  const bool has_one = file.level_count() == 1;
  for (std::size_t i = 0; i < file.level_count(); ++i) {
    absl::StatusOr<GridMap> map = file.ReadLevel(i, mapping, options, notes);
    if (absl::IsFailedPrecondition(map.status()) && has_one) {
      return BadFormat(map.status().message());
    }
    if (absl::IsFailedPrecondition(map.status())) {
      notes.Add("levels that cannot be a map are not read", map.status().message());
      continue;
    }
    WAYSTAR_RETURN_IF_ERROR(map.status());
    maps.push_back({.name = has_one ? "" : std::string(file.LevelName(i)), .map = *std::move(map)});
    NoteOpenGround(format, file.LevelName(i), maps.back().map, notes);
  }
  return maps.empty()
             ? absl::StatusOr<std::vector<NamedMap>>(BadFormat("no level has a visible IntGrid layer"))
             : std::move(maps);
}

}  // namespace waystar::core
