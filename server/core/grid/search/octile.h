// Admissible, consistent heuristics.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "absl/numeric/int128.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Returns ground on which a step costs `weight` times as much, rounded down. A heuristic over it is
// consistent for steps that cost `weight` times as much as the map's, so that a weighted A* (Pohl, "Heuristic
// Search Viewed as Path Finding in a Graph", 1970) that expands each cell once finds paths of at most
// `weight` times the least cost (Likhachev, Gordon, Thrun, "ARA*: Anytime A* with Provable Bounds on
// Sub-Optimality", 2003).
inline OpenGround<Cost> Weighted(const OpenGround<Cost>& ground, double weight) {
  if (weight == 1.0) {
    return ground;
  }
  const auto weigh = [&](Cost cost) { return static_cast<Cost>(static_cast<double>(cost) * weight); };
  const Cost straight = weigh(ground.straight);
  // Two straight steps may cost less after rounding.
  return {straight, std::min(weigh(ground.rising), 2 * straight),
          std::min(weigh(ground.falling), 2 * straight)};
}

// Lower bound on the part of a path's cost that is paid on CostFloor::elsewhere on the way to the nearest
// goal, if cheap places may be crossed for free. It is the distance on such ground without obstacles and
// therefore consistent: a step changes it by at most the step's cost there.
//
// Thread safety: const methods may run concurrently.
class CheapPlaces {
 public:
  CheapPlaces() = default;
  // Takes the cheap places of the floor, without goals.
  explicit CheapPlaces(const CostFloor& floor, double weight = 1.0)
      : elsewhere_(Weighted(floor.elsewhere, weight)), count_(floor.cheap.size()) {
    for (std::size_t i = 0; i < count_; ++i) {
      places_[i].cells = floor.cheap[i];
    }
    margin_ = floor.has_diagonals ? 1 : 0;
    last_step_ = floor.has_diagonals ? 0 : elsewhere_.straight;
  }

  bool empty() const { return count_ == 0; }
  const OpenGround<Cost>& elsewhere() const { return elsewhere_; }

  void AddGoal(Cell goal) {
    for (std::size_t i = 0; i < count_; ++i) {
      places_[i].to_goal = std::min(places_[i].to_goal, elsewhere_.CostTo(places_[i].cells, goal));
    }
  }
  // Adds paths to a goal through other places. Call it after the last AddGoal.
  // REQUIRES: there is a goal.
  void Finish() {
    // A shortest path crosses each place at most once, so count_ - 1 rounds suffice (Bellman, "On a Routing
    // Problem", 1958).
    for (std::size_t round = 1; round < count_; ++round) {
      for (std::size_t i = 0; i < count_; ++i) {
        for (std::size_t next = 0; next < count_; ++next) {
          places_[i].to_goal =
              std::min(places_[i].to_goal, places_[next].to_goal + CostInto(places_[next], places_[i].cells));
        }
      }
    }
  }

  // Returns the minimum of `direct`, the distance to the nearest goal on `elsewhere`, and the distance
  // through cheap places.
  // REQUIRES: Finish was called.
  Cost Lower(Cost direct, Cell cell) const {
    Cost least = direct;
    for (std::size_t i = 0; i < count_; ++i) {
      if (places_[i].to_goal < least) {
        least = std::min(least, places_[i].to_goal + CostInto(places_[i], {cell.x, cell.y, 1, 1}));
      }
    }
    return least;
  }

 private:
  struct Place {
    Rectangle cells;
    Cost to_goal = std::numeric_limits<Cost>::max();
  };

  // Returns the cost of a path into a place; its last step is free.
  Cost CostInto(const Place& place, const Rectangle& from) const {
    const Rectangle beside = {place.cells.x - margin_, place.cells.y - margin_,
                              place.cells.width + 2 * margin_, place.cells.height + 2 * margin_};
    return std::max<Cost>(0, elsewhere_.CostTo(beside, from) - last_step_);
  }

  OpenGround<Cost> elsewhere_;
  // With diagonal steps, the paid part of a path ends at a cell around the place. Without, all steps cost the
  // same, and the paid part is one step shorter than the path.
  int margin_ = 0;
  Cost last_step_ = 0;
  std::array<Place, CostFloor::kMostPlaces> places_;
  std::size_t count_ = 0;
};

// Returns the cost of a path over open ground.
inline Cost OctileCost(Cell from, Cell to, Cost straight, Cost diagonal) {
  const Cost dx = std::abs(from.x - to.x);
  const Cost dy = std::abs(from.y - to.y);
  return diagonal * std::min(dx, dy) + straight * std::abs(dx - dy);
}

// Octile distance to the goal over the map's cheapest cells: the Manhattan distance on 4-connected maps, the
// number of steps on hexagonal ones. It is admissible, never more than the cost of a path to the goal, and
// consistent: a step changes it by at most the step's cost.
class OctileHeuristic {
 public:
  OctileHeuristic(const GridMap& map, Cell goal, double weight = 1.0)
      : OctileHeuristic(Weighted(OpenGround<Cost>::Of(map), weight), goal) {}
  OctileHeuristic(const OpenGround<Cost>& ground, Cell goal) : goal_(goal), ground_(ground) {}

  Cost operator()(Cell cell) const { return ground_.CostOf(goal_.x - cell.x, goal_.y - cell.y); }

 private:
  Cell goal_;
  OpenGround<Cost> ground_;
};

// Octile distance over the map's CostFloor, which treats a few cheap places separately. Admissible,
// consistent, and never less than OctileHeuristic.
class CostFloorHeuristic {
 public:
  CostFloorHeuristic(const GridMap& map, Cell goal, double weight = 1.0)
      : goal_(goal),
        everywhere_(Weighted(map.cost_floor().everywhere, weight)),
        places_(map.cost_floor(), weight) {
    places_.AddGoal(goal);
    places_.Finish();
  }

  // Returns a heuristic that is zero everywhere.
  static CostFloorHeuristic Zero(Cell goal) { return CostFloorHeuristic(goal); }

  Cost operator()(Cell cell) const {
    const int dx = goal_.x - cell.x;
    const int dy = goal_.y - cell.y;
    const Cost cost = everywhere_.CostOf(dx, dy);
    return places_.empty() ? cost : cost + places_.Lower(places_.elsewhere().CostOf(dx, dy), cell);
  }

 private:
  explicit CostFloorHeuristic(Cell goal) : goal_(goal) {}

  Cell goal_;
  OpenGround<Cost> everywhere_;
  CheapPlaces places_;
};

// Returns the distance between the centres of two cells times `straight`, the cost of a straight step,
// rounded to the nearest unit. The result is the same on every machine: floating point only provides a first
// guess, which integers correct.
// REQUIRES: both cells are on one map; 0 < straight <= the fixed-point cost of kMaxTerrainCost.
inline Cost EuclideanCost(Cell a, Cell b, Cost straight) {
  const std::int64_t dx = a.x - b.x;
  const std::int64_t dy = a.y - b.y;
  const auto squared = static_cast<std::uint64_t>(dx * dx + dy * dy);
  if (squared == 0) {
    return 0;
  }
  const absl::uint128 exact = absl::uint128{squared * static_cast<std::uint64_t>(straight)} *
                              absl::uint128{static_cast<std::uint64_t>(straight)};
  auto root =
      static_cast<std::uint64_t>(std::sqrt(static_cast<double>(squared)) * static_cast<double>(straight));
  // The root of `exact` rounds to r if r * (r - 1) < exact <= r * (r + 1).
  while (absl::uint128{root} * absl::uint128{root + 1} < exact) {
    ++root;
  }
  while (absl::uint128{root} * absl::uint128{root - 1} >= exact) {
    --root;
  }
  return static_cast<Cost>(root);
}

}  // namespace waystar::core
