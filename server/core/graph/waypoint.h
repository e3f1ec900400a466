// The parts of a waypoint graph as plain values.
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
  // The id obeys CheckNodeId.
  std::string id;
  WorldPoint position;
  // No path goes through a disabled node.
  bool enabled = true;
  // An edge made by AutoConnect carries the tags that both its nodes carry. CheckTags holds, here and below.
  std::vector<std::string> tags;
  // What the node is called where it comes from: "Köln/Hbf", say, for the id "koln-hbf". It may be empty, and
  // obeys CheckNodeLabel. No search reads it.
  std::string label;

  friend bool operator==(const WaypointNode&, const WaypointNode&) = default;
};

// Names the edge from one node to another, and back as well unless it is `one_way`.
struct EdgeName {
  std::string from;
  std::string to;
  bool one_way = false;

  friend bool operator==(const EdgeName&, const EdgeName&) = default;
};

struct WaypointEdge {
  EdgeName name;
  // The cost, from 0 to kMaxEdgeCost. A negative one is the distance between the nodes, wherever they move.
  double cost = kCostIsLength;
  bool enabled = true;
  // The tags that a query may require.
  std::vector<std::string> tags;

  static constexpr double kCostIsLength = -1.0;

  friend bool operator==(const WaypointEdge&, const WaypointEdge&) = default;
};

inline constexpr std::size_t kMaxNodes = std::size_t{1} << 20;
// An edge both ways counts as two arcs.
inline constexpr std::size_t kMaxArcs = std::size_t{1} << 23;
inline constexpr std::size_t kMaxLabelBytes = 200;
// One bit of 64 stands for tags that no edge carries.
inline constexpr std::size_t kMaxTagsOfMap = 63;
// The sum of kMaxNodes of these costs stays below 2^63 in units of Cost.
inline constexpr double kMaxEdgeCost = 80'000.0;

// Returns INVALID_ARGUMENT / BAD_NODE_ID without a field unless CheckName (tags.h) holds.
absl::Status CheckNodeId(absl::string_view id);
// Returns INVALID_ARGUMENT / BAD_VALUE without a field unless the label has at most kMaxLabelBytes bytes of
// UTF-8 (RFC 3629) and no control characters (U+0000 to U+001F and U+007F to U+009F).
absl::Status CheckNodeLabel(absl::string_view label);
// Returns INVALID_ARGUMENT / BAD_VALUE with field ".x", ".y" or ".z" unless each is a finite number from
// -kMaxReach to kMaxReach.
absl::Status CheckPosition(const WorldPoint& position);

}  // namespace waystar::core
