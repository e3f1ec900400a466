// Clipping of found paths at a cost or length, and their division into turns of a game, on maps of any kind.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/mesh/portal/mesh_portal_search.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route.h"
#include "server/core/query/route_query.h"

namespace waystar::core {

// Maximum number of turn ends of a path.
inline constexpr std::size_t kMaxTurnEnds = 10'000;

// Measures a path step by step. Sums count as equal to a limit within a relative 1e-8.
//
// Not thread-safe.
class PathMeter {
 public:
  // End of a turn, at a share of the way through a step.
  struct Turn {
    std::size_t step = 0;
    double share = 0.0;
    // Cost of the path up to there.
    double cost = 0.0;
  };

  // REQUIRES: the clip is valid by CheckOptions.
  explicit PathMeter(const PathClip& clip) : clip_(clip) {}

  // Adds the next step. Returns the share of it that belongs to the clipped path: 1, or 0 from the clip on,
  // or a share between them for the step with the clip if it is divisible.
  double Add(double cost, double length, bool is_divisible);

  bool is_clipped() const { return is_clipped_; }
  // Sums of the steps that do not belong to the clipped path.
  const RouteRest& rest() const { return rest_; }
  // Ends of all turns but the last; more than kMaxTurnEnds if there are too many.
  const std::vector<Turn>& turns() const { return turns_; }

 private:
  // Returns the share of a step of this size that fits between the sum and the limit.
  static double ShareWithin(const std::optional<double>& limit, double sum, double size, bool is_divisible);
  void AddToTurns(double cost, double share, bool is_divisible);

  const PathClip clip_;
  double cost_ = 0.0;
  double length_ = 0.0;
  // Cost paid in the current turn.
  double spent_ = 0.0;
  std::size_t step_ = 0;
  bool is_clipped_ = false;
  RouteRest rest_;
  std::vector<Turn> turns_;
};

// These clip a path as the query asks, and set `rest` and `turn_ends` of the route. They return
// RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "turn_budget" if there are more than kMaxTurnEnds.
//
// On a grid the path, which has every cell, also takes on the form of the query.
// REQUIRES: the route refers to a path of PathForm::kEveryCell.
absl::Status ClipOnGrid(const ResolvedRoute& resolved, Route& route);
// On a waypoint graph, nodes and positions are clipped.
absl::Status ClipOnGraph(const WaypointGraph& graph, const PathClip& clip, Route& route);
// On a mesh, the path is clipped before the route is made from it. `corners` stores its corners.
absl::Status ClipOnMesh(MeshAgent& agent, const PathClip& clip, MeshPortalPath& whole,
                        std::vector<WorldPoint>& corners, Route& route);

}  // namespace waystar::core
