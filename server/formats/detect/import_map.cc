#include "server/formats/detect/import_map.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/base/status_macros.h"
#include "server/core/codec/map_image.h"
#include "server/formats/detect/foreign_file.h"
#include "server/formats/graph/geo_json.h"
#include "server/formats/grid/image.h"
#include "server/formats/grid/image_map.h"
#include "server/formats/grid/ldtk.h"
#include "server/formats/grid/terrain_mapping.h"
#include "server/formats/grid/tiled.h"
#include "server/formats/mesh/detour_mesh.h"
#include "server/formats/mesh/gltf_mesh.h"
#include "server/formats/mesh/godot_mesh.h"
#include "server/formats/mesh/obj_mesh.h"
#include "server/formats/mesh/polyanya_mesh.h"
#include "server/formats/mesh/unity_mesh.h"
#include "server/formats/text/moving_ai.h"
#include "server/formats/text/text.h"
#include "server/formats/text/text_start.h"

namespace waystar::core {
namespace {

constexpr std::size_t kMaxLayerNames = 1000;

// Level editors write UTF-8.
absl::Status CheckEncoding(MapFormat format, absl::string_view bytes) {
  WAYSTAR_RETURN_IF_ERROR(CheckFileKind(format, bytes));
  const bool is_text =
      format != MapFormat::kImage && format != MapFormat::kDetour && format != MapFormat::kGltf;
  const bool is_utf16 = absl::StartsWith(bytes, "\xFF\xFE") || absl::StartsWith(bytes, "\xFE\xFF") ||
                        absl::StrContains(bytes.substr(0, 4), '\0');
  return is_utf16 && is_text ? BadFormat("the file is no UTF-8, but looks like UTF-16") : absl::OkStatus();
}

absl::Status Useless(absl::string_view field) {
  return MakeError(ErrorReason::kBadValue, field, "files of this format have no use for this option");
}

template <typename Map>
absl::StatusOr<AnyMap> AsImported(absl::StatusOr<Map> map) {
  WAYSTAR_RETURN_IF_ERROR(map.status());
  // Constructed in place: g++ 12 warns that a moved variant may be uninitialized.
  absl::StatusOr<AnyMap> imported;
  imported.emplace(*std::move(map));
  return imported;
}

absl::StatusOr<AnyMap> ImportLevel(absl::string_view bytes, const TerrainMapping& mapping,
                                   const ImportOptions& options, ImportNotes& notes) {
  WAYSTAR_ASSIGN_OR_RETURN(const LdtkFile file, LdtkFile::Parse(bytes, notes, options.grid.stop));
  WAYSTAR_ASSIGN_OR_RETURN(const std::size_t level, file.FindLevel(options.level));
  return AsImported(file.ReadLevel(level, mapping, options, notes));
}

// A file in which nothing blocks probably marks walls in a way that is not read.
void NoteOpenGround(MapFormat format, absl::string_view level, const AnyMap& map, ImportNotes& notes) {
  const auto* const grid = std::get_if<GridMap>(&map);
  const bool is_open = grid != nullptr && grid->obstacles().size() == 0 &&
                       grid->walkable_cells() == std::int64_t{grid->width()} * grid->height();
  if (is_open && format == MapFormat::kLdtk) {
    notes.Add(
        "nothing in a level says that anything blocks: call values of IntGrid layers \"wall\", or map "
        "them to terrains",
        level);
  } else if (is_open && format == MapFormat::kImage) {
    notes.Add(
        "nothing in the picture says that anything blocks: dark and transparent pixels do, or those that a "
        "mapping says");
  }
}

// Detects the format of text that begins with '{'. JSON continues with a name, which rows of text hardly ever
// do.
MapFormat FormatOfJson(absl::string_view bytes) {
  const absl::string_view text = SkipByteOrderMark(bytes);
  if (FirstOfText(text.substr(text.find('{') + 1)) != '"') {
    return MapFormat::kText;
  }
  // The members decide, whatever their values.
  if (LooksLikeUnityMesh(bytes)) {
    return MapFormat::kUnity;
  }
  if (absl::StrContains(bytes, "\"__header__\"") || absl::StrContains(bytes, "\"jsonVersion\"")) {
    return MapFormat::kLdtk;
  }
  if (absl::StrContains(bytes, "\"asset\"") && absl::StrContains(bytes, "\"bufferViews\"")) {
    return MapFormat::kGltf;
  }
  return absl::StrContains(bytes, "\"FeatureCollection\"") ? MapFormat::kGeoJson : MapFormat::kTiled;
}

absl::StatusOr<AnyMap> ImportDetourMesh(absl::string_view bytes, const ImportOptions& options, MeshAxes axes,
                                        ImportNotes& notes) {
  WAYSTAR_ASSIGN_OR_RETURN(DetourMesh mesh,
                           ParseDetourMesh(bytes, axes, options.grid.stop, &notes, options.weld));
  if (mesh.passed_over > 0) {
    notes.Add("off-mesh connections without ground near both ends, or beyond 1000, are passed over", "",
              static_cast<std::int64_t>(mesh.passed_over));
  }
  return AsImported(absl::StatusOr<NavMesh>(std::move(mesh.mesh)));
}

absl::StatusOr<AnyMap> ReadMap(MapFormat format, absl::string_view bytes, const ImportOptions& options,
                               ImportNotes& notes) {
  WAYSTAR_RETURN_IF_ERROR(CheckEncoding(format, bytes));
  WAYSTAR_RETURN_IF_ERROR(CheckImportOptions(format, options));
  WAYSTAR_ASSIGN_OR_RETURN(const TerrainMapping mapping, ParseTerrainMapping(options.terrains));
  const MeshAxes axes = options.axes.value_or(MeshAxes::kYUp);
  switch (format) {
    case MapFormat::kText:
      return AsImported(ParseText(bytes, options.grid));
    case MapFormat::kMovingAi:
      return AsImported(ParseMovingAi(bytes, options.grid));
    case MapFormat::kWaystar:
      return DecodeImage(bytes, {.max_side = options.grid.max_side, .stop = options.grid.stop});
    case MapFormat::kTiled:
      return AsImported(ParseTiled(bytes, mapping, options, notes));
    case MapFormat::kLdtk:
      return ImportLevel(bytes, mapping, options, notes);
    case MapFormat::kImage:
      return AsImported(ParseImageMap(bytes, options.terrains.empty() ? nullptr : &mapping, options.grid));
    case MapFormat::kGeoJson:
      return AsImported(ParseGeoJson(bytes, notes, options.grid.stop));
    case MapFormat::kPolyanya:
      return AsImported(ParsePolyanyaMesh(bytes, options.grid.stop));
    case MapFormat::kDetour:
      return ImportDetourMesh(bytes, options, axes, notes);
    case MapFormat::kObj:
      return AsImported(ParseObjMesh(bytes, axes, options.grid.stop, &notes, options.weld));
    case MapFormat::kUnity:
      return AsImported(ParseUnityMesh(bytes, axes, options.grid.stop, &notes, options.weld));
    case MapFormat::kGodot:
      return AsImported(ParseGodotMesh(bytes, axes, options.grid.stop, &notes, options.weld));
    case MapFormat::kGltf:
      return AsImported(ParseGltfMesh(bytes, axes, options.grid.stop, &notes, options.weld));
  }
  return BadFormat("files of this format are not read");
}

}  // namespace

absl::Status CheckImportOptions(MapFormat format, const ImportOptions& options) {
  const bool has_layers = format == MapFormat::kTiled || format == MapFormat::kLdtk;
  if (!options.terrains.empty() && !has_layers && format != MapFormat::kImage) {
    return Useless(kTerrainsField);
  }
  if (!options.level.empty() && format != MapFormat::kLdtk) {
    return Useless(kLevelField);
  }
  if (!options.layers.empty() && !has_layers) {
    return Useless(kLayersField);
  }
  const bool has_axes = IsMeshFormat(format) && format != MapFormat::kPolyanya;
  if (options.axes.has_value() && !has_axes) {
    return Useless(kAxesField);
  }
  if (options.weld.has_value() && !has_axes) {
    return Useless(kWeldField);
  }
  if (options.weld.has_value() && !(*options.weld >= 0.0 && *options.weld <= kMaxWeld)) {
    return MakeError(ErrorReason::kBadValue, kWeldField, absl::StrCat("it is a number from 0 to ", kMaxWeld));
  }
  return options.layers.size() <= kMaxLayerNames
             ? absl::OkStatus()
             : MakeError(ErrorReason::kBadValue, kLayersField,
                         absl::StrCat("at most ", kMaxLayerNames, " layers, not ", options.layers.size()));
}

MapFormat DetectFormat(absl::string_view bytes) {
  if (IsMapImage(bytes)) {
    return MapFormat::kWaystar;
  }
  if (IsImage(bytes)) {
    return MapFormat::kImage;
  }
  if (LooksLikeMovingAi(bytes)) {
    return MapFormat::kMovingAi;
  }
  if (absl::StartsWith(bytes, kPolyanyaMeshMagic)) {
    return MapFormat::kPolyanya;
  }
  if (LooksLikeDetourMesh(bytes)) {
    return MapFormat::kDetour;
  }
  if (absl::StartsWith(bytes, "glTF")) {
    return MapFormat::kGltf;
  }
  if (LooksLikeGodotMesh(bytes)) {
    return MapFormat::kGodot;
  }
  const char first = FirstOfText(bytes);
  const absl::string_view text = SkipByteOrderMark(bytes);
  if (first == '<' && (absl::StartsWith(text, "<?xml") || absl::StrContains(text.substr(0, 1000), "<map "))) {
    return MapFormat::kTiled;
  }
  if (first == '{') {
    return FormatOfJson(bytes);
  }
  return LooksLikeObjMesh(bytes) ? MapFormat::kObj : MapFormat::kText;
}

absl::StatusOr<AnyMap> ImportMap(MapFormat format, absl::string_view bytes, const ImportOptions& options) {
  ImportNotes unread;
  ImportNotes& notes = options.notes == nullptr ? unread : *options.notes;
  absl::StatusOr<AnyMap> map = ReadMap(format, bytes, options, notes);
  // A stopped parser may report the file as truncated.
  WAYSTAR_RETURN_IF_ERROR(CheckStop(options.grid.stop));
  if (map.ok()) {
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
  for (std::size_t i = 0; i < file.level_count(); ++i) {
    if (file.level_count() == 1) {
      WAYSTAR_ASSIGN_OR_RETURN(GridMap map, file.ReadLevel(i, mapping, options, notes));
      maps.push_back({.name = "", .map = std::move(map)});
    } else {
      WAYSTAR_ASSIGN_OR_RETURN(std::optional<GridMap> map, file.ReadLevelIfAny(i, mapping, options, notes));
      if (!map) {
        continue;
      }
      maps.push_back({.name = std::string(file.LevelName(i)), .map = *std::move(map)});
    }
    NoteOpenGround(format, file.LevelName(i), maps.back().map, notes);
  }
  return maps.empty()
             ? absl::StatusOr<std::vector<NamedMap>>(BadFormat("no level has a visible IntGrid layer"))
             : std::move(maps);
}

}  // namespace waystar::core
