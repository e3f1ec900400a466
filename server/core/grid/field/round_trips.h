// Round trips: paths from a map back to itself through other maps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/grid/field/field_scratch.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/passage_costs.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Finds the portals that lead from a map to others and back, and the costs of using them: either as trips
// between cells of the map, or by reading all maps as one ground.
//
// Not thread-safe.
class RoundTrips {
 public:
  // The arguments must outlive this. Checks each portal of all maps that portals lead to.
  RoundTrips(const GridMap& map, World& world, const Agent& agent);

  // Number of portals; two-way portals count twice.
  std::size_t door_count() const { return net_.door_count(); }
  // Returns the number of cells of floods from the arrival of each portal on a round trip: an upper bound of
  // the cost of Find before it combines walks into trips. 0 if there are no round trips.
  std::uint64_t flood_cells() const;
  // Returns the estimated cost, in flooded cells, of a matrix from `roots` cells by trips.
  std::uint64_t CellsOfTrips(std::size_t roots) const;
  // Returns the estimated cost of that matrix by floods of all maps as one, or nothing if ReadWorld cannot
  // read them.
  std::optional<std::uint64_t> CellsOfWorld(std::size_t roots) const;

  // Returns the cheapest trip for each pair of a portal that leads from the map and one that leads back to
  // it, if there is one, except trips from a cell to itself. Computes a matrix of costs between portals on
  // each other map, and runs Dijkstra's algorithm over these for each portal that leads from the map. Adds to
  // `expanded`. Returns the errors of ComputeWalkMatrix.
  absl::StatusOr<std::vector<Passage>> Find(const Budget& budget, Scratch& scratch,
                                            FieldScratch& field_scratch, std::uint64_t& expanded);

  // Reads the map and, below it, the others, whose cells have different rows there. Returns the passages that
  // lead out, back and between the other maps.
  // REQUIRES: CellsOfWorld returned a value.
  std::vector<Passage> ReadWorld(FloodGround& ground) const;

 private:
  // Costs of walks on one map, from the doors that lead to it to the doors that lead from it.
  struct Walks {
    std::vector<std::uint32_t> departures;
    // One row per door that leads to it: see numbers_.
    std::vector<double> costs;
  };

  bool LeadsOut(std::uint32_t door) const { return is_kept_[door] && net_.door(door).from_map == 0; }
  std::vector<bool> DoorsReached(bool backwards);
  std::uint64_t KeptCount(const std::vector<std::uint32_t>& doors) const;
  absl::Status MeasureWalks(std::size_t index, const Budget& budget, Scratch& scratch,
                            FieldScratch& field_scratch, std::uint64_t& expanded);
  void AddTripsThrough(std::uint32_t first, std::vector<Passage>& trips) const;

  const Agent agent_;
  GridPortalNet net_;
  // True if a door is part of a round trip.
  std::vector<bool> is_kept_;
  // Indexed by map.
  std::vector<Walks> walks_;
  // For each door that leads to another map, its row there.
  std::vector<std::size_t> numbers_;
};

}  // namespace waystar::core
