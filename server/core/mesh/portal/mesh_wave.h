// The part of a search through portals that runs on one navigation mesh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/interval_expansion.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A place that a wave searches for.
struct WaveTarget {
  MeshPlace place;
  // Lower bound of the cost of a path from there.
  double rest = 0.0;
};

// Polyanya search (see SearchMesh) from several seeds, which may be added during the search, to several
// targets. It reports each target it reaches and continues beyond it.
//
// Not thread-safe.
class MeshWave : private IntervalExpansion<MeshWave> {
  using Expansion = IntervalExpansion<MeshWave>;
  friend Expansion;

 public:
  static constexpr double kNothing = std::numeric_limits<double>::infinity();

  // A target that the wave reached.
  struct Arrival {
    std::uint32_t target = 0;
    // Cost from the start.
    double g = 0.0;
  };
  struct Step {
    // True if the scratch is full; nothing else is set then.
    bool is_full = false;
    bool is_expansion = false;
    std::optional<Arrival> arrival;
  };

  // The mesh and the scratch must outlive this. List `targets` with a rest of 0 first: if there are many
  // targets, the heuristic evaluates only those first ones individually. `seeds` lists all places that may
  // become seeds.
  MeshWave(const NavMesh& mesh, std::vector<WaveTarget> targets, absl::Span<const MeshPlace> seeds,
           MeshScratch& scratch);

  // Starts the wave at a place, at this cost from the start. Returns false if the scratch is full.
  // REQUIRES: the place is one of the announced seeds; there are fewer than 2^20 seeds.
  bool AddSeed(const MeshPlace& place, double g);

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
  // Search state of a target.
  struct Reached {
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
  // Calls visit(target) for the targets in the polygon.
  template <typename Visitor>
  void VisitTargets(PolygonNumber polygon, Visitor visit) const;
  std::size_t TargetsIn(PolygonNumber polygon) const;
  // Returns the maximum number of intervals that expanding an interval before the polygon can create.
  std::size_t MostSuccessors(PolygonNumber polygon) const;

  const std::vector<WaveTarget> targets_;
  std::vector<Reached> reached_;
  // Polygons that contain each target, paired with the target's number; sorted.
  std::vector<std::pair<PolygonNumber, std::uint32_t>> polygons_;
  // Number of targets that the heuristic evaluates individually, and the minimum rest of the others.
  std::size_t single_targets_ = 0;
  double least_rest_ = kNothing;
  std::vector<MeshPlace> seeds_;
  std::vector<PolygonNumber> around_;
  std::uint64_t generated_ = 0;
  bool has_started_ = false;
};

}  // namespace waystar::core
