#include "server/rpc/map_creation.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/format/grid_overrides.h"
#include "server/core/format/map_format.h"
#include "server/core/format/rows.h"
#include "server/core/grid/world_frame.h"
#include "server/rpc/convert.h"
#include "server/rpc/convert_graph.h"
#include "server/rpc/convert_profile.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

// Errors of ToOverrides and ApplyOverrides name fields of GridOptions.
absl::Status InGrid(const absl::Status& status, absl::string_view prefix) {
  return WithFieldPrefix(status, absl::StrCat(prefix, "grid."));
}

absl::StatusOr<core::GridSettings> SettingsOf(const v1::GridOptions& options) {
  absl::StatusOr<core::GridOverrides> overrides = ToOverrides(options);
  if (!overrides.ok()) {
    return InGrid(overrides.status(), "");
  }
  absl::StatusOr<core::GridSettings> settings = core::ApplyOverrides({}, *overrides);
  if (!settings.ok()) {
    return InGrid(settings.status(), "");
  }
  return settings;
}

absl::StatusOr<core::GridMap> WithProfiles(absl::StatusOr<core::GridMap> map, const v1::GridOptions& options,
                                           absl::string_view prefix) {
  if (map.ok()) {
    if (const absl::Status status = AddProfiles(options, *map); !status.ok()) {
      return InGrid(status, prefix);
    }
  }
  return map;
}

absl::StatusOr<core::GridMap> FromRows(const v1::CreateMapRequest& request, int max_side) {
  WAYSTAR_ASSIGN_OR_RETURN(core::GridSettings settings, SettingsOf(request.grid()));
  const std::vector<absl::string_view> rows(request.rows().begin(), request.rows().end());
  return core::ParseRows(rows, std::move(settings), core::RowSource{.max_side = max_side});
}

absl::StatusOr<core::GridMap> FromBlank(const v1::CreateMapRequest& request, int max_side) {
  WAYSTAR_ASSIGN_OR_RETURN(core::GridSettings settings, SettingsOf(request.grid()));
  const v1::BlankGrid& blank = request.blank();
  if (absl::Status status = core::CheckMapSize(blank.width(), blank.height(), max_side); !status.ok()) {
    return WithFieldPrefix(status, "blank.");
  }
  const std::string fill = blank.fill().empty() ? "." : blank.fill();
  const auto terrain =
      std::find_if(settings.terrains.begin(), settings.terrains.end(),
                   [&](const core::Terrain& known) { return fill == std::string(1, known.symbol); });
  const bool is_obstacle = fill.size() == 1 && core::IsObstacleSymbol(fill.front());
  if (terrain == settings.terrains.end() && !is_obstacle) {
    return InvalidArgument(ErrorReason::kUnknownTerrain, "blank.fill",
                           absl::StrCat("no terrain has the symbol \"", fill, "\""));
  }
  const auto id = static_cast<core::TerrainId>(is_obstacle ? 0 : terrain - settings.terrains.begin());
  absl::StatusOr<core::GridMap> map =
      core::CreateFilled(blank.width(), blank.height(), std::move(settings), id, is_obstacle);
  // The plane of a board may be too large where the board itself is not.
  if (!map.ok()) {
    return WithFieldPrefix(map.status(), "blank.");
  }
  return map;
}

}  // namespace

absl::StatusOr<core::GridMap> DrawMap(const v1::CreateMapRequest& request, int max_side) {
  const int sources =
      (request.rows().empty() ? 0 : 1) + (request.has_blank() ? 1 : 0) + (request.data().empty() ? 0 : 1);
  if (sources != 1) {
    return InvalidArgument(ErrorReason::kBadSource, "rows",
                           "give exactly one of rows, blank, data and graph");
  }
  if (request.has_blank()) {
    return WithProfiles(FromBlank(request, max_side), request.grid(), "");
  }
  if (!request.data().empty()) {
    return ParseMapFile(request.format(), request.data(), request.grid(), max_side, "", "data");
  }
  return WithProfiles(FromRows(request, max_side), request.grid(), "");
}

absl::StatusOr<core::GridMap> ParseMapFile(v1::MapFormat format, const std::string& bytes,
                                           const v1::GridOptions& options, int max_side,
                                           absl::string_view prefix, absl::string_view bytes_field) {
  const absl::StatusOr<core::MapFormat> known_format = ToReadFormat(format, bytes);
  if (!known_format.ok()) {
    return WithFieldPrefix(known_format.status(), prefix);
  }
  absl::StatusOr<core::GridOverrides> overrides = ToOverrides(options);
  if (!overrides.ok()) {
    return InGrid(overrides.status(), prefix);
  }
  overrides->max_side = max_side;
  absl::StatusOr<core::GridMap> map = core::ParseMap(*known_format, bytes, *overrides);
  if (map.ok()) {
    return WithProfiles(std::move(map), options, prefix);
  }
  return ErrorFieldOf(map.status()).empty() ? WithFieldPrefix(map.status(), bytes_field)
                                            : InGrid(map.status(), prefix);
}

absl::StatusOr<core::PinnedSnapshot> CreateInStore(core::MapStore& store, const std::string& id,
                                                   core::GridMap grid, absl::string_view prefix) {
  absl::StatusOr<core::PinnedSnapshot> created = store.Create(id, std::move(grid), absl::Now());
  if (!created.ok()) {
    return ErrorFieldOf(created.status()).empty() ? created.status()
                                                  : WithFieldPrefix(created.status(), prefix);
  }
  runtime::Log(runtime::LogLevel::kInfo, "map_created",
               {{"map", id}, {"width", (*created)->grid().width()}, {"height", (*created)->grid().height()}});
  return created;
}

absl::StatusOr<core::WaypointGraph> BuildGraph(const core::MapStore& store,
                                               const v1::CreateMapRequest& request) {
  constexpr absl::string_view kReferenceField = "graph.auto_connect.reference_map";
  if (!request.rows().empty() || request.has_blank() || !request.data().empty()) {
    return InvalidArgument(ErrorReason::kBadSource, "graph",
                           "give exactly one of rows, blank, data and graph");
  }
  if (request.has_grid()) {
    return InvalidArgument(ErrorReason::kBadSource, "grid", "a waypoint graph has no options of a grid");
  }
  std::shared_ptr<const core::GridSight> sight;
  if (const std::string& reference = request.graph().auto_connect().reference_map(); !reference.empty()) {
    const absl::StatusOr<core::PinnedSnapshot> grid = store.Pin(reference);
    if (!grid.ok()) {
      return MakeError(grid.status().code(),
                       absl::IsNotFound(grid.status()) ? ErrorReason::kMapNotFound : ErrorReason::kBadMapId,
                       kReferenceField, grid.status().message());
    }
    if (const absl::Status status = core::CheckIsGrid(**grid); !status.ok()) {
      return MakeError(status.code(), ErrorReason::kWrongMapKind, kReferenceField, status.message());
    }
    const core::WorldFrame& frame = (*grid)->grid().settings().frame;
    if (frame.hexagons) {
      return MakeError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind, kReferenceField,
                       "a map of hexagons is no reference for sight");
    }
    sight = std::make_shared<const core::GridSight>(
        (*grid)->grid().walk().rows(), core::Point{frame.origin.x, frame.origin.y}, frame.cell_size);
  }
  const absl::StatusOr<core::WaypointSpec> spec = ToWaypointSpec(request.graph(), std::move(sight));
  if (!spec.ok()) {
    return WithFieldPrefix(spec.status(), "graph.");
  }
  absl::StatusOr<core::WaypointGraph> graph = core::WaypointGraph::Create(*spec);
  if (!graph.ok()) {
    return WithFieldPrefix(graph.status(), ErrorFieldOf(graph.status()).empty() ? "graph" : "graph.");
  }
  return graph;
}

absl::StatusOr<core::PinnedSnapshot> CreateInStore(core::MapStore& store, const std::string& id,
                                                   core::WaypointGraph graph) {
  WAYSTAR_ASSIGN_OR_RETURN(core::PinnedSnapshot created, store.Create(id, std::move(graph), absl::Now()));
  runtime::Log(
      runtime::LogLevel::kInfo, "map_created",
      {{"map", id}, {"nodes", created->graph().node_count()}, {"edges", created->graph().arc_count()}});
  return created;
}

}  // namespace waystar::rpc
