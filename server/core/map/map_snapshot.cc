#include "server/core/map/map_snapshot.h"

#include <type_traits>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::core {
namespace {

absl::string_view NameOf(MapKind kind) {
  switch (kind) {
    case MapKind::kSquares:
    case MapKind::kHexagons:
      return "grid";
    case MapKind::kWaypointGraph:
      return "waypoint graph";
    case MapKind::kMesh:
      return "navigation mesh";
  }
  return "";
}

template <typename Map>
absl::StatusOr<const Map*> MapOf(const MapSnapshot& snapshot, absl::string_view wanted) {
  if (const Map* const map = std::get_if<Map>(&snapshot.map)) {
    return map;
  }
  return MakeError(
      ErrorReason::kWrongMapKind, "map",
      absl::StrCat("\"", snapshot.id, "\" is a ", NameOf(snapshot.kind()), "; this is for a ", wanted));
}

}  // namespace

MapKind MapSnapshot::kind() const {
  return std::visit([](const auto& of_kind) { return of_kind.kind(); }, map);
}

const ObstacleTable& MapSnapshot::obstacles() const {
  return std::visit([](const auto& of_kind) -> const ObstacleTable& { return of_kind.obstacles(); }, map);
}

std::uint64_t MapSnapshot::digest() const {
  return std::visit([](const auto& of_kind) { return of_kind.digest(); }, map);
}

std::size_t MapSnapshot::memory_bytes() const {
  return std::visit([](const auto& of_kind) { return of_kind.memory_bytes(); }, map);
}

void MapSnapshot::AddTo(MemoryUse& use) const {
  std::visit([&use](const auto& of_kind) { of_kind.AddTo(use); }, map);
}

std::size_t MapSnapshot::BytesBeyond(const MapSnapshot& other) const {
  return std::visit(
      [&other](const auto& of_kind) {
        const auto* const same = std::get_if<std::decay_t<decltype(of_kind)>>(&other.map);
        return same == nullptr ? of_kind.memory_bytes() : of_kind.BytesBeyond(*same);
      },
      map);
}

absl::StatusOr<const GridMap*> GridOf(const MapSnapshot& snapshot) {
  return MapOf<GridMap>(snapshot, "grid");
}

absl::StatusOr<const WaypointGraph*> GraphOf(const MapSnapshot& snapshot) {
  return MapOf<WaypointGraph>(snapshot, "waypoint graph");
}

}  // namespace waystar::core
