// A map as of one revision.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Immutable; whoever holds a pointer to it has pinned it.
struct MapSnapshot {
  std::string id;
  // One more with each committed update. A new map's first is 1, or one more than any that a deleted map had:
  // an id that comes again never repeats a revision.
  std::uint64_t revision = 1;
  // When the map was created, not this revision.
  absl::Time create_time;
  GridMap grid;
};

using PinnedSnapshot = std::shared_ptr<const MapSnapshot>;

}  // namespace waystar::core
