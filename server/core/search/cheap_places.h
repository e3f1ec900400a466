// What the cheap places of a map save on the way to a goal.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/cost_floor.h"
#include "server/core/map/open_ground.h"

namespace waystar::core {

// Bounds what is paid on CostFloor::elsewhere on the way to the nearest goal, where cheap places may be
// passed for nothing. It is the distance on such ground without obstacles, so it is consistent: a step
// changes it by no more than it costs there.
//
// Thread safety: const methods may run beside each other.
class CheapPlaces {
 public:
  CheapPlaces() = default;
  // There are no goals at first.
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
  // Ends the goals. REQUIRES: there is one.
  void Finish() {
    // As many rounds as a way can pass places (Bellman, "On a Routing Problem", 1958).
    for (std::size_t round = 1; round < count_; ++round) {
      for (std::size_t i = 0; i < count_; ++i) {
        for (std::size_t next = 0; next < count_; ++next) {
          places_[i].to_goal =
              std::min(places_[i].to_goal, places_[next].to_goal + CostInto(places_[next], places_[i].cells));
        }
      }
    }
  }

  // Returns the least of `direct`, the distance to the nearest goal on `elsewhere`, and that through cheap
  // places. REQUIRES: Finish was called.
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

  // Returns what is paid on the way into a place, the last step of which is free.
  Cost CostInto(const Place& place, const Rectangle& from) const {
    const Rectangle beside = {place.cells.x - margin_, place.cells.y - margin_,
                              place.cells.width + 2 * margin_, place.cells.height + 2 * margin_};
    return std::max<Cost>(0, elsewhere_.CostTo(beside, from) - last_step_);
  }

  OpenGround<Cost> elsewhere_;
  // Where the last step may be a diagonal one, a way ends at the cells around a place. Elsewhere all steps
  // cost the same, and it is a step shorter than the way to the place.
  int margin_ = 0;
  Cost last_step_ = 0;
  std::array<Place, CostFloor::kMostPlaces> places_;
  std::size_t count_ = 0;
};

}  // namespace waystar::core
