// The maps that portals may lead to.
#pragma once

#include "absl/strings/string_view.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

class World {
 public:
  virtual ~World() = default;

  // That of an id, as the query sees it; null if there is none, or its agent has no place there. The same
  // whenever it is asked for, and there for as long as this is.
  virtual const GridMap* Find(absl::string_view id) = 0;
};

// None but the one that the query starts on.
class NoWorld final : public World {
 public:
  const GridMap* Find(absl::string_view /*id*/) override { return nullptr; }
};

// The map that a query starts on knows itself by no name: the empty one stands for it.
inline constexpr absl::string_view kSameMap = "";

}  // namespace waystar::core
