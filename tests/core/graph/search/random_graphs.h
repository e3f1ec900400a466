// Generated waypoint graphs and places on them, and the costs of ways found the long way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/graph/map/box_tree.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/grid/cells/cost.h"
#include "tests/testing/random.h"

namespace waystar::testing {

// Further than any two places of a sample are from each other.
inline constexpr double kSampleSnap = 1000.0;

// Room for searches on samples.
inline constexpr std::size_t kSampleRoom = std::size_t{1} << 20;

// A graph with edges in one direction and both, of cost 0 too, with tags, some of them disabled, disabled
// nodes, and obstacles. Every other seed gives one that is connected by sight.
core::WaypointGraph SampleGraph(std::uint64_t seed);

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

// "REASON field".
inline std::string Told(const absl::Status& status) {
  return absl::StrCat(ErrorReasonOf(status), " ", ErrorFieldOf(status));
}

}  // namespace waystar::testing
