// Generated waypoint graphs and places on them, and the costs of ways found the long way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/map/box_tree.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/grid/cells/grid_settings.h"
#include "tests/testing/graph_model.h"
#include "tests/testing/random.h"

namespace waystar {

// Further than any two places of a sample are from each other.
inline constexpr double kSampleSnap = 1000.0;

// Room for searches on samples.
inline constexpr std::size_t kSampleRoom = std::size_t{1} << 20;

std::vector<std::string> IdsOf(const core::WaypointGraph& graph, absl::Span<const core::NodeNumber> nodes);

// A graph with edges in one direction and both, of cost 0 too, with tags, some of them disabled, disabled
// nodes, and obstacles. About half of the graphs are connected by sight.
core::WaypointGraph SampleGraph(Random& random);

// A graph, and its model, after 40 edits. Graphs of even seeds are connected by sight.
struct EditedGraph {
  explicit EditedGraph(std::uint64_t seed);

  GraphGenerator generator;
  GraphModel model;
  core::WaypointGraph graph;
};

// A node, at times a disabled one, or a position that sees one.
core::GraphPlace SamplePlace(const core::WaypointGraph& graph, Random& random);
std::vector<core::GraphPlace> SamplePlaces(const core::WaypointGraph& graph, Random& random, int count);
// No tags, one, two, or one that no graph knows.
std::vector<std::string> SampleTags(Random& random);
// The middle of the sample, or nothing.
std::optional<core::Box> SampleRegion(Random& random);

core::GraphSeat SeatOf(const core::WaypointGraph& graph, const core::GraphPlace& place);

// The costs of the cheapest ways from the seeds to all nodes that they lead to, or from all nodes to the
// seeds. It looks at all arcs until none makes anything cheaper (Bellman and Ford).
std::map<core::NodeNumber, core::Cost> NaiveCosts(const core::WaypointGraph& graph,
                                                  const std::vector<core::GraphSeed>& seeds,
                                                  core::GraphSense sense,
                                                  const std::vector<std::string>& tags = {},
                                                  const std::optional<core::Box>& region = {});

}  // namespace waystar
