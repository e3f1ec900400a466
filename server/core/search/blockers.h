// Blockers of paths, and the prices of passing them nevertheless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/search/query.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Entry of a path into something that blocks it.
struct Blocker {
  enum class Kind : std::uint8_t {
    // Named obstacle.
    kObstacle,
    // Area of an overlay.
    kArea,
    // Obstacles of a grid that have no name.
    kNameless,
    // Impassable terrain of a grid.
    kTerrain,
    // Disabled node or edge of a waypoint graph.
    kNode,
    kEdge,
    // Closed portal.
    kPortal,
  };

  Kind kind = Kind::kObstacle;
  // Id of the obstacle, node or portal, symbol of the terrain, or id of the node that the edge leaves.
  std::string id = {};
  // Id of the node that the edge leads to.
  std::string to = {};
  // Index in the path of the first cell within the blocker, of the disabled node, of the node from which an
  // edge leads into it, or of the cell behind the portal.
  std::size_t index = 0;
  // Where a path on a mesh enters; unset on other maps.
  WorldPoint point = {};
  double price = 0.0;

  friend bool operator==(const Blocker&, const Blocker&) = default;
};

// Sorts the entries of one step, those from index `begin`, by kind and then by id.
void SortEntries(std::vector<Blocker>& entries, std::size_t begin);

// Returns RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE with "path" if an explanation has more than 10,000 entries.
absl::Status CheckEntries(const std::vector<Blocker>& entries);

// Prices of entries into blockers.
struct BlockerPrices {
  static constexpr double kDefault = 1000.0;
  static constexpr double kMax = 1'000'000.0;
  static constexpr std::size_t kMostListed = 100;

  struct Entry {
    // Beginning of the ids of named obstacles.
    std::string id_prefix;
    double price = 0.0;
  };

  // From 0 to kMax.
  double price = kDefault;
  // Prices of some obstacles; the longest prefix counts, and the first among equals.
  std::vector<Entry> listed = {};
  // If true, only named obstacles and the area of an overlay can be passed.
  bool only_obstacles = false;

  double OfObstacle(absl::string_view id) const;
};

// Returns INVALID_ARGUMENT / BAD_VALUE with "price" or "prices[3].price", or RESOURCE_EXHAUSTED /
// TOO_MANY_ITEMS with "prices".
absl::Status CheckPrices(const BlockerPrices& prices);

// Explanation of a path or of its absence.
struct Explanation {
  // True if there is a path once the blockers are removed. Without it, all else is empty.
  bool is_found = false;
  // Cost of the path without prices, and the sum of the prices.
  double cost = 0.0;
  double price = 0.0;
  // Entries into blockers in the order of the path; those of one step in the order of Kind, then of ids.
  std::vector<Blocker> blockers = {};
  SearchStatistics statistics = {};
};

}  // namespace waystar::core
