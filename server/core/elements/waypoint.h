// Parts of a waypoint graph as plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/elements/obstacle.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

struct WaypointNode {
  // Valid by CheckNodeId.
  std::string id;
  WorldPoint position;
  // No path goes through a disabled node.
  bool enabled = true;
  // Valid by CheckTags, here and below. An automatic edge carries the tags that both its nodes have.
  std::vector<std::string> tags;
  // Name of the node in its source, such as "Köln/Hbf" for the id "koln-hbf". May be empty; valid by
  // CheckNodeLabel. Not used by searches.
  std::string label;

  friend bool operator==(const WaypointNode&, const WaypointNode&) = default;
};

// Names the edge from one node to another, in both directions unless `one_way`.
struct EdgeName {
  std::string from;
  std::string to;
  bool one_way = false;

  friend bool operator==(const EdgeName&, const EdgeName&) = default;
};

struct WaypointEdge {
  EdgeName name;
  // Cost from 0 to kMaxEdgeCost. If negative, the cost is the distance between the nodes and follows their
  // moves.
  double cost = kCostIsLength;
  bool enabled = true;
  // Tags that a query may require.
  std::vector<std::string> tags;

  static constexpr double kCostIsLength = -1.0;

  friend bool operator==(const WaypointEdge&, const WaypointEdge&) = default;
};

inline constexpr std::size_t kMaxNodes = std::size_t{1} << 20;
// A two-way edge counts as two arcs.
inline constexpr std::size_t kMaxArcs = std::size_t{1} << 23;
inline constexpr std::size_t kMaxLabelBytes = 200;
// One of the 64 bits stands for tags that no edge carries.
inline constexpr std::size_t kMaxTagsOfMap = 63;
// The sum of kMaxNodes of these costs stays below 2^63 in units of Cost.
inline constexpr double kMaxEdgeCost = 80'000.0;

// Returns INVALID_ARGUMENT / BAD_NODE_ID without a field unless CheckName (tags.h) holds.
absl::Status CheckNodeId(absl::string_view id);
// Returns INVALID_ARGUMENT / BAD_VALUE without a field unless the label has at most kMaxLabelBytes bytes of
// UTF-8 (RFC 3629) without control characters (U+0000 to U+001F and U+007F to U+009F).
absl::Status CheckNodeLabel(absl::string_view label);
// Returns INVALID_ARGUMENT / BAD_VALUE with field ".x", ".y" or ".z" unless each coordinate is a finite
// number from -kMaxReach to kMaxReach.
absl::Status CheckPosition(const WorldPoint& position);

}  // namespace waystar::core
