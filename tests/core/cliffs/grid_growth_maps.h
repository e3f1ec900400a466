// The grids on which the growth tests count.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/obstacle.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/testing/layouts.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/random.h"

namespace waystar::core {

inline constexpr int kStripHeight = 32;

inline GridMap MakeBlank(int width, int height) { return GridMap::Create(width, height, {}).value(); }

// Obstacles in one cell of four, at random.
inline GridMap MakeNoise(int width, int height) {
  GridMap map = MakeBlank(width, height);
  testing::Random random(3);
  testing::LayNoise(random, 0.25, map);
  return map;
}

// So many strips three cells wide between walls, which no step leads between. With portals, one leads from
// each strip to the next.
inline GridMap MakeStrips(int strips, bool with_portals) {
  const GridMap blank = MakeBlank(4 * strips, kStripHeight);
  GridMapEditor editor(blank);
  for (int y = 0; y < kStripHeight; ++y) {
    for (int strip = 0; strip < strips; ++strip) {
      editor.SetObstacles(y, 4 * strip + 3, 4 * strip + 4, true);
    }
  }
  GridMap map = std::move(editor).Finish();
  if (!with_portals) {
    return map;
  }
  std::vector<Portal> portals;
  for (int strip = 0; strip + 1 < strips; ++strip) {
    portals.push_back(
        testing::Between(absl::StrCat("p", strip), {4 * strip, strip % kStripHeight}, {4 * strip + 4, 0}));
  }
  return testing::With(map, portals);
}

// A cell of a strip.
inline Cell CellOfStrip(int strip, int number) { return {4 * strip + number % 3, number / 3 % kStripHeight}; }

// The map with a disc of radius 1 around each of the cells, which makes them dearer.
inline GridMap WithDearDiscs(const GridMap& map, const std::vector<Cell>& cells) {
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Obstacle obstacle{.id = absl::StrCat("o", i),
                      .shape = {},
                      .effect = {.kind = ObstacleEffect::Kind::kMultiplyCost, .amount = 2.0}};
    obstacle.shape.discs = {
        {.center = {static_cast<double>(cells[i].x), static_cast<double>(cells[i].y)}, .radius = 1.0}};
    edits.emplace_back(PutObstacle{.obstacle = std::move(obstacle)});
  }
  return edits.empty() ? map : ApplyEdits(map, edits).value().map;
}

// So many cells of a rectangle, evenly.
inline std::vector<Cell> Spread(const Rectangle& area, int count) {
  std::vector<Cell> cells;
  for (int i = 0; i < count; ++i) {
    const std::int64_t number = area.area() * i / count;
    cells.push_back(
        {area.x + static_cast<int>(number % area.width), area.y + static_cast<int>(number / area.width)});
  }
  return cells;
}

}  // namespace waystar::core
