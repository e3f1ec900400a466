// A slow and obvious oracle of connectivity.
#pragma once

#include <cstddef>
#include <vector>

#include "server/core/grid/bit_plane.h"
#include "server/core/grid/cell.h"
#include "server/core/walk/components.h"

namespace waystar::testing {

// A number for each cell of a plane, row by row: 0 if it is not set, else that of its component.
class Flood {
 public:
  Flood(const core::BitPlane& cells, core::Adjacency adjacency)
      : cells_(cells),
        steps_(adjacency == core::Adjacency::kAny ? 1U : 2U),
        numbers_(static_cast<std::size_t>(cells.width()) * static_cast<std::size_t>(cells.height()), 0) {
    int components = 0;
    for (int y = 0; y < cells.height(); ++y) {
      for (int x = 0; x < cells.width(); ++x) {
        if (cells.Test({x, y}) && At({x, y}) == 0) {
          Fill({x, y}, ++components);
        }
      }
    }
  }

  int At(core::Cell cell) const { return numbers_[IndexOf(cell)]; }
  bool AreConnected(core::Cell a, core::Cell b) const { return At(a) != 0 && At(a) == At(b); }

 private:
  std::size_t IndexOf(core::Cell cell) const {
    return static_cast<std::size_t>(cell.y) * static_cast<std::size_t>(cells_.width()) +
           static_cast<std::size_t>(cell.x);
  }

  void Fill(core::Cell first, int component) {
    numbers_[IndexOf(first)] = component;
    std::vector<core::Cell> open = {first};
    while (!open.empty()) {
      const core::Cell cell = open.back();
      open.pop_back();
      // The straight directions are the even ones.
      for (std::size_t i = 0; i < core::kSteps.size(); i += steps_) {
        const core::Cell next = {cell.x + core::kSteps[i].x, cell.y + core::kSteps[i].y};
        if (cells_.Test(next) && At(next) == 0) {
          numbers_[IndexOf(next)] = component;
          open.push_back(next);
        }
      }
    }
  }

  const core::BitPlane& cells_;
  std::size_t steps_;
  std::vector<int> numbers_;
};

}  // namespace waystar::testing
