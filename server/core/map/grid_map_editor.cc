#include "server/core/map/grid_map_editor.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace waystar::core {
namespace {

std::int64_t CountBits(const Word* row, int width) {
  std::int64_t count = 0;
  for (int i = 0; i < WordsPerRow(width); ++i) {
    count += std::popcount(row[i]);
  }
  return count;
}

}  // namespace

void GridMapEditor::SetObstacles(int y, int x_begin, int x_end, bool obstacle) {
  Word* obstacles = obstacles_.row(y);
  Word* walkable = walkable_.row(y);
  const Word* passable = map_.passable_.row(y);
  ForEachWord(x_begin, x_end, [&](std::size_t i, Word mask) {
    map_.obstacle_cells_ -= std::popcount(obstacles[i]);
    map_.walkable_cells_ -= std::popcount(walkable[i]);
    obstacles[i] = obstacle ? obstacles[i] | mask : obstacles[i] & ~mask;
    walkable[i] = passable[i] & ~obstacles[i];
    map_.obstacle_cells_ += std::popcount(obstacles[i]);
    map_.walkable_cells_ += std::popcount(walkable[i]);
  });
}

void GridMapEditor::SetRow(int y, absl::Span<const TerrainId> cells) {
  const auto terrain_of = [](TerrainId cell) { return cell == kObstacle ? TerrainId{0} : cell; };
  Word* obstacles = obstacles_.row(y);
  Word* passable = passable_.row(y);
  Word* walkable = walkable_.row(y);
  map_.obstacle_cells_ -= CountBits(obstacles, map_.width());
  map_.walkable_cells_ -= CountBits(walkable, map_.width());
  for (int x = 0; x < map_.width(); ++x) {
    const TerrainId cell = cells[static_cast<std::size_t>(x)];
    const bool obstacle = cell == kObstacle;
    AssignBit(obstacles, x, obstacle);
    AssignBit(passable, x, map_.step_costs().passable[terrain_of(cell)]);
    AssignBit(walkable, x, !obstacle && TestBit(passable, x));
  }
  map_.obstacle_cells_ += CountBits(obstacles, map_.width());
  map_.walkable_cells_ += CountBits(walkable, map_.width());

  const auto is_unchanged = [&](TerrainId cell, TerrainId old) { return terrain_of(cell) == old; };
  // A band of terrain that is left as it is stays shared: most maps have long runs of one terrain.
  if (!std::equal(cells.begin(), cells.end(), map_.terrain_.row(y), is_unchanged)) {
    std::transform(cells.begin(), cells.end(), terrain_.row(y), terrain_of);
  }
}

}  // namespace waystar::core
