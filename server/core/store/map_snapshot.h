// A map as of one revision.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Set once, when the server wants a snapshot's memory back. A copy starts unset.
//
// Thread safety: any.
class EvictionFlag {
 public:
  EvictionFlag() = default;
  EvictionFlag(const EvictionFlag& /*other*/) {}
  EvictionFlag& operator=(const EvictionFlag&) = delete;

  void Set() { flag_.store(true, std::memory_order_relaxed); }
  bool is_set() const { return flag_.load(std::memory_order_relaxed); }
  // For Budget::evicted.
  const std::atomic<bool>& flag() const { return flag_; }

 private:
  std::atomic<bool> flag_ = false;
};

// Immutable but for the flag; whoever holds a pointer to it has pinned it.
struct MapSnapshot {
  std::string id;
  // One more with each committed update. A new map's first is 1, or one more than any that a deleted map had:
  // an id that comes again never repeats a revision.
  std::uint64_t revision = 1;
  // When the map was created, not this revision.
  absl::Time create_time;
  std::variant<GridMap, WaypointGraph> map;
  // Whoever works on the snapshot for long is to look at this now and then, let go of the snapshot once it is
  // set, and answer ABORTED / SNAPSHOT_EVICTED.
  mutable EvictionFlag eviction = {};

  bool is_grid() const { return std::holds_alternative<GridMap>(map); }
  bool is_graph() const { return std::holds_alternative<WaypointGraph>(map); }
  // REQUIRES: it is one; see CheckIsGrid.
  const GridMap& grid() const { return *std::get_if<GridMap>(&map); }
  const WaypointGraph& graph() const { return *std::get_if<WaypointGraph>(&map); }

  std::size_t memory_bytes() const;
  // Held by this and not by `other`, another snapshot of the map.
  std::size_t BytesBeyond(const MapSnapshot& other) const;
};

// FAILED_PRECONDITION / WRONG_MAP_KIND with field "map" unless the map is a grid, or a waypoint graph.
absl::Status CheckIsGrid(const MapSnapshot& snapshot);
absl::Status CheckIsGraph(const MapSnapshot& snapshot);

using PinnedSnapshot = std::shared_ptr<const MapSnapshot>;

}  // namespace waystar::core
