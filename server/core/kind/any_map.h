// Maps of any kind, and what each kind fills in.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "server/base/memory_account.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/map_kind.h"
#include "server/core/map/obstacle_table.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// What a map of any kind tells of itself. GridMap says what each of these means.
template <typename Map>
concept IsMap = std::copyable<Map> && requires(const Map& map, MemoryUse& use) {
  { map.kind() } -> std::same_as<MapKind>;
  { map.obstacles() } -> std::same_as<const ObstacleTable&>;
  { map.digest() } -> std::same_as<std::uint64_t>;
  { map.memory_bytes() } -> std::same_as<std::size_t>;
  {map.AddTo(use)};
  { map.BytesBeyond(map) } -> std::same_as<std::size_t>;
};

// A closed set: what depends on the kind of a map has a function for each of these, and std::visit picks it
// once. A new kind is added here, and the compiler names the functions that it lacks.
using AnyMap = std::variant<GridMap, WaypointGraph, NavMesh>;

static_assert(IsMap<GridMap> && IsMap<WaypointGraph> && IsMap<NavMesh>);

}  // namespace waystar::core
