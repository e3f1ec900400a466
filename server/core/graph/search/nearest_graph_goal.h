// Selection of the goal that is cheapest to reach on a waypoint graph.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/types/span.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/graph/search/graph_place.h"
#include "server/core/graph/search/graph_scratch.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct GraphGoal {
  GraphSeat seat;
  // Index of the goal in the query.
  std::size_t index = 0;
};

struct NearestGraphGoal {
  std::size_t index = 0;
  Cost cost = 0;

  bool IsBefore(const NearestGraphGoal& other) const {
    return cost != other.cost ? cost < other.cost : index < other.index;
  }
};

// Floods from the start until no other goal can be cheaper. `nearest` is the best goal found so far, if any,
// and becomes the best of it and these. It is final unless the report ends with a limit or an interruption.
// REQUIRES: the goals are enabled and in the order of their indices.
GraphFloodReport FindNearestGraphGoal(const WaypointGraph& graph, const GraphSeat& start,
                                      absl::Span<const GraphGoal> goals, TagSet required_tags,
                                      const Budget& budget, GraphScratch& scratch,
                                      std::optional<NearestGraphGoal>& nearest);

}  // namespace waystar::core
