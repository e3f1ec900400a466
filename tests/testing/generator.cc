#include "tests/testing/generator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "server/core/edit/edit_plan.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/testing/layouts.h"
#include "tests/testing/oracle.h"
#include "tests/testing/shape_judge.h"

namespace waystar {
namespace {

using core::Cell;
using core::Edit;
using core::GridMap;
using core::GridMapEditor;
using core::ObstacleEffect;

core::GridSettings WeightedSettings() {
  core::GridSettings settings;
  settings.terrains = {{.symbol = '.', .name = "ground", .cost = 1.0},
                       {.symbol = '=', .name = "road", .cost = 0.5},
                       {.symbol = '~', .name = "swamp", .cost = 2.3},
                       {.symbol = '%', .name = "rubble", .cost = 7.25},
                       {.symbol = '^', .name = "cliff", .impassable = true}};
  return settings;
}

int SideOf(const GridMap& map) { return std::max(map.width(), map.height()); }

}  // namespace

int Generator::Side(int longest) {
  if (longest >= 66 && Chance(0.5)) {
    return Between(1, (longest - 2) / 64) * 64 + Between(-2, 2);
  }
  return Between(1, longest);
}

GridMap Generator::Map(const MapSpec& spec) {
  core::GridSettings settings;
  if (spec.weighted) {
    settings = WeightedSettings();
  }
  settings.connectivity = spec.connectivity;
  if (Chance(0.3)) {
    settings.diagonal_cost = 1.0 + 0.1 * Between(0, 10);
  }
  if (spec.connectivity == core::Connectivity::kSix) {
    settings.diagonal_cost = 1.0;
    settings.frame.hexagons = core::HexBoard{};
  }
  int width = Side(spec.max_side);
  int height = Side(std::min(spec.max_side, std::max(1, spec.max_cells / width)));
  if (Chance(0.5)) {
    std::swap(width, height);
  }
  absl::StatusOr<GridMap> map = GridMap::Create(width, height, std::move(settings));
  EXPECT_TRUE(map.ok()) << map.status();
  if (spec.weighted) {
    PaintTerrain(*map);
  }
  LayObstacles(*map);
  return *std::move(map);
}

void Generator::LayObstacles(GridMap& map) {
  switch (Between(0, 8)) {
    case 0:
      return LayRooms(random_, Between(3, 9), 0.1 * Between(1, 4), map);
    case 1:
      return LayMaze(random_, Between(1, 3), 0.1 * Between(0, 3), map);
    case 2:
      return LayCaves(random_, Between(1, 4), map);
    case 3:
      return LayField(random_, Between(0, 6), map);
    case 4:
      return LayCorridor(random_, Between(1, 3), Between(1, 12), map);
    case 5:
      return LayIslands(random_, 1 + map.width() * map.height() / Between(6, 30), Between(1, 5), map);
    default:
      return LayNoise(random_, 0.05 * Between(0, 13), map);
  }
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

GridMap Generator::WithStepCostsChanged(const GridMap& map) {
  constexpr double kCosts[] = {core::kMinTerrainCost, 0.3, 0.5, 1.0, 1.001, 1.5, 2.3, 6.0, 40.0,
                               core::kMaxTerrainCost};
  GridMapEditor editor(map);
  for (int i = Between(1, 5); i > 0; --i) {
    const Cell centre = CellOf(map);
    const bool is_disc = Chance(0.5);
    const bool is_taken_away = Chance(0.2);
    const int radius = Chance(0.3) ? 0 : Between(1, 9);
    const double cost = kCosts[Between(0, static_cast<int>(std::size(kCosts)) - 1)];
    for (int y = std::max(centre.y - radius, 0); y <= std::min(centre.y + radius, map.height() - 1); ++y) {
      for (int x = std::max(centre.x - radius, 0); x <= std::min(centre.x + radius, map.width() - 1); ++x) {
        const double distance = std::hypot(x - centre.x, y - centre.y);
        if (is_taken_away) {
          editor.SetStepCost({x, y}, std::nullopt);
        } else if (!is_disc) {
          editor.SetStepCost({x, y}, core::CostFromDouble(cost));
        } else if (distance <= radius) {
          editor.SetStepCost({x, y},
                             core::CostFromDouble(1.0 + (cost - 1.0) * (1.0 - distance / (radius + 1))));
        }
      }
    }
  }
  return std::move(editor).Finish();
}

Cell Generator::CellOf(const GridMap& map) {
  return {Between(0, map.width() - 1), Between(0, map.height() - 1)};
}

Cell Generator::WalkableCellOf(const GridMap& map, int footprint) {
  Cell cell = CellOf(map);
  for (int tries = 0; tries < 1000 && !CanStand(map, cell, footprint); ++tries) {
    cell = CellOf(map);
  }
  return cell;
}

std::vector<Edit> Generator::Edits(const GridMap& map, int count) {
  std::vector<Edit> edits;
  for (int i = 0; i < count; ++i) {
    const bool block = Chance(0.5);
    core::Shape shape;
    const Cell cell = CellOf(map);
    if (Chance(0.5)) {
      shape.cells.push_back(cell);
    } else {
      shape.rectangles.push_back(
          {cell.x - Between(0, 3), cell.y - Between(0, 3), Between(4, 9), Between(4, 9)});
    }
    if (block) {
      edits.emplace_back(core::BlockCells{std::move(shape)});
    } else {
      edits.emplace_back(core::UnblockCells{std::move(shape)});
    }
  }
  return edits;
}

core::Obstacle Generator::ObstacleOf(const GridMap& map, std::string id) {
  core::Obstacle obstacle{.id = std::move(id), .shape = RandomShape(random_, SideOf(map))};
  ObstacleEffect& effect = obstacle.effect;
  if (Chance(0.3)) {
    effect = {.kind = ObstacleEffect::Kind::kMultiplyCost, .amount = 0.25 * Between(1, 20)};
  } else if (Chance(0.4)) {
    effect = {.kind = ObstacleEffect::Kind::kAddCost, .amount = 0.5 * Between(-4, 20)};
  }
  if (effect.kind != ObstacleEffect::Kind::kBlock && Chance(0.5)) {
    const Cell cell = CellOf(map);
    obstacle.shape = {
        .discs = {{{cell.x + 0.5 * Between(-1, 1), cell.y + 0.5 * Between(-1, 1)}, 0.5 * Between(0, 12)}}};
    effect.falloff = ObstacleEffect::Falloff::kLinear;
  }
  return obstacle;
}

Edit Generator::AnyEdit(const GridMap& map) {
  const auto shape = [&] { return RandomShape(random_, SideOf(map)); };
  std::string id = absl::StrCat("o", Between(1, 6));
  switch (Between(0, 8)) {
    case 0:
      return core::BlockCells{shape()};
    case 1:
      return core::UnblockCells{shape()};
    case 2: {
      const std::vector<core::Terrain>& terrains = map.settings().terrains;
      const int last = static_cast<int>(terrains.size()) - 1;
      return core::SetTerrain{shape(), terrains[static_cast<std::size_t>(Between(0, last))].symbol};
    }
    case 3:
      return core::RemoveObstacle{std::move(id)};
    case 4:
      return core::ResizeObstacle{std::move(id), shape()};
    case 5:
    case 6:
      return core::MoveObstacle{std::move(id), 1.0 * Between(-3, 3), 1.0 * Between(-3, 3)};
    default:
      return core::PutObstacle{.obstacle = ObstacleOf(map, std::move(id)), .replace = Chance(0.8)};
  }
}

std::vector<Edit> Generator::AnyEdits(const GridMap& map, int count) {
  std::vector<Edit> edits;
  while (static_cast<int>(edits.size()) < count) {
    edits.push_back(AnyEdit(map));
    if (!core::PlanEdits(map, edits, absl::UnixEpoch()).ok()) {
      edits.pop_back();
    }
  }
  return edits;
}

}  // namespace waystar
