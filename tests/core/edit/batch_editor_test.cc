#include "server/core/edit/batch_editor.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"
#include "tests/testing/generator.h"
#include "tests/testing/shape_judge.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

// A map as a list of what lies on it: a slow and obvious judge of edits.
class MapModel {
 public:
  explicit MapModel(const GridMap& map);

  // REQUIRES: the map accepts it.
  void Apply(const Edit& edit);

  TerrainId TerrainAt(Cell cell) const { return terrains_[IndexOf(cell)]; }
  bool HasNameless(Cell cell) const { return blocked_[IndexOf(cell)]; }
  bool IsCovered(Cell cell) const { return EffectsAt(cell).is_blocked; }
  bool HasObstacle(Cell cell) const { return HasNameless(cell) || IsCovered(cell); }
  bool IsPassable(Cell cell) const { return !map_.settings().terrains[TerrainAt(cell)].impassable; }
  Cost StraightCost(Cell cell) const;
  const std::map<std::string, Obstacle>& obstacles() const { return obstacles_; }

 private:
  // Combined effect of all named obstacles on one cell.
  struct Effects {
    bool is_blocked = false;
    double factor = 1.0;
    double addition = 0.0;
  };

  std::size_t IndexOf(Cell cell) const { return static_cast<std::size_t>(cell.y * map_.width() + cell.x); }
  TerrainId IdOf(char symbol) const;
  const Effects& EffectsAt(Cell cell) const;
  void AddEffects(const Obstacle& obstacle) const;

  template <typename Visitor>
  void ForEachCellOf(const Shape& shape, Visitor visit) const;

  GridMap map_;
  std::vector<TerrainId> terrains_;
  std::vector<bool> blocked_;
  // By id, which is the order in which their effects add up.
  std::map<std::string, Obstacle> obstacles_;
  // Worked out when they are asked for; empty while they are not known.
  mutable std::vector<Effects> effects_;
};

void Move(Shape& shape, double dx, double dy) {
  for (Cell& cell : shape.cells) {
    cell = {cell.x + static_cast<int>(dx), cell.y + static_cast<int>(dy)};
  }
  for (Rectangle& r : shape.rectangles) {
    r = {r.x + static_cast<int>(dx), r.y + static_cast<int>(dy), r.width, r.height};
  }
  const auto move = [&](Point& point) { point = {point.x + dx, point.y + dy}; };
  for (Disc& disc : shape.discs) {
    move(disc.center);
  }
  for (Polygon& polygon : shape.polygons) {
    std::for_each(polygon.vertices.begin(), polygon.vertices.end(), move);
  }
  for (Line& line : shape.lines) {
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
  for (const Disc& disc : shape.discs) {
    add(disc.center, disc.radius);
  }
  for (const Polygon& polygon : shape.polygons) {
    for (const Point& vertex : polygon.vertices) {
      add(vertex, 0);
    }
  }
  for (const Line& line : shape.lines) {
    add(line.start, line.width);
    add(line.end, line.width);
  }
  return box;
}

double StrengthAt(const Obstacle& obstacle, Cell cell) {
  if (obstacle.effect.falloff == ObstacleEffect::Falloff::kNone) {
    return 1.0;
  }
  const Disc& disc = obstacle.shape.discs[0];
  const double dx = cell.x - disc.center.x;
  const double dy = cell.y - disc.center.y;
  const double distance = std::sqrt(dx * dx + dy * dy);
  return distance == 0 ? 1.0 : 1.0 - distance / disc.radius;
}

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
      if (waystar::IsCovered(shape, {x, y})) {
        visit(Cell{x, y});
      }
    }
  }
}

void MapModel::Apply(const Edit& edit) {
  effects_.clear();
  if (const auto* block = std::get_if<BlockCells>(&edit)) {
    ForEachCellOf(block->shape, [&](Cell cell) { blocked_[IndexOf(cell)] = true; });
  } else if (const auto* unblock = std::get_if<UnblockCells>(&edit)) {
    ForEachCellOf(unblock->shape, [&](Cell cell) { blocked_[IndexOf(cell)] = false; });
  } else if (const auto* terrain = std::get_if<SetTerrain>(&edit)) {
    ForEachCellOf(terrain->shape, [&](Cell cell) { terrains_[IndexOf(cell)] = IdOf(terrain->symbol); });
  } else if (const auto* put = std::get_if<PutObstacle>(&edit)) {
    obstacles_[put->obstacle.id] = put->obstacle;
  } else if (const auto* move = std::get_if<MoveObstacle>(&edit)) {
    Move(obstacles_[move->id].shape, move->dx, move->dy);
  } else if (const auto* resize = std::get_if<ResizeObstacle>(&edit)) {
    obstacles_[resize->id].shape = resize->shape;
  } else {
    obstacles_.erase(std::get<RemoveObstacle>(edit).id);
  }
}

Cost MapModel::StraightCost(Cell cell) const {
  const Terrain& terrain = map_.settings().terrains[TerrainAt(cell)];
  const Effects& effects = EffectsAt(cell);
  return CostFromDouble(
      std::clamp(terrain.cost * effects.factor + effects.addition, kMinTerrainCost, kMaxTerrainCost));
}

TerrainId MapModel::IdOf(char symbol) const {
  const std::vector<Terrain>& all = map_.settings().terrains;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Terrain& terrain) { return terrain.symbol == symbol; });
  return static_cast<TerrainId>(found - all.begin());
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
          map.IsCovered(cell) == model.IsCovered(cell) && map.IsWalkable(cell) == is_walkable &&
          map.TerrainAt(cell) == model.TerrainAt(cell) &&
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

template <typename Visitor>
void ForEachCellOf(const GridMap& map, Visitor visit) {
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      visit(Cell{x, y});
    }
  }
}

void ExpectCounts(const ChangeSummary& result, std::vector<Rectangle> areas, const GridMap& map,
                  const MapModel& before, const MapModel& after) {
  if (areas.empty()) {
    areas.push_back(result.changed_bounds);
  }
  std::int64_t changed = 0;
  Rectangle bounds;
  ForEachCellOf(map, [&](Cell cell) {
    const bool costs_differ = before.IsPassable(cell) && after.IsPassable(cell) &&
                              before.StraightCost(cell) != after.StraightCost(cell);
    if (before.HasObstacle(cell) != after.HasObstacle(cell) ||
        before.TerrainAt(cell) != after.TerrainAt(cell) || costs_differ) {
      ++changed;
      bounds = Extend(bounds, cell);
      EXPECT_TRUE(std::ranges::any_of(areas, [&](const Rectangle& area) { return area.Contains(cell); }));
    }
  });
  EXPECT_EQ(result.changed_cells, changed);
  EXPECT_EQ(result.changed_bounds, bounds);
  Rectangle around_areas;
  for (const Rectangle& area : areas) {
    around_areas = Union(around_areas, area);
  }
  EXPECT_EQ(around_areas, bounds);
}

void ExpectLists(const MapChanges& changes, const GridMap& before, const GridMap& after) {
  ASSERT_FALSE(changes.is_everything);
  std::vector<Cell> walkability;
  std::vector<Cell> cost;
  ForEachCellOf(after, [&](Cell cell) {
    if (before.IsWalkable(cell) != after.IsWalkable(cell)) {
      walkability.push_back(cell);
    } else if (after.IsWalkable(cell) && before.StraightCost(cell) != after.StraightCost(cell)) {
      cost.push_back(cell);
    }
  });
  const auto cells_of = [](const std::vector<WordChange>& words) {
    std::vector<Cell> cells;
    for (const WordChange& word : words) {
      ForEachCell(word, [&](Cell cell) { cells.push_back(cell); });
    }
    return cells;
  };
  EXPECT_EQ(cells_of(changes.walkability), walkability);
  EXPECT_EQ(cells_of(changes.cost), cost);
}

TEST(BatchEditorTest, FoldedBatchesAgreeWithAListOfWhatLiesOnTheMap) {
  int applied = 0;
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Generator generator(seed);
    GridMap map = generator.Map({.max_side = 140, .max_cells = 900, .weighted = true});
    MapModel model(map);
    for (int revision = 0; revision < 6; ++revision) {
      BatchEditor editor(map);
      for (int batch = generator.Between(1, 4); batch > 0; --batch) {
        std::vector<Edit> edits;
        MapModel next = model;
        for (int edit = generator.Between(1, 4); edit > 0; --edit) {
          edits.push_back(generator.AnyEdit(map));
        }
        const auto result = editor.Apply(edits, absl::UnixEpoch());
        if (!result.ok()) {
          ++refused;
          continue;
        }
        ++applied;
        std::for_each(edits.begin(), edits.end(), [&](const Edit& edit) { next.Apply(edit); });
        ExpectCounts(*result, editor.changed_areas(), map, model, next);
        model = std::move(next);
      }
      BatchEditor::Result result = std::move(editor).Finish();
      ExpectIs(result.map, model, absl::StrCat("seed ", seed));
      ExpectLists(result.changes, map, result.map);
      map = std::move(result.map);
      if (::testing::Test::HasFailure()) {
        FAIL() << "seed " << seed << " revision " << revision;
      }
    }
  }
  EXPECT_GT(applied, 300);
  EXPECT_GT(refused, 100);
}

GridMap WithAll(const GridMap& map, const std::vector<Edit>& edits, MapModel& model) {
  auto edited = ApplyEdits(map, edits);
  EXPECT_THAT(edited, IsOk());
  for (const Edit& edit : edits) {
    model.Apply(edit);
  }
  return edited.ok() ? std::move(edited->map) : map;
}

// A crowd of all kinds that comes, moves and goes, a thousand of them for each ten rows.
TEST(BatchEditorTest, ManyObstaclesAgreeWithAListOfWhatLiesOnTheMap) {
  constexpr int kObstacles = 10'000;
  Generator generator(1);
  const GridMap empty = *GridMap::Create(256, 100, {});
  MapModel model(empty);
  std::vector<Edit> puts;
  while (puts.size() < kObstacles) {
    const Cell cell = generator.CellOf(empty);
    Obstacle obstacle = generator.ObstacleOf(empty, absl::StrCat("o", puts.size()));
    if (obstacle.effect.falloff == ObstacleEffect::Falloff::kNone) {
      obstacle.shape = {.rectangles = {{cell.x, cell.y, generator.Between(1, 3), generator.Between(1, 3)}}};
    } else {
      obstacle.shape.discs[0].radius = 0.5 * generator.Between(1, 4);
    }
    puts.push_back(PutObstacle{.obstacle = std::move(obstacle)});
  }
  const GridMap full = WithAll(empty, puts, model);
  EXPECT_EQ(full.obstacles().size(), std::size_t{kObstacles});
  ExpectIs(full, model, "after they were laid");

  std::vector<Edit> moves;
  for (int i = 0; i < kObstacles; i += 5) {
    // Away from the nearer edge, so that none leaves the map.
    const Obstacle& obstacle = std::get<PutObstacle>(puts[static_cast<std::size_t>(i)]).obstacle;
    const bool is_left = obstacle.shape.discs.empty() ? obstacle.shape.rectangles[0].x < 128
                                                      : obstacle.shape.discs[0].center.x < 128;
    moves.push_back(MoveObstacle{absl::StrCat("o", i), is_left ? 9.0 : -9.0, 0.0});
  }
  const GridMap moved = WithAll(full, moves, model);
  ExpectIs(moved, model, "after some had moved");

  std::vector<Edit> removals;
  for (int i = 0; i < kObstacles; i += 2) {
    removals.push_back(RemoveObstacle{absl::StrCat("o", i)});
  }
  const GridMap half = WithAll(moved, removals, model);
  EXPECT_EQ(half.obstacles().size(), std::size_t{kObstacles} / 2);
  ExpectIs(half, model, "after half had gone");
  EXPECT_EQ(full.obstacles().size(), std::size_t{kObstacles});

  for (int i = 0; i < kObstacles / 2; ++i) {
    removals[static_cast<std::size_t>(i)] = RemoveObstacle{absl::StrCat("o", 2 * i + 1)};
  }
  const GridMap bare = WithAll(half, removals, model);
  ExpectIs(bare, model, "after all had gone");
  EXPECT_EQ(bare.obstacles().size(), 0U);
  EXPECT_EQ(bare.obstacles().cost_obstacles(), 0U);
  EXPECT_EQ(bare.walkable_cells(), 256 * 100);
}

}  // namespace
}  // namespace waystar::core
