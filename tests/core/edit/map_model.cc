#include "tests/core/edit/map_model.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/elements/obstacle_table.h"
#include "tests/testing/shape_judge.h"

namespace waystar::testing {
namespace {

using core::Cell;
using core::GridMap;
using core::Obstacle;
using core::ObstacleEffect;
using core::Point;
using core::Rectangle;
using core::Shape;

void Move(Shape& shape, double dx, double dy) {
  for (Cell& cell : shape.cells) {
    cell = {cell.x + static_cast<int>(dx), cell.y + static_cast<int>(dy)};
  }
  for (Rectangle& r : shape.rectangles) {
    r = {r.x + static_cast<int>(dx), r.y + static_cast<int>(dy), r.width, r.height};
  }
  const auto move = [&](Point& point) { point = {point.x + dx, point.y + dy}; };
  for (core::Disc& disc : shape.discs) {
    move(disc.center);
  }
  for (core::Polygon& polygon : shape.polygons) {
    std::for_each(polygon.vertices.begin(), polygon.vertices.end(), move);
  }
  for (core::Line& line : shape.lines) {
    move(line.start);
    move(line.end);
  }
}

// Some rectangle that no cell of the shape lies outside.
Rectangle BoxAround(const Shape& shape) {
  Rectangle box;
  const auto add = [&](const Point& point, double reach) {
    const int around = static_cast<int>(std::ceil(reach)) + 1;
    const Cell cell{static_cast<int>(std::floor(point.x)), static_cast<int>(std::floor(point.y))};
    box = Extend(Extend(box, {cell.x - around, cell.y - around}), {cell.x + around, cell.y + around});
  };
  for (const Cell cell : shape.cells) {
    box = Extend(box, cell);
  }
  for (const Rectangle& r : shape.rectangles) {
    box = Extend(Extend(box, {r.x, r.y}), {r.x + r.width - 1, r.y + r.height - 1});
  }
  for (const core::Disc& disc : shape.discs) {
    add(disc.center, disc.radius);
  }
  for (const core::Polygon& polygon : shape.polygons) {
    for (const Point& vertex : polygon.vertices) {
      add(vertex, 0);
    }
  }
  for (const core::Line& line : shape.lines) {
    add(line.start, line.width);
    add(line.end, line.width);
  }
  return box;
}

double StrengthAt(const Obstacle& obstacle, Cell cell) {
  if (obstacle.effect.falloff == ObstacleEffect::Falloff::kNone) {
    return 1.0;
  }
  const core::Disc& disc = obstacle.shape.discs[0];
  const double dx = cell.x - disc.center.x;
  const double dy = cell.y - disc.center.y;
  const double distance = std::sqrt(dx * dx + dy * dy);
  return distance == 0 ? 1.0 : 1.0 - distance / disc.radius;
}

}  // namespace

MapModel::MapModel(const GridMap& map) : map_(map) {
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      terrains_.push_back(map.TerrainAt({x, y}));
      blocked_.push_back(map.HasNamelessObstacle({x, y}));
    }
  }
}

template <typename Visitor>
void MapModel::ForEachCellOf(const Shape& shape, Visitor visit) const {
  const Rectangle box = Intersect(BoxAround(shape), map_.bounds());
  for (int y = box.y; y < box.y + box.height; ++y) {
    for (int x = box.x; x < box.x + box.width; ++x) {
      if (IsCovered(shape, {x, y})) {
        visit(Cell{x, y});
      }
    }
  }
}

void MapModel::Apply(const core::Edit& edit) {
  effects_.clear();
  if (const auto* block = std::get_if<core::BlockCells>(&edit)) {
    ForEachCellOf(block->shape, [&](Cell cell) { blocked_[IndexOf(cell)] = true; });
  } else if (const auto* unblock = std::get_if<core::UnblockCells>(&edit)) {
    ForEachCellOf(unblock->shape, [&](Cell cell) { blocked_[IndexOf(cell)] = false; });
  } else if (const auto* terrain = std::get_if<core::SetTerrain>(&edit)) {
    ForEachCellOf(terrain->shape, [&](Cell cell) { terrains_[IndexOf(cell)] = IdOf(terrain->symbol); });
  } else if (const auto* put = std::get_if<core::PutObstacle>(&edit)) {
    obstacles_[put->obstacle.id] = put->obstacle;
  } else if (const auto* move = std::get_if<core::MoveObstacle>(&edit)) {
    Move(obstacles_[move->id].shape, move->dx, move->dy);
  } else if (const auto* resize = std::get_if<core::ResizeObstacle>(&edit)) {
    obstacles_[resize->id].shape = resize->shape;
  } else {
    obstacles_.erase(std::get<core::RemoveObstacle>(edit).id);
  }
}

core::Cost MapModel::StraightCost(Cell cell) const {
  const core::Terrain& terrain = map_.settings().terrains[TerrainAt(cell)];
  const Effects& effects = EffectsAt(cell);
  return core::CostFromDouble(std::clamp(terrain.cost * effects.factor + effects.addition,
                                         core::kMinTerrainCost, core::kMaxTerrainCost));
}

core::TerrainId MapModel::IdOf(char symbol) const {
  const std::vector<core::Terrain>& all = map_.settings().terrains;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const core::Terrain& terrain) { return terrain.symbol == symbol; });
  return static_cast<core::TerrainId>(found - all.begin());
}

const MapModel::Effects& MapModel::EffectsAt(Cell cell) const {
  if (effects_.empty()) {
    effects_.resize(blocked_.size());
    for (const auto& [id, obstacle] : obstacles_) {
      AddEffects(obstacle);
    }
  }
  return effects_[IndexOf(cell)];
}

void MapModel::AddEffects(const Obstacle& obstacle) const {
  const ObstacleEffect& effect = obstacle.effect;
  ForEachCellOf(obstacle.shape, [&](Cell cell) {
    Effects& effects = effects_[IndexOf(cell)];
    switch (effect.kind) {
      case ObstacleEffect::Kind::kBlock:
        effects.is_blocked = true;
        break;
      case ObstacleEffect::Kind::kMultiplyCost:
        effects.factor *= 1.0 + (effect.amount - 1.0) * StrengthAt(obstacle, cell);
        break;
      case ObstacleEffect::Kind::kAddCost:
        effects.addition += effect.amount * StrengthAt(obstacle, cell);
        break;
    }
  });
}

void ExpectIs(const GridMap& map, const MapModel& model, const std::string& where) {
  std::int64_t obstacles = 0;
  std::int64_t walkable = 0;
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      const Cell cell{x, y};
      const bool has_obstacle = model.HasObstacle(cell);
      const bool is_walkable = model.IsPassable(cell) && !has_obstacle;
      const bool is_same =
          map.HasObstacle(cell) == has_obstacle && map.HasNamelessObstacle(cell) == model.HasNameless(cell) &&
          map.IsWalkable(cell) == is_walkable && map.TerrainAt(cell) == model.TerrainAt(cell) &&
          (!model.IsPassable(cell) || map.StraightCost(cell) == model.StraightCost(cell));
      EXPECT_TRUE(is_same) << x << ", " << y << ": obstacle " << has_obstacle << ", nameless "
                           << model.HasNameless(cell) << ", terrain " << int{model.TerrainAt(cell)}
                           << ", cost " << model.StraightCost(cell) << ", but " << map.HasObstacle(cell)
                           << ", " << map.HasNamelessObstacle(cell) << ", " << int{map.TerrainAt(cell)}
                           << ", " << map.StraightCost(cell) << ", " << where;
      obstacles += has_obstacle ? 1 : 0;
      walkable += is_walkable ? 1 : 0;
    }
  }
  EXPECT_EQ(map.obstacle_cells(), obstacles) << where;
  EXPECT_EQ(map.walkable_cells(), walkable) << where;
  std::vector<std::string> ids;
  map.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
    ids.push_back(obstacle.id);
    return true;
  });
  std::vector<std::string> wanted;
  for (const auto& [id, obstacle] : model.obstacles()) {
    wanted.push_back(id);
    const std::shared_ptr<const Obstacle> found = map.obstacles().Find(id);
    EXPECT_TRUE(found != nullptr && found->shape == obstacle.shape && found->effect == obstacle.effect)
        << id << " " << where;
  }
  EXPECT_EQ(ids, wanted) << where;
}

}  // namespace waystar::testing
