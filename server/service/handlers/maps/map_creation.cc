#include "server/service/handlers/maps/map_creation.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "server/base/error.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/formats/build/build_mesh.h"
#include "server/formats/build/level_geometry.h"
#include "server/formats/text/rows.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_creation.h"
#include "server/service/convert/convert_shape.h"

namespace waystar::rpc {
namespace {

absl::StatusOr<core::GridMap> FromBlank(const v1::CreateMapRequest& request, int max_side,
                                        const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(core::GridSettings settings, ToGridSettings(request.grid()));
  const v1::BlankGrid& blank = request.blank();
  WAYSTAR_RETURN_IF_ERROR(
      WithFieldPrefix(core::CheckMapSize(blank.width(), blank.height(), max_side), "blank."));
  const std::string fill = blank.fill().empty() ? "." : blank.fill();
  const auto terrain =
      std::find_if(settings.terrains.begin(), settings.terrains.end(),
                   [&](const core::Terrain& known) { return fill == std::string(1, known.symbol); });
  const bool is_obstacle = fill.size() == 1 && core::IsObstacleSymbol(fill.front());
  if (terrain == settings.terrains.end() && !is_obstacle) {
    return MakeError(ErrorReason::kUnknownTerrain, "blank.fill",
                     absl::StrCat("no terrain has the symbol \"", fill, "\""));
  }
  const auto id = static_cast<core::TerrainId>(is_obstacle ? 0 : terrain - settings.terrains.begin());
  absl::StatusOr<core::GridMap> map =
      core::CreateFilled(blank.width(), blank.height(), std::move(settings), id, is_obstacle, stop);
  // The plane of a board may be too large even if the board is not.
  if (!map.ok()) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    return WithFieldPrefix(map.status(), "blank.");
  }
  return map;
}

// Converts the field of an error of ImportMap to its path from the root of the request.
std::string FieldInRequest(absl::string_view field, const MapFileSource& file) {
  if (field.empty()) {
    return std::string(file.bytes_field);
  }
  return absl::StrCat(file.prefix, absl::StartsWith(field, "import_options.") ? "" : "grid.", field);
}

level::BuildOptions ToBuildOptions(const v1::MeshBuild& build) {
  level::BuildOptions options;
  TakeIf(build.has_agent_radius(), build.agent_radius(), options.agent_radius);
  TakeIf(build.has_agent_height(), build.agent_height(), options.agent_height);
  TakeIf(build.has_agent_climb(), build.agent_climb(), options.agent_climb);
  TakeIf(build.has_max_slope(), build.max_slope(), options.max_slope);
  TakeIf(build.has_cell_size(), build.cell_size(), options.cell_size);
  TakeIf(build.has_cell_height(), build.cell_height(), options.cell_height);
  TakeIf(build.has_tile_cells(), build.tile_cells(), options.tile_cells);
  TakeIf(build.has_min_region_area(), build.min_region_area(), options.min_region_area);
  return options;
}

std::vector<core::MeshTerrainOverride> ToMeshTerrains(
    const google::protobuf::RepeatedPtrField<v1::MeshTerrain>& terrains) {
  std::vector<core::MeshTerrainOverride> out;
  for (const v1::MeshTerrain& terrain : terrains) {
    out.push_back({.area = terrain.area(),
                   .name = terrain.name(),
                   .tags = {terrain.tags().begin(), terrain.tags().end()},
                   .cost = terrain.has_cost() ? std::optional(terrain.cost()) : std::nullopt,
                   .is_impassable = terrain.impassable()});
  }
  return out;
}

// Returns the settings of all builds, the one for the smallest agents first.
absl::StatusOr<std::vector<level::BuildSettings>> ToBuildSettings(const v1::ImportOptions& options) {
  std::vector<level::BuildSettings> sizes;
  const auto add = [&](const v1::MeshBuild& build, const std::string& field) {
    const absl::StatusOr<level::BuildSettings> settings = level::MakeSettings(ToBuildOptions(build));
    WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(settings.status(), field));
    if (!sizes.empty() && settings->agent_radius <= sizes.back().agent_radius) {
      return BadNumber(ErrorReason::kBadValue, absl::StrCat(field, "agent_radius"), settings->agent_radius,
                       absl::StrCat("above that of the build before it, ", sizes.back().agent_radius));
    }
    sizes.push_back(*settings);
    return absl::OkStatus();
  };
  WAYSTAR_RETURN_IF_ERROR(add(options.build(), absl::StrCat(core::kBuildField, ".")));
  for (int i = 0; i < options.larger_builds_size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(
        add(options.larger_builds(i), absl::StrCat(core::kLargerBuildsField, "[", i, "].")));
  }
  return sizes;
}

// Returns the mesh of a level, with the fields of ImportMap.
absl::StatusOr<core::AnyMap> BuildMap(core::MapFormat format, absl::string_view bytes,
                                      const v1::ImportOptions& builds, const core::ImportOptions& options) {
  if (builds.larger_builds_size() >= static_cast<int>(core::kMaxMeshSurfaces)) {
    return MakeError(ErrorReason::kBadValue, core::kLargerBuildsField,
                     absl::StrCat("a mesh has at most ", core::kMaxMeshSurfaces, " surfaces"));
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<level::BuildSettings> sizes, ToBuildSettings(builds));
  return level::BuildLevel(format, bytes, sizes, options);
}

}  // namespace

absl::StatusOr<MadeMap> DrawMap(const v1::CreateMapRequest& request, int max_side, const StopCheck* stop) {
  const int sources =
      (request.rows().empty() ? 0 : 1) + (request.has_blank() ? 1 : 0) + (request.data().empty() ? 0 : 1);
  if (sources != 1) {
    return MakeError(ErrorReason::kBadSource, "rows", "give exactly one of rows, blank, data and graph");
  }
  if (!request.data().empty()) {
    return ParseMapFile({.format = request.format(),
                         .bytes = request.data(),
                         .grid = request.grid(),
                         .import_options = request.import_options(),
                         .prefix = "",
                         .bytes_field = "data"},
                        max_side, stop);
  }
  if (request.has_import_options()) {
    return MakeError(ErrorReason::kBadSource, "import_options", "these are options of `data`");
  }
  WAYSTAR_ASSIGN_OR_RETURN(
      core::GridMap map,
      WithProfiles(request.has_blank() ? FromBlank(request, max_side, stop)
                                       : GridFromRows(request.rows(), request.grid(), max_side, stop),
                   request.grid()));
  return MadeMap{.map = std::move(map)};
}

absl::StatusOr<MadeMap> ParseMapFile(const MapFileSource& file, int max_side, const StopCheck* stop) {
  const absl::StatusOr<core::MapFormat> format = ToReadFormat(file.format, file.bytes);
  WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(format.status(), file.prefix));
  if (file.grid.ByteSizeLong() > 0) {
    const std::string field = absl::StrCat(file.prefix, "grid");
    if (*format == core::MapFormat::kGeoJson) {
      return MakeError(ErrorReason::kBadSource, field, "a waypoint graph has no options of a grid");
    }
    if (core::IsMeshFormat(*format)) {
      return MakeError(ErrorReason::kBadSource, field, "a navigation mesh has no options of a grid");
    }
    if (*format == core::MapFormat::kWaystar) {
      return MakeError(ErrorReason::kBadSource, field, "the image of a map has the map's own options");
    }
  }
  absl::StatusOr<core::GridOverrides> overrides = ToOverrides(file.grid);
  WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(overrides.status(), absl::StrCat(file.prefix, "grid.")));
  overrides->max_side = max_side;
  overrides->stop = stop;
  const v1::ImportOptions& options = file.import_options;
  const absl::StatusOr<std::optional<core::MeshAxes>> axes = ToMeshAxes(options.axes());
  WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(axes.status(), file.prefix));
  core::ImportNotes notes;
  const core::ImportOptions import = {
      .grid = *std::move(overrides),
      .terrains = options.terrains(),
      .level = options.level(),
      .layers = {options.layers().begin(), options.layers().end()},
      .axes = *axes,
      .weld = options.has_weld() ? std::optional(options.weld()) : std::nullopt,
      .agent_radius = options.has_agent_radius() ? std::optional(options.agent_radius()) : std::nullopt,
      .mesh_terrains = ToMeshTerrains(options.mesh_terrains()),
      .notes = &notes};
  if (options.larger_builds_size() > 0 && !options.has_build()) {
    return MakeError(ErrorReason::kBadValue, absl::StrCat(file.prefix, core::kLargerBuildsField),
                     "they need `build`, which is the one for the smallest agents");
  }
  absl::StatusOr<core::AnyMap> map = options.has_build() ? BuildMap(*format, file.bytes, options, import)
                                                         : core::ImportMap(*format, file.bytes, import);
  if (!map.ok()) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    return WithField(map.status(), FieldInRequest(ErrorFieldOf(map.status()), file));
  }
  if (auto* const grid = std::get_if<core::GridMap>(&*map)) {
    WAYSTAR_RETURN_IF_ERROR(
        WithFieldPrefix(AddProfiles(file.grid, *grid), absl::StrCat(file.prefix, "grid.")));
  }
  return MadeMap{.map = *std::move(map), .notes = std::move(notes)};
}

absl::Status CheckDigest(const core::AnyMap& map, std::uint64_t expected, absl::string_view field) {
  const std::uint64_t digest = std::visit([](const auto& kind) { return kind.digest(); }, map);
  if (digest == expected) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kDigestMismatch, field,
                   absl::StrCat("the map has the digest ", absl::Hex(digest, absl::kZeroPad16), ", not ",
                                absl::Hex(expected, absl::kZeroPad16)));
}

absl::Status Prepare(const core::MapStore& store, core::AnyMap& map, const StopCheck* stop) {
  store.Prepare(map, stop);
  return CheckStop(stop);
}

absl::StatusOr<core::PinnedSnapshot> CreateInStore(core::MapStore& store, const std::string& id,
                                                   core::AnyMap map, absl::string_view prefix,
                                                   IfExists if_exists, core::CreationRequest request) {
  const bool may_replace = if_exists == IfExists::kReplace;
  const absl::string_view event =
      may_replace && store.CheckCanDelete(id).ok() ? "map_replaced" : "map_created";
  absl::StatusOr<core::PinnedSnapshot> created = may_replace
                                                     ? store.Replace(id, std::move(map), store.Now())
                                                     : store.Create(id, std::move(map), store.Now(), request);
  if (!created.ok()) {
    return ErrorFieldOf(created.status()).empty() ? created.status()
                                                  : WithFieldPrefix(created.status(), prefix);
  }
  const auto [first, second] =
      std::visit([](const auto& of_kind) { return SizeForLog(of_kind); }, (*created)->map);
  runtime::Log(runtime::LogLevel::kInfo, event, {{"map", id}, first, second});
  return created;
}

core::CreationRequest CreationRequestOf(const v1::CreateMapRequest& request) {
  if (request.request_id().empty()) {
    return {};
  }
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream to(&bytes);
    google::protobuf::io::CodedOutputStream coded(&to);
    coded.SetSerializationDeterministic(true);
    request.SerializeToCodedStream(&coded);
  }
  return {.request_id = request.request_id(), .fingerprint = core::FingerprintOf(bytes)};
}

absl::StatusOr<core::WaypointGraph> BuildGraph(const core::MapStore& store,
                                               const v1::CreateMapRequest& request, const StopCheck* stop) {
  constexpr absl::string_view kReferenceField = "graph.auto_connect.reference_map";
  if (!request.rows().empty() || request.has_blank() || !request.data().empty()) {
    return MakeError(ErrorReason::kBadSource, "graph", "give exactly one of rows, blank, data and graph");
  }
  if (request.has_grid()) {
    return MakeError(ErrorReason::kBadSource, "grid", "a waypoint graph has no options of a grid");
  }
  if (request.has_import_options()) {
    return MakeError(ErrorReason::kBadSource, "import_options", "these are options of `data`");
  }
  std::shared_ptr<const core::GridSight> sight;
  if (const std::string& reference = request.graph().auto_connect().reference_map(); !reference.empty()) {
    const absl::StatusOr<core::PinnedSnapshot> grid = store.Pin(reference);
    if (!core::LoadingMapOf(grid.status()).empty()) {
      return WithField(grid.status(), kReferenceField);
    }
    if (!grid.ok()) {
      return MakeError(absl::IsNotFound(grid.status()) ? ErrorReason::kMapNotFound : ErrorReason::kBadMapId,
                       kReferenceField, grid.status().message());
    }
    if (const auto of_kind = core::GridOf(**grid); !of_kind.ok()) {
      return MakeError(ErrorReason::kWrongMapKind, kReferenceField, of_kind.status().message());
    }
    const core::WorldFrame& frame = (*grid)->grid().settings().frame;
    if (frame.hexagons) {
      return MakeError(ErrorReason::kWrongMapKind, kReferenceField,
                       "a map of hexagons is not a reference for sight");
    }
    sight = std::make_shared<const core::GridSight>(
        (*grid)->grid().walk().rows(), core::Point{frame.origin.x, frame.origin.y}, frame.cell_size);
  }
  const absl::StatusOr<core::WaypointSpec> spec = ToWaypointSpec(request.graph(), std::move(sight));
  WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(spec.status(), "graph."));
  absl::StatusOr<core::WaypointGraph> graph = core::WaypointGraph::Create(*spec, stop);
  if (!graph.ok()) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    return WithFieldPrefix(graph.status(), ErrorFieldOf(graph.status()).empty() ? "graph" : "graph.");
  }
  return graph;
}

absl::StatusOr<MadeMap> MakeMap(const core::MapStore& store, int max_side,
                                const v1::CreateMapRequest& request, const StopCheck* stop) {
  WAYSTAR_RETURN_IF_ERROR(store.CheckCanCreate(request.map()));
  if (!request.has_graph()) {
    WAYSTAR_ASSIGN_OR_RETURN(MadeMap made, DrawMap(request, max_side, stop));
    WAYSTAR_RETURN_IF_ERROR(Prepare(store, made.map, stop));
    return made;
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::WaypointGraph graph, BuildGraph(store, request, stop));
  return MadeMap{.map = core::AnyMap(std::move(graph))};
}

void FillNotes(const core::ImportNotes& notes, google::protobuf::RepeatedPtrField<v1::ImportNote>& out) {
  for (const core::ImportNote& note : notes.notes()) {
    v1::ImportNote& to = *out.Add();
    to.set_text(note.text);
    to.set_first_place(note.first_place);
    to.set_count(note.count);
  }
}

}  // namespace waystar::rpc
