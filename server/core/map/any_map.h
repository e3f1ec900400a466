// Maps of any kind, and the interface that they share.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "server/base/memory_account.h"
#include "server/core/elements/map_kind.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/mesh/map/nav_mesh.h"

namespace waystar::core {

// Interface of maps of every kind. GridMap documents each function.
template <typename Map>
concept IsMap = std::copyable<Map> && requires(const Map& map, MemoryUse& use) {
  { map.kind() } -> std::same_as<MapKind>;
  { map.obstacles() } -> std::same_as<const ObstacleTable&>;
  { map.digest() } -> std::same_as<std::uint64_t>;
  { map.memory_bytes() } -> std::same_as<std::size_t>;
  {map.AddTo(use)};
  { map.BytesBeyond(map) } -> std::same_as<std::size_t>;
};

// Closed set of map kinds. Code that depends on the kind has one function per alternative, dispatched by
// std::visit. After adding a kind here, the compiler reports the missing functions.
using AnyMap = std::variant<GridMap, WaypointGraph, NavMesh>;

static_assert(IsMap<GridMap> && IsMap<WaypointGraph> && IsMap<NavMesh>);

}  // namespace waystar::core
