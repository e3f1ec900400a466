// Portals: links from one cell to another that lies elsewhere, on the same map or on another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"

namespace waystar::core {

// A portal stands for stairs, a teleporter or a ferry. An agent at `from` may step to `to`, whatever lies
// between; it must be able to stand on both.
struct Portal {
  // The id obeys CheckPortalId.
  std::string id;
  Cell from;
  // The map that `to` lies on; empty if it is the same.
  std::string to_map;
  Cell to;
  // The cost of the step, from 0 to that of kMaxPortalCost. Terrain has no part in it.
  Cost cost = 0;
  // If true, one may step back at the same cost. Only portals within one map may be both ways.
  bool both_ways = false;
  // The tags, sorted and unique. An agent may pass only if the portal has all the tags that it requires.
  std::vector<std::string> tags;
  // Nobody may pass a closed portal.
  bool closed = false;

  friend bool operator==(const Portal&, const Portal&) = default;
};

// The number of portals that a map may have.
inline constexpr std::size_t kMaxPortals = 1000;
inline constexpr double kMaxPortalCost = 1'000'000.0;

}  // namespace waystar::core
