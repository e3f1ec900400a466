// Random samples of the nodes of a waypoint graph, and of places on its edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/map/box_tree.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/search/query.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

inline constexpr std::size_t kMaxSampledNodes = 100'000;

struct NodeSampleQuery {
  // Number of nodes to draw, from 1 to kMaxSampledNodes.
  std::int64_t count = 1;
  // The same seed gives the same nodes on every machine for all graphs whose enabled nodes have the same ids,
  // independent of their numbers and of the order of edits.
  std::uint64_t seed = 0;
  // If set, only nodes whose position, seen from above, is in the box are drawn.
  std::optional<Box> region;
  // If set, only these nodes are drawn, such as the reachable ones. They exist and are strictly ascending.
  std::optional<absl::Span<const NodeNumber>> among;
  // If true, the nodes are distinct, and there may be fewer than `count`.
  bool distinct = false;
};

struct SampledNodes {
  // Nodes in random order, each drawn uniformly from all candidates; empty if there are none.
  std::vector<NodeNumber> nodes;
  // Number of candidates.
  std::int64_t candidates = 0;
};

// Draws from the enabled nodes. Visits each node of the graph, or of `among`, twice, which takes about 100
// nanoseconds in total. Checks the budget meanwhile.
//
// Returns INVALID_ARGUMENT / BAD_VALUE or RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "count", and the errors of
// StatusOfEnd.
absl::StatusOr<SampledNodes> SampleNodes(const WaypointGraph& graph, const NodeSampleQuery& query,
                                         const Budget& budget);

struct EdgeSampleQuery {
  // As in NodeSampleQuery.
  std::int64_t count = 1;
  std::uint64_t seed = 0;
  // If set, only edges between two of these nodes are drawn.
  std::optional<absl::Span<const NodeNumber>> among;
  // Only edges with all of these tags are drawn.
  TagSet required_tags = 0;
};

struct PlaceOnEdge {
  // Ends of an open arc. If there is an arc back as well, `from` has the smaller id.
  NodeNumber from = 0;
  NodeNumber to = 0;
  // Fraction of the edge's length.
  double fraction = 0.0;
  WorldPoint position;

  friend bool operator==(const PlaceOnEdge&, const PlaceOnEdge&) = default;
};

struct SampledPlaces {
  // Places in random order; empty if no edge has a length.
  std::vector<PlaceOnEdge> places;
  // Number of edges to draw from.
  std::int64_t candidates = 0;
  // Total length of all edges, each rounded to the nearest positive multiple of 2^-16.
  double length = 0.0;
};

// Draws places uniformly by length from the open straight edges between enabled nodes. A two-way edge counts
// once, and an edge of length 0 is never drawn. Places are drawn in steps of 2^-16 units. Visits each node,
// its arcs and the arcs back twice, which takes about 100 nanoseconds per arc in total. Checks the budget
// meanwhile.
//
// Returns the errors of SampleNodes.
absl::StatusOr<SampledPlaces> SamplePlacesOnEdges(const WaypointGraph& graph, const EdgeSampleQuery& query,
                                                  const Budget& budget);

}  // namespace waystar::core
