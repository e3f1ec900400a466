#include "tests/bench/regions.h"

#include <algorithm>

namespace waystar::bench {

using core::Cell;
using core::GridMap;

Regions::Regions(const GridMap& map)
    : width_(static_cast<std::size_t>(map.width())),
      of_(width_ * static_cast<std::size_t>(map.height()), kNone) {
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      if (map.IsWalkable({x, y}) && Of({x, y}) == kNone) {
        Flood(map, {x, y});
      }
    }
  }
}

std::int32_t Regions::Largest() const {
  return static_cast<std::int32_t>(std::max_element(cells_.begin(), cells_.end()) - cells_.begin());
}

void Regions::Flood(const GridMap& map, Cell start) {
  const auto region = static_cast<std::int32_t>(cells_.size());
  const auto index = [&](Cell cell) {
    return static_cast<std::size_t>(cell.y) * width_ + static_cast<std::size_t>(cell.x);
  };
  std::vector<Cell> front = {start};
  of_[index(start)] = region;
  std::size_t cells = 0;
  while (!front.empty()) {
    const Cell cell = front.back();
    front.pop_back();
    ++cells;
    for (const Cell next : {Cell{cell.x + 1, cell.y}, Cell{cell.x - 1, cell.y}, Cell{cell.x, cell.y + 1},
                            Cell{cell.x, cell.y - 1}}) {
      if (map.IsWalkable(next) && of_[index(next)] == kNone) {
        of_[index(next)] = region;
        front.push_back(next);
      }
    }
  }
  cells_.push_back(cells);
}

}  // namespace waystar::bench
