// Places, pairs and regions of questions, resolved alike on maps of every kind.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/graph/search/graph_pairs.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/query/resolved_agent.h"
#include "server/core/query/route_query.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/core/search/query.h"
#include "server/geometry/box.h"

namespace waystar::core {

// Nothing if no surface of the mesh is near enough to the location.
using FoundMeshPlace = std::optional<MeshPlace>;

struct MeshPair {
  FoundMeshPlace start;
  FoundMeshPlace goal;
};

// Returns the place that stands for a location on the agent's map. Returns the errors of CheckLocation, on a
// grid those of LocationResolver, and on a mesh those of CheckMeshPosition.
absl::StatusOr<Cell> PlaceOf(const ResolvedAgent& agent, const std::optional<Snap>& snap,
                             const Budget& budget, absl::string_view field, const Location& location);
absl::StatusOr<GraphPlace> PlaceOf(const GraphAgent& agent, const std::optional<Snap>& snap,
                                   const Budget& budget, absl::string_view field, const Location& location);
absl::StatusOr<FoundMeshPlace> PlaceOf(const MeshAgent& agent, const std::optional<Snap>& snap,
                                       const Budget& budget, absl::string_view field,
                                       const Location& location);

// Returns the position of a location on a mesh, or the errors of CheckLocation and CheckMeshPosition.
absl::StatusOr<WorldPoint> PositionOnMesh(absl::string_view field, const Location& location);

// The type of a place, and of a pair of places, by the type of the agent.
template <typename Agent>
struct PlacesOn;
template <>
struct PlacesOn<ResolvedAgent> {
  using Place = Cell;
  using Pair = CellPair;
};
template <>
struct PlacesOn<GraphAgent> {
  using Place = GraphPlace;
  using Pair = GraphPair;
};
template <>
struct PlacesOn<MeshAgent> {
  using Place = FoundMeshPlace;
  using Pair = MeshPair;
};

// Returns an entry of a list of locations, or of pairs of them.
using LocationAt = absl::FunctionRef<Location(std::size_t index)>;

// Returns INVALID_ARGUMENT / MISSING_FIELD for an empty list, and the errors of CheckCount.
absl::Status CheckListed(absl::string_view list, std::size_t count, std::size_t most);

// Resolves a list of 1 to `most` locations. Returns the errors of CheckListed, and those of PlaceOf with
// fields such as "goals[3]".
template <typename Agent, typename Place = typename PlacesOn<Agent>::Place>
absl::StatusOr<std::vector<Place>> PlacesOf(const Agent& agent, const std::optional<Snap>& snap,
                                            const Budget& budget, absl::string_view list, std::size_t count,
                                            std::size_t most, LocationAt at) {
  WAYSTAR_RETURN_IF_ERROR(CheckListed(list, count, most));
  std::vector<Place> places;
  places.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Location location = at(i);
    absl::StatusOr<Place> place = PlaceOf(agent, snap, budget, "", location);
    if (!place.ok()) {
      // Builds the field's name only on error.
      return PlaceOf(agent, snap, budget, IndexedField(list, i), location).status();
    }
    places.push_back(*std::move(place));
  }
  return places;
}

// Resolves 1 to kMaxReachabilityPairs pairs. Returns the errors of CheckListed with "pairs", those of PlaceOf
// with fields such as "pairs[3].goal", and those of InterruptionError.
template <typename Agent, typename Pair = typename PlacesOn<Agent>::Pair>
absl::StatusOr<std::vector<Pair>> PairsOf(const Agent& agent, const std::optional<Snap>& snap,
                                          const Budget& budget, std::size_t count, LocationAt start_at,
                                          LocationAt goal_at) {
  WAYSTAR_RETURN_IF_ERROR(CheckListed("pairs", count, kMaxReachabilityPairs));
  const BudgetStop stop(budget);
  std::vector<Pair> pairs;
  pairs.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(&stop, i));
    auto start = PlaceOf(agent, snap, budget, "start", start_at(i));
    auto goal = PlaceOf(agent, snap, budget, "goal", goal_at(i));
    if (!start.ok() || !goal.ok()) {
      return WithFieldPrefix(start.ok() ? goal.status() : start.status(),
                             absl::StrCat(IndexedField("pairs", i), "."));
    }
    pairs.push_back({*std::move(start), *std::move(goal)});
  }
  return pairs;
}

// Returns the area of a region, if there is one, on a map without cells, or the errors of CheckRegionSides.
absl::StatusOr<std::optional<Box>> AreaOf(const std::optional<Rectangle>& region);

}  // namespace waystar::core
