#include "tests/testing/generator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "server/core/map/grid_map_editor.h"

namespace waystar::testing {
namespace {

using core::Cell;
using core::Edit;
using core::GridMap;
using core::GridMapEditor;
using core::Terrain;

core::GridSettings WeightedSettings() {
  core::GridSettings settings;
  settings.terrains = {{.symbol = '.', .name = "ground", .cost = 1.0},
                       {.symbol = '=', .name = "road", .cost = 0.5},
                       {.symbol = '~', .name = "swamp", .cost = 2.3},
                       {.symbol = '%', .name = "rubble", .cost = 7.25},
                       {.symbol = '^', .name = "cliff", .impassable = true}};
  return settings;
}

}  // namespace

int Generator::Between(int low, int high) {
  // Not std::uniform_int_distribution, whose results differ between standard libraries.
  return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
}

bool Generator::Chance(double probability) {
  return static_cast<double>(random_() >> 11) < probability * 9007199254740992.0;
}

GridMap Generator::Map(const MapSpec& spec) {
  const auto side = [&] {
    if (spec.max_side >= 66 && Chance(0.3)) {
      const int words = Between(1, (spec.max_side - 2) / 64);
      return words * 64 + Between(-2, 2);
    }
    return Between(1, spec.max_side);
  };
  core::GridSettings settings = spec.weighted ? WeightedSettings() : core::GridSettings{};
  settings.connectivity = spec.connectivity;
  if (Chance(0.3)) {
    settings.diagonal_cost = 1.0 + 0.1 * Between(0, 10);
  }
  absl::StatusOr<GridMap> map = GridMap::Create(side(), side(), std::move(settings));
  EXPECT_TRUE(map.ok()) << map.status();
  if (spec.weighted) {
    PaintTerrain(*map);
  }
  switch (Between(0, 3)) {
    case 0:
      Rooms(*map);
      break;
    case 1:
      Maze(*map);
      break;
    default:
      Noise(*map);
  }
  return *std::move(map);
}

void Generator::Noise(GridMap& map) {
  const double density = 0.05 * Between(0, 11);
  GridMapEditor editor(map);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      if (Chance(density)) {
        editor.SetObstacle({x, y}, true);
      }
    }
  }
  map = std::move(editor).Finish();
}

void Generator::Rooms(GridMap& map) {
  const int pitch = Between(3, 9);
  const double door = 0.1 * Between(1, 4);
  GridMapEditor editor(map);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      if ((x % pitch == 0 || y % pitch == 0) && !Chance(door)) {
        editor.SetObstacle({x, y}, true);
      }
    }
  }
  map = std::move(editor).Finish();
}

// A binary tree maze: each odd cell opens to the north or to the west.
void Generator::Maze(GridMap& map) {
  GridMapEditor editor(map);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      editor.SetObstacle({x, y}, x % 2 == 0 || y % 2 == 0);
    }
  }
  for (int y = 1; y < map.height(); y += 2) {
    for (int x = 1; x < map.width(); x += 2) {
      editor.SetObstacle(Chance(0.5) ? Cell{x - 1, y} : Cell{x, y - 1}, false);
    }
  }
  map = std::move(editor).Finish();
}

void Generator::PaintTerrain(GridMap& map) {
  const auto terrains = static_cast<int>(map.settings().terrains.size());
  std::vector<core::TerrainId> row(static_cast<std::size_t>(map.width()));
  GridMapEditor editor(map);
  core::TerrainId terrain = 0;
  for (int y = 0; y < map.height(); ++y) {
    for (core::TerrainId& cell : row) {
      if (Chance(0.25)) {
        terrain = static_cast<core::TerrainId>(Between(0, terrains - 1));
      }
      cell = terrain;
    }
    editor.SetRow(y, row);
  }
  map = std::move(editor).Finish();
}

Cell Generator::CellOf(const GridMap& map) {
  return {Between(0, map.width() - 1), Between(0, map.height() - 1)};
}

Cell Generator::WalkableCellOf(const GridMap& map) {
  Cell cell = CellOf(map);
  for (int tries = 0; tries < 1000 && !map.IsWalkable(cell); ++tries) {
    cell = CellOf(map);
  }
  return cell;
}

std::vector<Edit> Generator::Edits(const GridMap& map, int count) {
  std::vector<Edit> edits(static_cast<std::size_t>(count));
  for (Edit& edit : edits) {
    edit.kind = Chance(0.5) ? Edit::Kind::kBlock : Edit::Kind::kUnblock;
    const Cell cell = CellOf(map);
    if (Chance(0.5)) {
      edit.shape.cells.push_back(cell);
    } else {
      edit.shape.rectangles.push_back(
          {cell.x - Between(0, 3), cell.y - Between(0, 3), Between(4, 9), Between(4, 9)});
    }
  }
  return edits;
}

}  // namespace waystar::testing
