// Round trips: ways from a map to itself by way of other maps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/field/field_scratch.h"
#include "server/core/field/flood_ground.h"
#include "server/core/field/passage_costs.h"
#include "server/core/map/grid_map.h"
#include "server/core/portal/world.h"
#include "server/core/search/agent.h"
#include "server/core/search/portal_scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

// Finds the portals that lead from a map to others and back, and what they cost to go through: either trips
// between cells of the map, or all of the maps in one.
//
// Thread safety: none.
class RoundTrips {
 public:
  // The arguments must outlive this. It costs a look at each portal of all maps that portals lead to.
  RoundTrips(const GridMap& map, World& world, const Agent& agent);

  // Returns the portals, those that lead both ways counted twice.
  std::size_t door_count() const { return doors_.size(); }
  // Returns the cells of floods from where each portal that leads out and back arrives, which is what Find
  // takes at the most before it joins the walks to trips; 0 if there are none.
  std::uint64_t flood_cells() const;
  // Returns an estimate of what a matrix takes by trips, as cells of a flood, where it is filled from so many
  // cells.
  std::uint64_t CellsOfTrips(std::size_t roots) const;
  // Returns an estimate of what it takes by floods of all maps in one, or nothing if ReadWorld cannot read
  // them.
  std::optional<std::uint64_t> CellsOfWorld(std::size_t roots) const;

  // Returns the cheapest way for each portal that leads from the map and each that leads back to it, where
  // there is one; none between a cell and itself. It takes a matrix of costs between portals on each of the
  // other maps, and for each portal that leads from the map Dijkstra's algorithm over those. It adds to
  // `expanded`. Returns the errors of ComputeWalkMatrix.
  absl::StatusOr<std::vector<Passage>> Find(const Budget& budget, Scratch& scratch,
                                            FieldScratch& field_scratch, std::uint64_t& expanded);

  // Reads the map and, below it, the others: their cells have other rows there. Returns the passages by
  // portals that lead out, back and between them. REQUIRES: CellsOfWorld returned something.
  std::vector<Passage> ReadWorld(FloodGround& ground) const;

 private:
  // The costs of walks on one map, from the doors that lead to it to those that lead from it.
  struct Walks {
    std::vector<std::size_t> departures;
    // A row for each of the former: see numbers_.
    std::vector<double> costs;
  };

  // The parts of maps that doors begin and end in, by door.
  struct Parts {
    std::vector<std::size_t> from;
    std::vector<std::size_t> to;
    std::size_t count = 0;
  };

  bool LeadsOut(std::size_t door) const { return is_kept_[door] && doors_[door].from_map == 0; }
  Parts FindParts() const;
  std::vector<bool> DoorsReached(const Parts& parts, bool backwards) const;
  std::uint64_t KeptCount(const std::vector<std::uint32_t>& doors) const;
  absl::Status MeasureWalks(std::size_t index, const Budget& budget, Scratch& scratch,
                            FieldScratch& field_scratch, std::uint64_t& expanded);
  void AddTripsThrough(std::size_t first, std::vector<Passage>& trips) const;

  const Agent agent_;
  std::vector<PortalScratch::Map> maps_;
  std::vector<Door> doors_;
  // Whether a door leads out and back, or is passed by a way that does.
  std::vector<bool> is_kept_;
  // The walks by map.
  std::vector<Walks> walks_;
  // For each door that leads to another map, its row there.
  std::vector<std::size_t> numbers_;
};

}  // namespace waystar::core
