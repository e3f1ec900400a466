#include "server/service/convert/convert_shape.h"

#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/query/route_query.h"
#include "server/core/store/update_batch.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"

namespace waystar::rpc {
namespace {

core::Point ToPoint(const v1::Point& point) { return {point.x(), point.y()}; }

absl::StatusOr<core::Disc> ToDisc(const v1::Disc& disc, const HexCoordinates& coordinates) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(disc.has_center(), "center"));
  return core::Disc{.center = coordinates.ToPlane(ToPoint(disc.center())), .radius = disc.radius()};
}

absl::StatusOr<core::Polygon> ToPolygon(const v1::Polygon& polygon, const HexCoordinates& coordinates) {
  return core::Polygon{.vertices = Converted(polygon.vertices(), [&](const v1::Point& vertex) {
                         return coordinates.ToPlane(ToPoint(vertex));
                       })};
}

absl::StatusOr<core::Line> ToLine(const v1::Line& line, const HexCoordinates& coordinates) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(line.has_start(), "start"));
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(line.has_end(), "end"));
  return core::Line{.start = coordinates.ToPlane(ToPoint(line.start())),
                    .end = coordinates.ToPlane(ToPoint(line.end())),
                    .width = line.width()};
}

// Converts a list of parts, named "list[i]." in errors.
template <typename Message, typename Part>
absl::Status ToParts(const google::protobuf::RepeatedPtrField<Message>& messages, absl::string_view list,
                     const HexCoordinates& coordinates,
                     absl::StatusOr<Part> (*to_part)(const Message&, const HexCoordinates&),
                     std::vector<Part>& parts) {
  parts.reserve(static_cast<std::size_t>(messages.size()));
  for (int i = 0; i < messages.size(); ++i) {
    absl::StatusOr<Part> part = to_part(messages.Get(i), coordinates);
    if (!part.ok()) {
      return WithFieldPrefix(part.status(), absl::StrCat(list, "[", i, "]."));
    }
    parts.push_back(*std::move(part));
  }
  return absl::OkStatus();
}

}  // namespace

core::Rectangle ToRectangle(const v1::Rectangle& rectangle) {
  return {rectangle.x(), rectangle.y(), rectangle.width(), rectangle.height()};
}

absl::StatusOr<core::Shape> ToShape(const v1::Shape& shape, const HexCoordinates& coordinates) {
  core::Shape out;
  out.cells = ToCells(shape.cells(), coordinates);
  out.rectangles.reserve(static_cast<std::size_t>(shape.rectangles_size()));
  for (int i = 0; i < shape.rectangles_size(); ++i) {
    const core::Rectangle rectangle = ToRectangle(shape.rectangles(i));
    if (!coordinates.IsSound(rectangle)) {
      return MakeError(ErrorReason::kBadRectangle, absl::StrCat("rectangles[", i, "]"),
                       absl::StrCat("a rectangle of columns and rows has 1 to ", core::kMaxMapSide,
                                    " of each, and does not begin far off the map"));
    }
    coordinates.ToPlane(rectangle, out.rectangles);
  }
  WAYSTAR_RETURN_IF_ERROR(ToParts(shape.discs(), "discs", coordinates, ToDisc, out.discs));
  WAYSTAR_RETURN_IF_ERROR(ToParts(shape.polygons(), "polygons", coordinates, ToPolygon, out.polygons));
  WAYSTAR_RETURN_IF_ERROR(ToParts(shape.lines(), "lines", coordinates, ToLine, out.lines));
  return out;
}

void FillRectangle(const core::Rectangle& rectangle, v1::Rectangle& out) {
  out.set_x(rectangle.x);
  out.set_y(rectangle.y);
  out.set_width(rectangle.width);
  out.set_height(rectangle.height);
}

void FillShape(const core::Shape& shape, const HexCoordinates& coordinates, v1::Shape& out) {
  for (const core::Cell cell : shape.cells) {
    FillCell(coordinates.FromPlane(cell), *out.add_cells());
  }
  std::vector<core::Rectangle> rectangles;
  for (const core::Rectangle& rectangle : shape.rectangles) {
    coordinates.FromPlane(rectangle, rectangles);
  }
  for (const core::Rectangle& rectangle : rectangles) {
    FillRectangle(rectangle, *out.add_rectangles());
  }
  const auto fill_point = [&](const core::Point& point, v1::Point& written) {
    const core::Point counted = coordinates.FromPlane(point);
    written.set_x(counted.x);
    written.set_y(counted.y);
  };
  for (const core::Disc& disc : shape.discs) {
    v1::Disc& written = *out.add_discs();
    fill_point(disc.center, *written.mutable_center());
    written.set_radius(disc.radius);
  }
  for (const core::Polygon& polygon : shape.polygons) {
    v1::Polygon& written = *out.add_polygons();
    for (const core::Point& vertex : polygon.vertices) {
      fill_point(vertex, *written.add_vertices());
    }
  }
  for (const core::Line& line : shape.lines) {
    v1::Line& written = *out.add_lines();
    fill_point(line.start, *written.mutable_start());
    fill_point(line.end, *written.mutable_end());
    written.set_width(line.width);
  }
}

namespace {

// Returns a character that is no symbol for a name of several.
char ToSymbol(const std::string& symbol) { return symbol.size() == 1 ? symbol.front() : '\0'; }

}  // namespace

absl::StatusOr<core::MovementProfile> ToMovementProfile(const v1::MovementProfile& profile) {
  core::MovementProfile out;
  out.footprint = profile.footprint() == 0 ? 1 : profile.footprint();
  WAYSTAR_ASSIGN_OR_RETURN(out.corner_rule, ToCornerRule(profile.corner_rule()));
  for (const v1::TerrainCost& terrain : profile.terrain_costs()) {
    out.terrain_costs.push_back({ToSymbol(terrain.terrain()), terrain.cost()});
  }
  for (const std::string& terrain : profile.forbidden_terrains()) {
    out.forbidden_terrains.push_back(ToSymbol(terrain));
  }
  out.required_tags.assign(profile.required_tags().begin(), profile.required_tags().end());
  out.no_diagonals = profile.has_diagonals() && !profile.diagonals();
  return out;
}

core::GroundRules ToGroundRules(const v1::MovementProfile& profile) {
  core::GroundRules rules;
  for (const v1::TerrainCost& terrain : profile.terrain_costs()) {
    rules.costs.push_back({terrain.terrain(), terrain.cost()});
  }
  rules.forbidden.assign(profile.forbidden_terrains().begin(), profile.forbidden_terrains().end());
  rules.allowed_tags.assign(profile.ground_tags().begin(), profile.ground_tags().end());
  rules.forbidden_tags.assign(profile.forbidden_ground_tags().begin(), profile.forbidden_ground_tags().end());
  return rules;
}

namespace {

absl::Status CheckSymbol(const std::string& symbol, absl::string_view field) {
  return symbol.size() == 1
             ? absl::OkStatus()
             : MakeError(ErrorReason::kUnknownTerrain, field, "a terrain's symbol is one ASCII character");
}

}  // namespace

absl::StatusOr<core::NamedProfile> ToNamedProfile(const v1::NamedProfile& named) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(named.has_profile(), "profile"));
  for (int i = 0; i < named.profile().terrain_costs_size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckSymbol(named.profile().terrain_costs(i).terrain(),
                                        absl::StrCat("profile.terrain_costs[", i, "].terrain")));
  }
  for (int i = 0; i < named.profile().forbidden_terrains_size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckSymbol(named.profile().forbidden_terrains(i),
                                        absl::StrCat("profile.forbidden_terrains[", i, "]")));
  }
  for (const auto& [is_given, field] :
       {std::pair(named.profile().ground_tags_size() > 0, "ground_tags"),
        std::pair(named.profile().forbidden_ground_tags_size() > 0, "forbidden_ground_tags")}) {
    if (is_given) {
      return MakeError(ErrorReason::kWrongMapKind, absl::StrCat("profile.", field),
                       "terrains of grids have no tags");
    }
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::MovementProfile profile,
                           Below("profile", ToMovementProfile(named.profile())));
  return core::NamedProfile{.name = named.name(), .profile = std::move(profile)};
}

absl::StatusOr<core::MeshProfile> ToMeshProfile(const v1::NamedProfile& named) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(named.has_profile(), "profile"));
  WAYSTAR_ASSIGN_OR_RETURN(const core::MovementProfile profile,
                           Below("profile", ToMovementProfile(named.profile())));
  WAYSTAR_RETURN_IF_ERROR_AT("profile.", core::CheckFields(core::MapKind::kMesh, profile));
  return core::MeshProfile{
      .name = named.name(), .ground = ToGroundRules(named.profile()), .required_tags = profile.required_tags};
}

absl::Status AddProfiles(const v1::GridOptions& options, core::GridMap& map) {
  if (options.profiles().empty()) {
    return absl::OkStatus();
  }
  core::ProfileTable profiles = map.profiles();
  for (int i = 0; i < options.profiles_size(); ++i) {
    absl::StatusOr<core::NamedProfile> profile = ToNamedProfile(options.profiles(i));
    const absl::Status status =
        profile.ok() ? core::PutInTable(*std::move(profile), map.settings(), profiles) : profile.status();
    if (!status.ok()) {
      return WithFieldPrefix(status, absl::StrCat("profiles[", i, "]."));
    }
  }
  map.SetProfiles(std::move(profiles));
  return absl::OkStatus();
}

void FillNamedProfile(const core::NamedProfile& named, v1::NamedProfile& out) {
  out.set_name(named.name);
  v1::MovementProfile& profile = *out.mutable_profile();
  profile.set_footprint(named.profile.footprint);
  profile.set_corner_rule(FromCornerRule(named.profile.corner_rule));
  for (const core::TerrainCost& terrain : named.profile.terrain_costs) {
    v1::TerrainCost& written = *profile.add_terrain_costs();
    written.set_terrain(std::string(1, terrain.symbol));
    written.set_cost(terrain.cost);
  }
  for (const char symbol : named.profile.forbidden_terrains) {
    profile.add_forbidden_terrains(std::string(1, symbol));
  }
  profile.mutable_required_tags()->Add(named.profile.required_tags.begin(),
                                       named.profile.required_tags.end());
  profile.set_diagonals(!named.profile.no_diagonals);
}

void FillNamedProfile(const core::MeshProfile& named, v1::NamedProfile& out) {
  out.set_name(named.name);
  v1::MovementProfile& profile = *out.mutable_profile();
  const core::GroundRules& ground = named.ground;
  for (const core::GroundCost& cost : ground.costs) {
    v1::TerrainCost& written = *profile.add_terrain_costs();
    written.set_terrain(cost.terrain);
    written.set_cost(cost.cost);
  }
  profile.mutable_forbidden_terrains()->Assign(ground.forbidden.begin(), ground.forbidden.end());
  profile.mutable_required_tags()->Assign(named.required_tags.begin(), named.required_tags.end());
  profile.mutable_ground_tags()->Assign(ground.allowed_tags.begin(), ground.allowed_tags.end());
  profile.mutable_forbidden_ground_tags()->Assign(ground.forbidden_tags.begin(), ground.forbidden_tags.end());
}

namespace {

bool IsOfMesh(const v1::Portal& portal) { return portal.has_from_position() || portal.has_to_position(); }

absl::Status CheckFields(const v1::Portal& portal) {
  const bool is_of_mesh = IsOfMesh(portal);
  if (is_of_mesh && (portal.has_from() || portal.has_to())) {
    return MakeError(ErrorReason::kBadPortal, portal.has_from() ? "from" : "to",
                     "a portal ends at cells or at positions, not at one of each");
  }
  WAYSTAR_RETURN_IF_ERROR(is_of_mesh ? CheckGiven(portal.has_from_position(), "from_position")
                                     : CheckGiven(portal.has_from(), "from"));
  WAYSTAR_RETURN_IF_ERROR(is_of_mesh ? CheckGiven(portal.has_to_position(), "to_position")
                                     : CheckGiven(portal.has_to(), "to"));
  // The condition is written so that NaN fails; the core checks the range.
  if (!(portal.cost() >= 0.0 && portal.cost() <= core::kMaxPortalCost)) {
    return BadNumber(ErrorReason::kBadValue, "cost", portal.cost(),
                     absl::StrCat("0 to ", core::kMaxPortalCost));
  }
  if (portal.width() != 0.0 && !is_of_mesh) {
    return MakeError(ErrorReason::kWrongMapKind, "width", "a portal between cells has no width");
  }
  if (!portal.to_map().empty() && !core::CheckMapId(portal.to_map()).ok()) {
    return MakeError(
        ErrorReason::kBadMapId, "to_map",
        absl::StrCat("to_map is \"", absl::CHexEscape(portal.to_map()), "\", which is not an id of a map"));
  }
  return absl::OkStatus();
}

template <typename Portal>
Portal WithRules(const v1::Portal& portal, absl::string_view map) {
  Portal out;
  out.id = portal.id();
  out.to_map = portal.to_map() == map ? "" : portal.to_map();
  out.both_ways = portal.both_ways();
  out.tags = {portal.tags().begin(), portal.tags().end()};
  out.closed = portal.closed();
  return out;
}

template <typename Portal>
void FillRules(const Portal& portal, v1::Portal& out) {
  out.set_id(portal.id);
  out.set_to_map(portal.to_map);
  out.set_both_ways(portal.both_ways);
  out.mutable_tags()->Assign(portal.tags.begin(), portal.tags.end());
  out.set_closed(portal.closed);
}

std::size_t IndexOf(const v1::PortalCrossing& crossing) {
  // A negative index is out of range too.
  return crossing.index() < 0 ? std::numeric_limits<std::size_t>::max()
                              : static_cast<std::size_t>(crossing.index());
}

}  // namespace

absl::StatusOr<core::Edit> ToPutPortal(const v1::Portal& portal, bool replace, absl::string_view map,
                                       const HexCoordinates& coordinates) {
  WAYSTAR_RETURN_IF_ERROR(CheckFields(portal));
  if (IsOfMesh(portal)) {
    core::MeshPortal of_mesh = WithRules<core::MeshPortal>(portal, map);
    of_mesh.from = ToWorldPoint(portal.from_position());
    of_mesh.to = ToWorldPoint(portal.to_position());
    of_mesh.cost = portal.cost();
    of_mesh.width = portal.width();
    return core::PutMeshPortal{.portal = std::move(of_mesh), .replace = replace};
  }
  core::Portal of_grid = WithRules<core::Portal>(portal, map);
  of_grid.from = coordinates.ToPlane(ToCell(portal.from()));
  // The other map's layout defines the coordinates of the end.
  of_grid.to = of_grid.to_map.empty() ? coordinates.ToPlane(ToCell(portal.to())) : ToCell(portal.to());
  of_grid.cost = core::CostFromDouble(portal.cost());
  return core::PutPortal{.portal = std::move(of_grid), .replace = replace};
}

std::vector<core::CrossedPortal> ToCrossedPortals(
    const google::protobuf::RepeatedPtrField<v1::PortalCrossing>& crossings,
    absl::Span<const HexCoordinates> behind) {
  std::vector<core::CrossedPortal> crossed;
  for (const v1::PortalCrossing& crossing : crossings) {
    crossed.push_back({.id = crossing.portal(),
                       .arrival = behind[crossed.size()].ToPlane(ToCell(crossing.arrival())),
                       .index = IndexOf(crossing)});
  }
  return crossed;
}

std::vector<core::CrossedMeshPortal> ToCrossedMeshPortals(
    const google::protobuf::RepeatedPtrField<v1::PortalCrossing>& crossings) {
  std::vector<core::CrossedMeshPortal> crossed;
  for (const v1::PortalCrossing& crossing : crossings) {
    crossed.push_back({.id = crossing.portal(),
                       .arrival = ToWorldPoint(crossing.arrival_position()),
                       .index = IndexOf(crossing)});
  }
  return crossed;
}

void FillPortal(const core::Portal& portal, const HexCoordinates& coordinates, v1::Portal& out) {
  FillRules(portal, out);
  FillCell(coordinates.FromPlane(portal.from), *out.mutable_from());
  FillCell(portal.to_map.empty() ? coordinates.FromPlane(portal.to) : portal.to, *out.mutable_to());
  out.set_cost(core::CostToDouble(portal.cost));
}

void FillPortal(const core::MeshPortal& portal, const HexCoordinates& /*coordinates*/, v1::Portal& out) {
  FillRules(portal, out);
  FillPosition(portal.from, *out.mutable_from_position());
  FillPosition(portal.to, *out.mutable_to_position());
  out.set_cost(portal.cost);
  out.set_width(portal.width);
}

}  // namespace waystar::rpc
