// Lower bounds on the cost of paths that may use a map's cheap places.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "server/core/grid/cells/cost.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/open_ground.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Lower bound on the part of a path's cost that is paid on CostFloor::elsewhere on the way to the nearest
// goal, if cheap places may be crossed for free. It is the distance on such ground without obstacles and
// therefore consistent: a step changes it by at most the step's cost there.
//
// Thread safety: const methods may run concurrently.
class CheapPlaces {
 public:
  CheapPlaces() = default;
  // Starts without goals.
  explicit CheapPlaces(const CostFloor& floor) : elsewhere_(floor.elsewhere), count_(floor.cheap.size()) {
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
  // Called after the last AddGoal.
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

}  // namespace waystar::core
