// What a waypoint graph is made of, as plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/graph/world_point.h"
#include "server/core/map/obstacle.h"

namespace waystar::core {

struct WaypointNode {
  // As CheckNodeId says.
  std::string id;
  WorldPoint position;
  // No path goes through a node that is not.
  bool enabled = true;
  // What edges made by AutoConnect carry if both their nodes do. As CheckTags says, here and below.
  std::vector<std::string> tags;

  friend bool operator==(const WaypointNode&, const WaypointNode&) = default;
};

// Which edge: that from one node to another, and back as well unless it is `one_way`.
struct EdgeName {
  std::string from;
  std::string to;
  bool one_way = false;

  friend bool operator==(const EdgeName&, const EdgeName&) = default;
};

struct WaypointEdge {
  EdgeName name;
  // From 0 to kMaxEdgeCost; less than 0: the distance between the nodes, wherever they are moved.
  double cost = kCostIsLength;
  bool enabled = true;
  // What a query may ask for.
  std::vector<std::string> tags;

  static constexpr double kCostIsLength = -1.0;

  friend bool operator==(const WaypointEdge&, const WaypointEdge&) = default;
};

inline constexpr std::size_t kMaxNodes = std::size_t{1} << 20;
// An edge both ways counts as two.
inline constexpr std::size_t kMaxArcs = std::size_t{1} << 23;
// One bit of 64 stands for tags that no edge carries.
inline constexpr std::size_t kMaxTagsOfMap = 63;
inline constexpr std::size_t kMaxNodeIdBytes = 63;
// kMaxNodes of these stay below 2^63 in units of cost.
inline constexpr double kMaxEdgeCost = 80'000.0;

// INVALID_ARGUMENT / BAD_NODE_ID without a field unless it has 1 to 63 bytes that match
// [A-Za-z0-9][A-Za-z0-9_.:-]*.
absl::Status CheckNodeId(absl::string_view id);
// INVALID_ARGUMENT / BAD_VALUE with field ".x", ".y" or ".z" unless each is a finite number from -kMaxReach
// to kMaxReach.
absl::Status CheckPosition(const WorldPoint& position);

}  // namespace waystar::core
