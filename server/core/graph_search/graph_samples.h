// Random samples of the nodes of a waypoint graph, and of places on its edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/box_tree.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/graph/world_point.h"
#include "server/core/search/query.h"

namespace waystar::core {

inline constexpr std::size_t kMaxSampledNodes = 100'000;

struct NodeSampleQuery {
  // From 1 to kMaxSampledNodes.
  std::int64_t count = 1;
  // The same seed gives the same nodes of graphs whose enabled nodes have the same ids, on every machine:
  // neither their numbers nor the order in which they were put matter.
  std::uint64_t seed = 0;
  // Restricts the sample to nodes whose position, seen from above, lies in the box.
  std::optional<Box> region;
  // Restricts the sample to these nodes, such as those that a path leads to. They exist, and are in ascending
  // order without duplicates.
  std::optional<absl::Span<const NodeNumber>> among;
  // If true, no node occurs twice; then there may be fewer than `count`.
  bool distinct = false;
};

struct SampledNodes {
  // The nodes in random order, each drawn from all candidates with equal chance; empty if there are none.
  std::vector<NodeNumber> nodes;
  // How many candidates there are.
  std::int64_t candidates = 0;
};

// Draws from the enabled nodes. It looks at each node of the graph, or of `among`, twice, which takes some
// 100 nanoseconds together, and asks the budget on the way.
//
// Returns INVALID_ARGUMENT / BAD_VALUE or RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "count", and the errors of
// StatusOfEnd.
absl::StatusOr<SampledNodes> SampleNodes(const WaypointGraph& graph, const NodeSampleQuery& query,
                                         const Budget& budget);

struct EdgeSampleQuery {
  // As in NodeSampleQuery.
  std::int64_t count = 1;
  std::uint64_t seed = 0;
  // Restricts the sample to edges both of whose nodes are among these.
  std::optional<absl::Span<const NodeNumber>> among;
  // Restricts the sample to edges that carry all of these tags.
  TagSet required_tags = 0;
};

struct PlaceOnEdge {
  // An open arc leads from the one to the other. If one leads back as well, `from` has the smaller id.
  NodeNumber from = 0;
  NodeNumber to = 0;
  // How far along the edge, of its whole length.
  double fraction = 0.0;
  WorldPoint position;

  friend bool operator==(const PlaceOnEdge&, const PlaceOnEdge&) = default;
};

struct SampledPlaces {
  // The places in random order; empty if no edge has a length.
  std::vector<PlaceOnEdge> places;
  // How many edges there are to draw from.
  std::int64_t candidates = 0;
  // The length of all edges together, each rounded to the nearest 2^-16, but not to 0.
  double length = 0.0;
};

// Draws places evenly by length from the straight edges between enabled nodes that are open. An edge both
// ways counts once, and one of no length has no chance. Places are drawn in steps of 2^-16 of a unit. It
// looks twice at each node, its arcs and the arcs back, which takes some 100 nanoseconds for each arc
// together, and asks the budget on the way.
//
// Returns the errors of SampleNodes.
absl::StatusOr<SampledPlaces> SamplePlacesOnEdges(const WaypointGraph& graph, const EdgeSampleQuery& query,
                                                  const Budget& budget);

}  // namespace waystar::core
