#include "tests/testing/layouts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/core/grid/map/grid_map_editor.h"
#include "server/geometry/cell.h"

namespace waystar {
namespace {

using core::Cell;
using core::GridMap;
using core::GridMapEditor;
using core::Rectangle;

void Fill(GridMapEditor& editor, const Rectangle& wanted, bool obstacle) {
  const Rectangle r = core::Intersect(wanted, editor.map().bounds());
  for (int y = r.y; y < r.y + r.height; ++y) {
    editor.SetObstacles(y, r.x, r.x + r.width, obstacle);
  }
}

// Puts an obstacle where blocked(cell) says so and none elsewhere.
template <typename Predicate>
void Lay(GridMap& map, Predicate blocked) {
  GridMapEditor editor(map);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      editor.SetObstacle({x, y}, blocked(Cell{x, y}));
    }
  }
  map = std::move(editor).Finish();
}

}  // namespace

GridMap PaintedMap(Random& random, int side, int patch, const std::vector<double>& costs) {
  core::GridSettings settings;
  settings.terrains.clear();
  for (const double cost : costs) {
    const auto symbol = static_cast<char>('a' + settings.terrains.size());
    settings.terrains.push_back({.symbol = symbol, .name = std::string(1, symbol), .cost = cost});
  }
  const GridMap blank = GridMap::Create(side, side, std::move(settings)).value();
  GridMapEditor editor(blank);
  for (int y = 0; y < side; y += patch) {
    for (int x = 0; x < side; x += patch) {
      const auto terrain =
          static_cast<core::TerrainId>(random.Between(0, static_cast<int>(costs.size()) - 1));
      for (int row = y; row < std::min(y + patch, side); ++row) {
        editor.SetTerrains(row, x, std::min(x + patch, side), terrain);
      }
    }
  }
  return std::move(editor).Finish();
}

void LayNoise(Random& random, double density, GridMap& map) {
  Lay(map, [&](Cell) { return random.Chance(density); });
}

void LayRooms(Random& random, int pitch, double door, GridMap& map) {
  Lay(map, [&](Cell cell) { return (cell.x % pitch == 0 || cell.y % pitch == 0) && !random.Chance(door); });
}

void LayMaze(Random& random, int width, double loops, GridMap& map) {
  GridMapEditor editor(map);
  Fill(editor, map.bounds(), true);
  const int pitch = width + 1;
  for (int y = 0; y < map.height(); y += pitch) {
    for (int x = 0; x < map.width(); x += pitch) {
      const bool both = random.Chance(loops);
      const bool north = y > 0 && (x == 0 || random.Chance(0.5));
      Fill(editor, {x, y, width, width}, false);
      if (north || both) {
        Fill(editor, {x, y - 1, width, 1}, false);
      }
      if (!north || both) {
        Fill(editor, {x - 1, y, 1, width}, false);
      }
    }
  }
  map = std::move(editor).Finish();
}

void LayCaves(Random& random, int rounds, GridMap& map) {
  const int width = map.width();
  const int height = map.height();
  const auto index = [&](Cell cell) { return static_cast<std::size_t>(cell.y * width + cell.x); };
  std::vector<std::uint8_t> rock(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  std::generate(rock.begin(), rock.end(), [&] { return random.Chance(0.45) ? 1 : 0; });
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::uint8_t> next = rock;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        int around = 0;
        for (const Cell step : core::kSteps) {
          const Cell beside{x + step.x, y + step.y};
          around += !map.Contains(beside) || rock[index(beside)] != 0 ? 1 : 0;
        }
        next[index({x, y})] = around + rock[index({x, y})] >= 5 ? 1 : 0;
      }
    }
    rock = std::move(next);
  }
  Lay(map, [&](Cell cell) { return rock[index(cell)] != 0; });
}

void LayField(Random& random, int blocks, GridMap& map) {
  GridMapEditor editor(map);
  Fill(editor, map.bounds(), false);
  for (int i = 0; i < blocks; ++i) {
    const Cell corner{random.Between(0, map.width() - 1), random.Between(0, map.height() - 1)};
    const int width = random.Between(1, 1 + map.width() / 4);
    Fill(editor, {corner.x, corner.y, width, random.Between(1, 1 + map.height() / 4)}, true);
  }
  map = std::move(editor).Finish();
}

void LayCorridor(Random& random, int width, int legs, GridMap& map) {
  GridMapEditor editor(map);
  Fill(editor, map.bounds(), true);
  Cell cell{random.Between(0, map.width() - 1), random.Between(0, map.height() - 1)};
  Fill(editor, {cell.x, cell.y, width, width}, false);
  for (int leg = 0; leg < legs; ++leg) {
    const auto direction = static_cast<core::Direction>(random.Between(0, core::kDirectionCount - 1));
    for (int left = random.Between(1, std::max(map.width(), map.height())); left > 0; --left) {
      const Cell next = core::Step(cell, direction);
      if (!map.Contains(next)) {
        break;
      }
      cell = next;
      Fill(editor, {cell.x, cell.y, width, width}, false);
    }
  }
  map = std::move(editor).Finish();
}

void LayIslands(Random& random, int islands, int side, GridMap& map) {
  GridMapEditor editor(map);
  Fill(editor, map.bounds(), true);
  for (int i = 0; i < islands; ++i) {
    const Cell corner{random.Between(0, map.width() - 1), random.Between(0, map.height() - 1)};
    const int width = random.Between(1, side);
    Fill(editor, {corner.x, corner.y, width, random.Between(1, side)}, false);
  }
  map = std::move(editor).Finish();
}

}  // namespace waystar
