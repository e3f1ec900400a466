// Immutable snapshot of a map at one revision.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/memory_account.h"
#include "server/core/elements/map_kind.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/map/map_version.h"
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

// Flag that is set once, when the server needs a snapshot's memory back. A copy starts unset.
//
// Thread safety: any method may be called from any thread.
class EvictionFlag {
 public:
  EvictionFlag() = default;
  EvictionFlag(const EvictionFlag& /*other*/) {}
  EvictionFlag& operator=(const EvictionFlag&) = delete;

  void Set() { flag_.store(true, std::memory_order_relaxed); }
  bool is_set() const { return flag_.load(std::memory_order_relaxed); }
  // Returns the flag for Budget::evicted.
  const std::atomic<bool>& flag() const { return flag_; }

 private:
  std::atomic<bool> flag_ = false;
};

// Immutable except for the flag. A pointer to a snapshot pins it.
struct MapSnapshot {
  std::string id;
  // The members of the snapshot's MapVersion.
  std::uint64_t epoch = 0;
  std::uint64_t revision = 1;
  // When the map, not this revision, was created.
  absl::Time create_time;
  // Latest time of its commits; InfinitePast() if there are none.
  absl::Time latest_commit_time = absl::InfinitePast();
  AnyMap map;
  // Long work on the snapshot must poll this flag. Once it is set, the work must release the snapshot and
  // return ABORTED / SNAPSHOT_EVICTED.
  mutable EvictionFlag eviction = {};

  MapVersion version() const { return {.epoch = epoch, .revision = revision}; }
  MapKind kind() const;
  // These return null if the map is of another kind.
  const GridMap* as_grid() const { return std::get_if<GridMap>(&map); }
  const WaypointGraph* as_graph() const { return std::get_if<WaypointGraph>(&map); }
  const NavMesh* as_mesh() const { return std::get_if<NavMesh>(&map); }
  // REQUIRES: the map is of that kind; see GridOf.
  const GridMap& grid() const { return *as_grid(); }
  const WaypointGraph& graph() const { return *as_graph(); }
  const NavMesh& mesh() const { return *as_mesh(); }

  const ObstacleTable& obstacles() const;

  // Returns the latest time at which a server created or changed the map, by that server's clock.
  absl::Time latest_time() const { return std::max(create_time, latest_commit_time); }

  // As GridMap::digest.
  std::uint64_t digest() const;

  std::size_t memory_bytes() const;
  // Adds the memory of the map to `use`, by category.
  void AddTo(MemoryUse& use) const;
  // Returns the bytes held by this snapshot but not by `other`, another snapshot of the same map.
  std::size_t BytesBeyond(const MapSnapshot& other) const;
};

// Return the map of the expected kind, or FAILED_PRECONDITION / WRONG_MAP_KIND with field "map".
absl::StatusOr<const GridMap*> GridOf(const MapSnapshot& snapshot);
absl::StatusOr<const WaypointGraph*> GraphOf(const MapSnapshot& snapshot);

using PinnedSnapshot = std::shared_ptr<const MapSnapshot>;

}  // namespace waystar::core
