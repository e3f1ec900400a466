// Portals: links from one cell to another that lies elsewhere, on the same map or on another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"

namespace waystar::core {

// Stairs, teleporters, ferries. An agent at `from` may step to `to`, whatever lies between; it must be able
// to stand on both.
struct Portal {
  // As CheckPortalId says.
  std::string id;
  Cell from;
  // The map that `to` lies on; empty if it is the same.
  std::string to_map;
  Cell to;
  // Of the step, from 0 to that of kMaxPortalCost. Terrain has no part in it.
  Cost cost = 0;
  // Whether one may step back at the same cost. Only within one map.
  bool both_ways = false;
  // Sorted, no two alike. Only agents that ask for none but some of these may pass.
  std::vector<std::string> tags;
  // While closed, nobody may pass.
  bool closed = false;

  friend bool operator==(const Portal&, const Portal&) = default;
};

// How many a map may have.
inline constexpr std::size_t kMaxPortals = 1000;
inline constexpr double kMaxPortalCost = 1'000'000.0;

}  // namespace waystar::core
