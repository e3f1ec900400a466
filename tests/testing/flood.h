// A slow and obvious oracle of connectivity.
#pragma once

#include <cstddef>
#include <vector>

#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/components/components.h"
#include "server/geometry/cell.h"

namespace waystar {

// A number for each cell of a plane, row by row: 0 if it is not set, else that of its component.
class Flood {
 public:
  Flood(const core::BitPlane& cells, core::Adjacency adjacency)
      : cells_(cells),
        adjacency_(adjacency),
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

  bool IsNeighbour(core::Cell step) const {
    switch (adjacency_) {
      case core::Adjacency::kStraight:
        return step.x == 0 || step.y == 0;
      case core::Adjacency::kAny:
        return true;
      case core::Adjacency::kHexagonal:
        return step.x != step.y;
    }
    return false;
  }

  void Fill(core::Cell first, int component) {
    numbers_[IndexOf(first)] = component;
    std::vector<core::Cell> open = {first};
    while (!open.empty()) {
      const core::Cell cell = open.back();
      open.pop_back();
      for (const core::Cell step : core::kSteps) {
        const core::Cell next = {cell.x + step.x, cell.y + step.y};
        if (IsNeighbour(step) && cells_.Test(next) && At(next) == 0) {
          numbers_[IndexOf(next)] = component;
          open.push_back(next);
        }
      }
    }
  }

  const core::BitPlane& cells_;
  core::Adjacency adjacency_;
  std::vector<int> numbers_;
};

}  // namespace waystar
