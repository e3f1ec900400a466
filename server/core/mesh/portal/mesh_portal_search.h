// Shortest paths on navigation meshes through portals, and validation of paths that were found earlier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/mesh/search/interval_expansion.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_fields.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/portal/portal_legs.h"
#include "server/core/portal/portal_net.h"
#include "server/core/search/query.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

struct MeshPortalQuery {
  MeshQuery path;
  // Id of the goals' map; empty if it is the start's.
  absl::string_view goal_map;
};

// Crossing of a portal on a path. Refers to the net that was searched.
struct MeshCrossing : Crossing<PlacedPortal, WorldPoint> {
  // Number of polygons of the corridor before it.
  std::size_t corridor_index = 0;
};

struct MeshPortalPath {
  // Path of all legs together: a leg ends where a portal starts, and the next begins where it leads. The cost
  // is the sum of the lengths of the legs and the costs of the portals. The corridor is that of all legs; its
  // polygons are numbered by their own maps.
  MeshPathResult path;
  std::vector<MeshCrossing> crossings;
};

// Returns the cost of a path by its corners and crossings.
double CostOf(const MeshPortalPath& found);

// FindMeshPath extended by portals: finds a cheapest path of legs along meshes and of portals. Among paths of
// equal cost, one without portals is preferred. With UnreachablePolicy::kNearestByDistance the path leads to
// the reachable point of the goal's map nearest to the goal, by NavMesh::FindNearest.
//
// If no portal can shorten the path, the cost is that of FindMeshPath plus PortalBounds::Estimate. Otherwise
// another search runs over all meshes at once. Each mesh has a wave of intervals (see MeshWave) that starts
// where portals arrive; the wave whose first interval has the lowest f advances. A search visits the portals
// in the polygons that it enters. Others on the mesh matter only if the goal is in another part than the
// start (MeshPortalNet::DeparturesFrom), if they are shortcuts, or if there are at most 1,000: then a search
// first finds those that may shorten the path.
//
// The recorder only gets the steps of the search without portals.
//
// Returns the errors of FindMeshPath, and NOT_FOUND / MAP_NOT_FOUND with field "goal_map".
//
// Thread safety: only reads the meshes; `scratch` and `net` belong to the caller's thread.
absl::StatusOr<MeshPortalPath> FindMeshPathThroughPortals(MeshPortalNet& net, const MeshPortalQuery& query,
                                                          const Budget& budget, MeshScratch& scratch,
                                                          IntervalRecorder* recorder = nullptr);

// ComputeMeshMatrix extended by portals, for the map that queries start on. Runs one search per start and
// goal.
absl::StatusOr<MeshMatrix> ComputeMatrixThroughMeshPortals(MeshPortalNet& net,
                                                           absl::Span<const MeshPlace> starts,
                                                           absl::Span<const MeshPlace> goals,
                                                           const Budget& budget, MeshScratch& scratch);

using CrossedMeshPortal = CrossedPortalAt<WorldPoint>;

// Validates each leg on its own mesh, as ValidateMeshPath does; see ValidateLegs. The ends of portals may
// differ by kMeshTolerance.
// REQUIRES: the tags are sorted.
absl::StatusOr<MeshPathCheck> ValidateThroughMeshPortals(const NavMesh& mesh, MeshWorld& world,
                                                         absl::Span<const WorldPoint> corners,
                                                         absl::Span<const CrossedMeshPortal> crossings,
                                                         absl::Span<const std::string> required_tags,
                                                         const Budget& budget = {});

// Polyanya search (see SearchMesh) from several seeds, which may be added during the search, to goals and to
// the doors in the polygons that it enters. It reports each of these targets that it reaches and continues
// beyond it.
//
// Not thread-safe.
class MeshWave : private IntervalExpansion<MeshWave> {
  using Expansion = IntervalExpansion<MeshWave>;
  friend Expansion;

 public:
  static constexpr double kNothing = std::numeric_limits<double>::infinity();
  static constexpr std::uint32_t kNoDoor = PortalBounds::kNoDoor;

  // A target that the wave reached: one of the goals, or a door.
  struct Arrival {
    std::uint32_t target = 0;
    std::uint32_t door = kNoDoor;
    // Cost from the start.
    double g = 0.0;
  };
  struct Step {
    // True if the scratch is full; nothing else is set then.
    bool is_full = false;
    bool is_expansion = false;
    // Number of targets that were looked for.
    std::uint64_t tried_targets = 0;
    std::optional<Arrival> arrival;
  };

  // Makes a wave on a map of the net. The first targets are the goals. The arguments must outlive this.
  MeshWave(MeshPortalNet& net, std::uint32_t map, const PortalBounds& bounds,
           absl::Span<const MeshGoal> goals, MeshScratch& scratch);

  // Starts the wave at a place, at this cost from the start. Returns false if the scratch is full.
  bool AddSeed(MeshPlace place, double g);

  // Returns a lower bound of the cost of the paths that the wave has yet to find, or kNothing if there are
  // none.
  double first_f() const { return scratch_.is_open_empty() ? kNothing : scratch_.first().f; }
  // Advances by one step.
  // REQUIRES: first_f() is not kNothing.
  Step Next();

  std::uint64_t generated() const { return generated_; }

  // Appends the shortest path to a reported target, from the target to the seed, as TracePath does. Returns
  // the number of the seed, in the order in which seeds were added.
  std::uint32_t Trace(std::uint32_t target, std::vector<WorldPoint>& corners,
                      std::vector<PolygonNumber>& corridor) const;

 private:
  struct Target {
    MeshPlace place;
    std::uint32_t door = kNoDoor;
    // Lower bound of the cost of a path from there.
    double rest = 0.0;
    // Cost of the shortest path found, and its last interval.
    double g = kNothing;
    IntervalNumber arrival = 0;
  };

  bool IsSeed(std::uint32_t root) const { return MeshInterval::kStart - root < seeds_.size(); }
  const WorldPoint& SeedAt(std::uint32_t root) const { return seeds_[MeshInterval::kStart - root].point; }
  void AddSuccessor(const Root& root, IntervalNumber parent, PolygonNumber polygon, std::uint32_t edge_right,
                    std::uint32_t edge_left, const End& right, const End& left);
  // Records a path to a target that ends behind this interval.
  void Reach(std::uint32_t target, const MeshInterval& interval, double g);
  double RestOf(const MeshInterval& interval, const WorldPoint& root, std::uint32_t right) const;
  // Returns the targets in the polygon, after it has added the doors there.
  absl::Span<const std::uint32_t> TargetsIn(PolygonNumber polygon);
  void AddTarget(const MeshPlace& place, std::uint32_t door, double rest);
  // Marks the rooms through which paths lead to and from the place.
  void MarkRoomsOf(const MeshPlace& place);
  // Returns the maximum number of intervals that expanding an interval before the polygon can create.
  std::size_t MostSuccessors(PolygonNumber polygon);

  MeshPortalNet& net_;
  const std::uint32_t map_;
  const PortalBounds& bounds_;
  std::vector<Target> targets_;
  absl::flat_hash_map<PolygonNumber, std::vector<std::uint32_t>> targets_in_;
  // Polygons of the uncut mesh whose doors are among the targets, and the doors.
  absl::flat_hash_set<PolygonNumber> known_polygons_;
  absl::flat_hash_set<std::uint32_t> known_doors_;
  // Bounds that the heuristic evaluates individually, and the least rest of the others.
  absl::Span<const PortalBounds::Bound> single_bounds_;
  double least_rest_ = kNothing;
  // Rooms of MarkRoomsOf. If there are too many portals, no room is passed over.
  absl::flat_hash_set<std::uint32_t> marked_rooms_;
  bool has_all_rooms_ = false;
  std::vector<MeshPlace> seeds_;
  std::vector<PolygonNumber> around_;
  std::uint64_t generated_ = 0;
  std::uint64_t tried_targets_ = 0;
  bool has_started_ = false;
  // True if the targets take as much memory as a search may.
  bool is_full_ = false;
};

}  // namespace waystar::core
