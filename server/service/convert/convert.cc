#include "server/service/convert/convert.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>

#include "absl/strings/str_format.h"
#include "server/service/convert/convert_creation.h"
#include "server/service/convert/convert_shape.h"

namespace waystar::rpc {
namespace {

constexpr std::pair<v1::Connectivity, core::Connectivity> kConnectivities[] = {
    {v1::CONNECTIVITY_FOUR, core::Connectivity::kFour}, {v1::CONNECTIVITY_EIGHT, core::Connectivity::kEight}};

constexpr std::pair<v1::HexLayout, core::HexLayout> kHexLayouts[] = {
    {v1::HEX_LAYOUT_AXIAL_POINTY, core::HexLayout::kAxialPointy},
    {v1::HEX_LAYOUT_AXIAL_FLAT, core::HexLayout::kAxialFlat},
    {v1::HEX_LAYOUT_ODD_ROWS, core::HexLayout::kOddRows},
    {v1::HEX_LAYOUT_EVEN_ROWS, core::HexLayout::kEvenRows},
    {v1::HEX_LAYOUT_ODD_COLUMNS, core::HexLayout::kOddColumns},
    {v1::HEX_LAYOUT_EVEN_COLUMNS, core::HexLayout::kEvenColumns}};

constexpr std::pair<v1::MeshAxes, core::MeshAxes> kMeshAxes[] = {
    {v1::MESH_AXES_Y_UP, core::MeshAxes::kYUp},
    {v1::MESH_AXES_Z_UP, core::MeshAxes::kZUp},
    {v1::MESH_AXES_UNREAL, core::MeshAxes::kUnreal}};

constexpr std::pair<v1::MapKind, core::MapKind> kMapKinds[] = {
    {v1::MAP_KIND_SQUARES, core::MapKind::kSquares},
    {v1::MAP_KIND_HEXAGONS, core::MapKind::kHexagons},
    {v1::MAP_KIND_WAYPOINT_GRAPH, core::MapKind::kWaypointGraph},
    {v1::MAP_KIND_MESH, core::MapKind::kMesh}};

absl::StatusOr<core::TerrainOverride> ToTerrainOverride(const v1::Terrain& terrain) {
  if (terrain.symbol().size() != 1) {
    return MakeError(ErrorReason::kBadTerrain, "symbol", "a terrain's symbol is one ASCII character");
  }
  core::TerrainOverride changes{.symbol = terrain.symbol().front()};
  TakeIf(!terrain.name().empty(), terrain.name(), changes.name);
  TakeIf(terrain.has_cost(), terrain.cost(), changes.cost);
  TakeIf(terrain.has_impassable(), terrain.impassable(), changes.impassable);
  return changes;
}

// Fills the message of an update or of a revision.
template <typename Message>
void FillCounts(const core::ChangeSummary& summary, Message& out) {
  out.set_changed_cells(summary.changed_cells);
  out.set_changed_nodes(summary.changed_nodes);
  out.set_changed_edges(summary.changed_edges);
}

void FillGridInfo(const core::GridMap& grid, v1::GridInfo& out) {
  const core::GridSettings& settings = grid.settings();
  out.set_width(grid.width());
  out.set_height(grid.height());
  if (const std::optional<core::HexBoard>& board = settings.frame.hexagons) {
    if (core::HasOffsets(board->layout)) {
      out.set_width(board->columns);
      out.set_height(board->rows);
    }
    out.mutable_hexagons()->set_layout(ToWire(kHexLayouts, board->layout));
  } else {
    out.mutable_squares()->set_connectivity(ToWire(kConnectivities, settings.connectivity));
    out.mutable_squares()->set_diagonal_cost(settings.diagonal_cost);
  }
  for (const core::Terrain& terrain : settings.terrains) {
    v1::Terrain& written = *out.add_terrains();
    written.set_symbol(std::string(1, terrain.symbol));
    written.set_name(terrain.name);
    written.set_cost(terrain.cost);
    written.set_impassable(terrain.impassable);
  }
  out.set_walkable_cells(grid.walkable_cells());
  // Cells of the plane beside a board are permanently blocked, and invisible to clients.
  const std::int64_t beside = grid.bounds().area() - std::int64_t{out.width()} * out.height();
  out.set_obstacle_cells(grid.obstacle_cells() - beside);
  out.set_named_obstacles(static_cast<std::int32_t>(grid.obstacles().size()));
  out.set_world(settings.world);
  out.set_portals(static_cast<std::int32_t>(grid.portals().size()));
  FillPosition(settings.frame.origin, *out.mutable_origin());
  out.set_cell_size(settings.frame.cell_size);
  for (const core::NamedProfile& profile : grid.profiles()) {
    FillNamedProfile(profile, *out.add_profiles());
  }
}

void FillKind(const core::GridMap& grid, v1::MapInfo& info) { FillGridInfo(grid, *info.mutable_grid()); }
void FillKind(const core::WaypointGraph& graph, v1::MapInfo& info) {
  FillGraphInfo(graph, *info.mutable_graph());
}
void FillTerrain(std::size_t area, const core::MeshTerrain& terrain, v1::MeshTerrain& out) {
  out.set_area(static_cast<std::int32_t>(area));
  out.set_name(terrain.name);
  out.mutable_tags()->Assign(terrain.tags.begin(), terrain.tags.end());
  out.set_cost(terrain.cost);
  out.set_impassable(terrain.is_impassable);
}
void FillKind(const core::NavMesh& mesh, v1::MapInfo& info) {
  v1::MeshInfo& out = *info.mutable_mesh();
  // Closed polygons of the map are those that grounds remove.
  out.set_polygons(static_cast<std::int32_t>(mesh.polygon_count() - mesh.closed_count()));
  out.set_vertices(static_cast<std::int32_t>(mesh.vertex_count()));
  out.set_parts(static_cast<std::int32_t>(mesh.part_count() - mesh.closed_count()));
  out.set_portals(static_cast<std::int32_t>(mesh.portals().size()));
  out.set_named_obstacles(static_cast<std::int32_t>(mesh.obstacles().size()));
  out.set_agent_radius(mesh.agent_radius());
  for (const core::MeshProfile& profile : mesh.profiles()) {
    FillNamedProfile(profile, *out.add_profiles());
  }
  for (std::size_t area = 0; area < mesh.terrains().size(); ++area) {
    if (mesh.IsUsed(area)) {
      FillTerrain(area, mesh.terrains()[area], *out.add_terrains());
    }
  }
  for (const core::NavMesh& surface : mesh.larger()) {
    v1::MeshSurface& larger = *out.add_larger_surfaces();
    larger.set_radius(surface.agent_radius());
    larger.set_polygons(static_cast<std::int32_t>(surface.polygon_count() - surface.closed_count()));
    larger.set_vertices(static_cast<std::int32_t>(surface.vertex_count()));
    larger.set_parts(static_cast<std::int32_t>(surface.part_count() - surface.closed_count()));
  }
  mesh.grounds().VisitAfter("", [&](const core::MeshGround& ground) {
    v1::GroundInfo& added = *out.add_grounds();
    added.set_id(ground.id);
    added.set_polygons(static_cast<std::int32_t>(ground.polygons.size()));
    added.set_has_region(ground.region.has_value());
    return true;
  });
  if (mesh.vertex_count() > 0) {
    const core::MeshBounds& bounds = mesh.bounds();
    FillPosition(bounds.low, *out.mutable_low());
    FillPosition(bounds.high, *out.mutable_high());
  }
}

absl::Status CheckHeight(absl::string_view name, double height) {
  return std::isnan(height) ? MakeError(ErrorReason::kBadValue, name, "a height is a number")
                            : absl::OkStatus();
}

}  // namespace

absl::Status UnknownEnumValue(absl::string_view field, int value) {
  return MakeError(ErrorReason::kUnknownEnumValue, field,
                   absl::StrCat(field, " has no value of number ", value));
}

absl::Status MissingField(absl::string_view field) {
  return MakeError(ErrorReason::kMissingField, field, absl::StrCat(field, " is required"));
}

core::Cell ToCell(const v1::Cell& cell) { return {cell.x(), cell.y()}; }

std::vector<core::Cell> ToCells(const google::protobuf::RepeatedPtrField<v1::Cell>& cells,
                                const HexCoordinates& coordinates) {
  return Converted(cells, [&](const v1::Cell& cell) { return coordinates.ToPlane(ToCell(cell)); });
}

absl::StatusOr<core::HexLayout> ToHexLayout(v1::HexLayout layout, absl::string_view field) {
  return FromWire(kHexLayouts, layout, field);
}

absl::Status CheckVersion(const v1::Version& version, absl::string_view field) {
  if (version.revision() == 0 || version.epoch() != 0) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadValue, absl::StrCat(field, ".epoch"),
                   "a revision without the epoch that it belongs to names nothing");
}

absl::Status CheckLeastVersion(const core::MapVersion& version, const v1::View& view) {
  if (!view.has_least_version()) {
    return absl::OkStatus();
  }
  // Time for a pending commit.
  constexpr absl::Duration kRetryDelay = absl::Milliseconds(50);
  constexpr absl::string_view kField = "view.least_version";
  const v1::Version& least = view.least_version();
  WAYSTAR_RETURN_IF_ERROR(CheckVersion(least, kField));
  if (least.epoch() != 0 && least.epoch() != version.epoch) {
    return MakeError(ErrorReason::kMapReplaced, absl::StrCat(kField, ".epoch"),
                     absl::StrCat("the map is of epoch ", version.epoch, ", not ", least.epoch()));
  }
  if (least.revision() <= version.revision) {
    return absl::OkStatus();
  }
  return WithField(
      Refusal(ErrorReason::kRevisionNotYet, kRetryDelay,
              absl::StrCat("the map is at revision ", version.revision, ", not yet at ", least.revision())),
      kField);
}

absl::StatusOr<core::ExpectedVersion> ToExpectedVersion(const v1::Version& version) {
  WAYSTAR_RETURN_IF_ERROR(CheckVersion(version, "expected_version"));
  core::ExpectedVersion expected;
  TakeIf(version.epoch() != 0, version.epoch(), expected.epoch);
  TakeIf(version.revision() > 0, version.revision(), expected.revision);
  return expected;
}

core::WorldPoint ToWorldPoint(const v1::Position& position) {
  return {position.x(), position.y(), position.z()};
}

absl::StatusOr<core::GridOverrides> ToOverrides(const v1::GridOptions& options) {
  constexpr int kMaxTerrainsInRequest = 64;
  core::GridOverrides overrides;
  if (options.has_squares()) {
    const v1::SquareOptions& squares = options.squares();
    overrides.cells = core::GridOverrides::Cells::kSquares;
    if (squares.connectivity() != v1::CONNECTIVITY_UNSPECIFIED) {
      WAYSTAR_ASSIGN_OR_RETURN(overrides.connectivity,
                               FromWire(kConnectivities, squares.connectivity(), "squares.connectivity"));
    }
    TakeIf(squares.has_diagonal_cost(), squares.diagonal_cost(), overrides.diagonal_cost);
  }
  if (options.has_hexagons()) {
    overrides.cells = core::GridOverrides::Cells::kHexagons;
    if (options.hexagons().layout() != v1::HEX_LAYOUT_UNSPECIFIED) {
      WAYSTAR_ASSIGN_OR_RETURN(overrides.hexagons,
                               ToHexLayout(options.hexagons().layout(), "hexagons.layout"));
    }
  }
  TakeIf(!options.world().empty(), options.world(), overrides.world);
  TakeIf(options.has_origin(), ToWorldPoint(options.origin()), overrides.origin);
  TakeIf(options.has_cell_size(), options.cell_size(), overrides.cell_size);
  if (options.terrains_size() > kMaxTerrainsInRequest) {
    return MakeError(
        ErrorReason::kBadTerrain, "terrains",
        absl::StrCat("at most ", kMaxTerrainsInRequest, " terrains, got ", options.terrains_size()));
  }
  for (int i = 0; i < options.terrains_size(); ++i) {
    absl::StatusOr<core::TerrainOverride> terrain = ToTerrainOverride(options.terrains(i));
    if (!terrain.ok()) {
      return WithFieldPrefix(terrain.status(), absl::StrCat("terrains[", i, "]."));
    }
    overrides.terrains.push_back(*std::move(terrain));
  }
  return overrides;
}

static_assert(static_cast<int>(core::MapFormat::kGltf) == v1::MapFormat_MAX);

absl::StatusOr<core::MapFormat> ToWriteFormat(v1::MapFormat format) {
  if (format == v1::MAP_FORMAT_UNSPECIFIED) {
    return core::MapFormat::kText;
  }
  if (!v1::MapFormat_IsValid(format)) {
    return UnknownEnumValue("format", format);
  }
  return static_cast<core::MapFormat>(format);
}

absl::StatusOr<core::HeightRange> ToHeightRange(const v1::HeightRange& range) {
  core::HeightRange heights;
  if (range.has_low()) {
    WAYSTAR_RETURN_IF_ERROR(CheckHeight("low", range.low()));
    heights.low = range.low();
  }
  if (range.has_high()) {
    WAYSTAR_RETURN_IF_ERROR(CheckHeight("high", range.high()));
    heights.high = range.high();
  }
  if (heights.low > heights.high) {
    return MakeError(
        ErrorReason::kBadValue, "low",
        absl::StrFormat("there are no heights from %.12g up to %.12g", heights.low, heights.high));
  }
  return heights;
}

void FillHeightRange(const core::HeightRange& heights, v1::HeightRange& out) {
  if (std::isfinite(heights.low)) {
    out.set_low(heights.low);
  }
  if (std::isfinite(heights.high)) {
    out.set_high(heights.high);
  }
}

absl::StatusOr<std::optional<core::MeshAxes>> ToMeshAxes(v1::MeshAxes axes) {
  if (axes == v1::MESH_AXES_UNSPECIFIED) {
    return std::nullopt;
  }
  return FromWire(kMeshAxes, axes, "import_options.axes");
}

absl::StatusOr<core::MapFormat> ToReadFormat(v1::MapFormat format, const std::string& bytes) {
  return format == v1::MAP_FORMAT_UNSPECIFIED ? core::DetectFormat(bytes) : ToWriteFormat(format);
}

v1::MapFormat FromFormat(core::MapFormat format) { return static_cast<v1::MapFormat>(format); }

void FillCell(core::Cell cell, v1::Cell& out) {
  out.set_x(cell.x);
  out.set_y(cell.y);
}

void FillPosition(const core::WorldPoint& position, v1::Position& out) {
  out.set_x(position.x);
  out.set_y(position.y);
  out.set_z(position.z);
}

void FillDuration(absl::Duration duration, google::protobuf::Duration& out) {
  const std::int64_t seconds = absl::IDivDuration(duration, absl::Seconds(1), &duration);
  out.set_seconds(seconds);
  out.set_nanos(static_cast<std::int32_t>(absl::ToInt64Nanoseconds(duration)));
}

void FillDuration(std::chrono::nanoseconds duration, google::protobuf::Duration& out) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  out.set_seconds(duration.count() / kSecond);
  out.set_nanos(static_cast<std::int32_t>(duration.count() % kSecond));
}

absl::StatusOr<absl::Duration> ToDuration(const google::protobuf::Duration& duration, ErrorReason reason,
                                          absl::string_view field) {
  constexpr std::int64_t kMaxSeconds = 315'576'000'000;
  constexpr std::int32_t kMaxNanos = 999'999'999;
  const std::int64_t seconds = duration.seconds();
  const std::int32_t nanos = duration.nanos();
  const bool signs_differ = (seconds < 0 && nanos > 0) || (seconds > 0 && nanos < 0);
  if (seconds < -kMaxSeconds || seconds > kMaxSeconds || nanos < -kMaxNanos || nanos > kMaxNanos ||
      signs_differ) {
    return MakeError(reason, field,
                     absl::StrCat(field, ": seconds ", seconds, " and nanos ", nanos,
                                  " are not a google.protobuf.Duration"));
  }
  return absl::Seconds(seconds) + absl::Nanoseconds(nanos);
}

std::chrono::nanoseconds ToNanoseconds(const google::protobuf::Duration& duration) {
  return std::chrono::seconds(duration.seconds()) + std::chrono::nanoseconds(duration.nanos());
}

void FillTimestamp(absl::Time time, google::protobuf::Timestamp& out) {
  const absl::Duration since_epoch = time - absl::UnixEpoch();
  const absl::Duration rest = since_epoch % absl::Seconds(1);
  out.set_seconds(absl::ToInt64Seconds(since_epoch - rest));
  out.set_nanos(static_cast<int>(absl::ToInt64Nanoseconds(rest)));
}

void FillVersion(const core::MapVersion& version, v1::Version& out) {
  out.set_epoch(version.epoch);
  out.set_revision(version.revision);
}

void FillInfo(const core::MapVersion& version, std::optional<std::chrono::nanoseconds> staleness,
              double bound, v1::AnswerInfo& out) {
  FillVersion(version, *out.mutable_version());
  if (staleness) {
    FillDuration(*staleness, *out.mutable_staleness());
  }
  out.set_bound(bound);
}

v1::MapKind FromKind(core::MapKind kind) { return ToWire(kMapKinds, kind); }

void FillMapInfo(const core::MapStore& store, const core::MapSnapshot& snapshot, v1::MapInfo& info) {
  info.set_map(snapshot.id);
  FillVersion(snapshot.version(), *info.mutable_version());
  info.set_kind(FromKind(snapshot.kind()));
  FillTimestamp(snapshot.create_time, *info.mutable_create_time());
  info.set_digest(snapshot.digest());
  info.set_memory_bytes(static_cast<std::int64_t>(snapshot.memory_bytes()));

  if (const core::OldSnapshotsInfo old = store.OldSnapshotsOf(snapshot.id); old.count > 0) {
    info.mutable_old_snapshots()->set_oldest_revision(old.oldest_revision);
    info.mutable_old_snapshots()->set_count(static_cast<std::int32_t>(old.count));
    info.mutable_old_snapshots()->set_memory_bytes(static_cast<std::int64_t>(old.bytes));
  }

  std::visit([&info](const auto& of_kind) { FillKind(of_kind, info); }, snapshot.map);
}

void FillUpdateResult(const core::UpdateResult& result, const HexCoordinates& coordinates,
                      v1::UpdateMapResponse& response) {
  FillVersion({.epoch = result.epoch, .revision = result.revision}, *response.mutable_version());
  FillCounts(result.summary, response);
  if (!result.summary.changed_bounds.empty()) {
    FillRectangle(coordinates.PartAround(result.summary.changed_bounds), *response.mutable_changed_bounds());
  }
  response.set_clipped_cells(result.summary.clipped_cells);
  response.set_already_applied(result.already_applied);
  response.set_digest(result.digest);
}

void FillCommit(const core::Commit& commit, const HexCoordinates& coordinates, v1::MapRevision& out) {
  out.mutable_version()->set_revision(commit.revision);
  FillTimestamp(commit.time, *out.mutable_commit_time());
  FillCounts(commit.summary, out);
  const auto add_area = [&](const core::Rectangle& area) {
    FillRectangle(coordinates.PartAround(area), *out.add_changed_areas()->mutable_rectangle());
  };
  if (commit.changed_areas.empty() && !commit.summary.changed_bounds.empty()) {
    add_area(commit.summary.changed_bounds);
  }
  std::ranges::for_each(commit.changed_areas, add_area);
  out.set_digest(commit.digest);
}

namespace {

// Returns the bytes of a row of so many bits.
std::size_t BytesOfRow(int bits) { return (static_cast<std::size_t>(bits) + 7) / 8; }

}  // namespace

void FillReachable(const core::ReachableCells& reachable, const HexCoordinates& coordinates,
                   v1::FindReachableResponse& response) {
  response.set_count(reachable.count);
  if (coordinates.IsPlane()) {
    FillRectangle(reachable.bounds, *response.mutable_bounds());
    response.set_cells(std::string(reachable.bits.begin(), reachable.bits.end()));
    response.mutable_costs()->Add(reachable.costs.begin(), reachable.costs.end());
    return;
  }
  struct Reached {
    core::Cell cell;
    float cost = 0.0F;
  };
  std::vector<Reached> reached;
  core::Rectangle bounds;
  const std::size_t row_bytes = BytesOfRow(reachable.bounds.width);
  for (int y = 0; y < reachable.bounds.height; ++y) {
    for (int x = 0; x < reachable.bounds.width; ++x) {
      const auto column = static_cast<std::size_t>(x);
      if ((reachable.bits[static_cast<std::size_t>(y) * row_bytes + column / 8] >> (column % 8) & 1) == 0) {
        continue;
      }
      const core::Cell cell =
          coordinates.FromPlane(core::Cell{reachable.bounds.x + x, reachable.bounds.y + y});
      bounds = core::Union(bounds, {cell.x, cell.y, 1, 1});
      reached.push_back({cell, reachable.costs.empty() ? 0.0F : reachable.costs[reached.size()]});
    }
  }
  std::sort(reached.begin(), reached.end(), [](const Reached& a, const Reached& b) {
    return std::tie(a.cell.y, a.cell.x) < std::tie(b.cell.y, b.cell.x);
  });
  std::string bits(BytesOfRow(bounds.width) * static_cast<std::size_t>(bounds.height), '\0');
  for (const Reached& each : reached) {
    const auto row = static_cast<std::size_t>(each.cell.y - bounds.y);
    const auto column = static_cast<std::size_t>(each.cell.x - bounds.x);
    char& byte = bits[row * BytesOfRow(bounds.width) + column / 8];
    byte = static_cast<char>(static_cast<unsigned char>(byte) | 1U << (column % 8));
    if (!reachable.costs.empty()) {
      response.add_costs(each.cost);
    }
  }
  FillRectangle(bounds, *response.mutable_bounds());
  response.set_cells(std::move(bits));
}

void FillFlowField(const core::FlowField& field, const core::Rectangle& part,
                   const HexCoordinates& coordinates, v1::ComputeFlowFieldResponse& response) {
  FillRectangle(part, *response.mutable_region());
  if (coordinates.IsPlane()) {
    response.set_directions(std::string(field.directions.begin(), field.directions.end()));
    response.mutable_costs()->Add(field.costs.begin(), field.costs.end());
  } else {
    std::string& directions = *response.mutable_directions();
    directions.reserve(static_cast<std::size_t>(part.area()));
    for (int y = part.y; y < part.y + part.height; ++y) {
      for (int x = part.x; x < part.x + part.width; ++x) {
        const core::Cell cell = coordinates.ToPlane(core::Cell{x, y});
        const auto index = static_cast<std::size_t>(
            std::int64_t{cell.y - field.region.y} * field.region.width + cell.x - field.region.x);
        directions.push_back(static_cast<char>(field.directions[index]));
        if (!field.costs.empty()) {
          response.add_costs(field.costs[index]);
        }
      }
    }
  }
  for (const core::PortalStep& step : field.portals) {
    v1::PortalStep& portal = *response.add_portals();
    FillCell(coordinates.FromPlane(step.cell), *portal.mutable_cell());
    portal.set_portal(step.portal->id);
    FillCell(coordinates.FromPlane(step.arrival), *portal.mutable_arrival());
  }
  // On a board of columns the cells come in another order than on the plane.
  std::stable_sort(response.mutable_portals()->begin(), response.mutable_portals()->end(),
                   [](const v1::PortalStep& a, const v1::PortalStep& b) {
                     return std::pair(a.cell().y(), a.cell().x()) < std::pair(b.cell().y(), b.cell().x());
                   });
}

void FillRayHit(const core::RayHit& hit, const core::WorldFrame& frame, const HexCoordinates& coordinates,
                v1::CastRayResponse& response) {
  response.set_blocked(hit.is_blocked);
  FillCell(coordinates.FromPlane(hit.cell), *response.mutable_cell());
  FillPosition(frame.PositionOf({hit.position.x, hit.position.y}), *response.mutable_position());
  response.set_fraction(hit.fraction);
  if (hit.last_free.has_value()) {
    FillCell(coordinates.FromPlane(*hit.last_free), *response.mutable_last_free());
  }
}

}  // namespace waystar::rpc
