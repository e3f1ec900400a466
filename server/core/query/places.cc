#include "server/core/query/places.h"

#include "server/core/query/resolve.h"

namespace waystar::core {

absl::StatusOr<Cell> PlaceOf(const ResolvedAgent& agent, const std::optional<Snap>& snap,
                             const Budget& budget, absl::string_view field, const Location& location) {
  WAYSTAR_RETURN_IF_ERROR(CheckLocation(MapKind::kSquares, field, location));
  return LocationResolver(agent.map(), agent.footprint(), snap, budget).Resolve(field, location);
}

absl::StatusOr<GraphPlace> PlaceOf(const GraphAgent& /*agent*/, const std::optional<Snap>& /*snap*/,
                                   const Budget& /*budget*/, absl::string_view field,
                                   const Location& location) {
  WAYSTAR_RETURN_IF_ERROR(CheckLocation(MapKind::kWaypointGraph, field, location));
  return ToPlace(location);
}

absl::StatusOr<FoundMeshPlace> PlaceOf(const MeshAgent& agent, const std::optional<Snap>& snap,
                                       const Budget& /*budget*/, absl::string_view field,
                                       const Location& location) {
  WAYSTAR_ASSIGN_OR_RETURN(const WorldPoint position, PositionOnMesh(field, location));
  return FindMeshPlace(agent.mesh(), position, ToMeshSnap(snap));
}

absl::StatusOr<WorldPoint> PositionOnMesh(absl::string_view field, const Location& location) {
  WAYSTAR_RETURN_IF_ERROR(CheckLocation(MapKind::kMesh, field, location));
  WAYSTAR_RETURN_IF_ERROR(CheckMeshPosition(*location.position, field));
  return *location.position;
}

absl::Status CheckListed(absl::string_view list, std::size_t count, std::size_t most) {
  if (count == 0) {
    return MakeError(ErrorReason::kMissingField, list, absl::StrCat(list, " is required"));
  }
  return CheckCount(list, count, most);
}

absl::StatusOr<std::optional<Box>> AreaOf(const std::optional<Rectangle>& region) {
  if (!region.has_value()) {
    return std::nullopt;
  }
  const auto& [x, y, width, height] = *region;
  WAYSTAR_RETURN_IF_ERROR(CheckRegionSides(*region));
  return Box{double(x), double(y), double(x) + width, double(y) + height};
}

}  // namespace waystar::core
