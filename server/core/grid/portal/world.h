// Maps that portals may lead to.
#pragma once

#include "absl/strings/string_view.h"
#include "server/core/grid/map/grid_map.h"

namespace waystar::core {

class World {
 public:
  virtual ~World() = default;

  // Returns the map with that id as seen by the query, or null if there is none or its agent cannot stand
  // anywhere on it. The result is the same at each call, and lives as long as this.
  virtual const GridMap* Find(absl::string_view id) = 0;
};

// World without other maps.
class NoWorld final : public World {
 public:
  const GridMap* Find(absl::string_view /*id*/) override { return nullptr; }
};

// The empty id stands for the map that a query starts on, which does not know its own id.
inline constexpr absl::string_view kSameMap = "";

}  // namespace waystar::core
