#include "server/core/edit/batch_editor.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/map/obstacle_table.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/random.h"
#include "tests/testing/shape_judge.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Generator;
using ::waystar::testing::IsCovered;
using ::waystar::testing::Random;
using ::waystar::testing::RandomShape;

// A map as a list of what lies on it, asked anew for each cell.
class MapModel {
 public:
  explicit MapModel(const GridMap& map) : map_(map) {
    for (int y = 0; y < map.height(); ++y) {
      for (int x = 0; x < map.width(); ++x) {
        terrains_.push_back(map.TerrainAt({x, y}));
        blocked_.push_back(map.HasNamelessObstacle({x, y}));
      }
    }
  }

  void Apply(const Edit& edit) {
    if (const auto* block = std::get_if<BlockCells>(&edit)) {
      Paint(block->shape, [&](std::size_t i) { blocked_[i] = true; });
    } else if (const auto* unblock = std::get_if<UnblockCells>(&edit)) {
      Paint(unblock->shape, [&](std::size_t i) { blocked_[i] = false; });
    } else if (const auto* terrain = std::get_if<SetTerrain>(&edit)) {
      Paint(terrain->shape, [&](std::size_t i) { terrains_[i] = IdOf(terrain->symbol); });
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

  TerrainId TerrainAt(Cell cell) const { return terrains_[IndexOf(cell)]; }
  bool HasNameless(Cell cell) const { return blocked_[IndexOf(cell)]; }
  bool HasObstacle(Cell cell) const {
    return HasNameless(cell) || std::any_of(obstacles_.begin(), obstacles_.end(), [&](const auto& entry) {
             return entry.second.effect.kind == ObstacleEffect::Kind::kBlock &&
                    IsCovered(entry.second.shape, cell);
           });
  }
  bool IsPassable(Cell cell) const { return !map_.settings().terrains[TerrainAt(cell)].impassable; }
  Cost StraightCost(Cell cell) const {
    const Terrain& terrain = map_.settings().terrains[TerrainAt(cell)];
    double factor = 1.0;
    double addition = 0.0;
    for (const auto& [id, obstacle] : obstacles_) {
      const ObstacleEffect& effect = obstacle.effect;
      if (effect.kind == ObstacleEffect::Kind::kBlock || !IsCovered(obstacle.shape, cell)) {
        continue;
      }
      double strength = 1.0;
      if (effect.falloff == ObstacleEffect::Falloff::kLinear) {
        const Disc& disc = obstacle.shape.discs[0];
        const double dx = cell.x - disc.center.x;
        const double dy = cell.y - disc.center.y;
        const double distance = std::sqrt(dx * dx + dy * dy);
        strength = distance == 0 ? 1.0 : 1.0 - distance / disc.radius;
      }
      if (effect.kind == ObstacleEffect::Kind::kMultiplyCost) {
        factor *= 1.0 + (effect.amount - 1.0) * strength;
      } else {
        addition += effect.amount * strength;
      }
    }
    return CostFromDouble(std::clamp(terrain.cost * factor + addition, kMinTerrainCost, kMaxTerrainCost));
  }
  const std::map<std::string, Obstacle>& obstacles() const { return obstacles_; }

 private:
  std::size_t IndexOf(Cell cell) const { return static_cast<std::size_t>(cell.y * map_.width() + cell.x); }

  TerrainId IdOf(char symbol) const {
    const std::vector<Terrain>& all = map_.settings().terrains;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Terrain& terrain) { return terrain.symbol == symbol; });
    return static_cast<TerrainId>(found - all.begin());
  }

  template <typename Painter>
  void Paint(const Shape& shape, Painter paint) {
    for (int y = 0; y < map_.height(); ++y) {
      for (int x = 0; x < map_.width(); ++x) {
        if (IsCovered(shape, {x, y})) {
          paint(IndexOf({x, y}));
        }
      }
    }
  }

  static void Move(Shape& shape, double dx, double dy) {
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

  GridMap map_;
  std::vector<TerrainId> terrains_;
  std::vector<bool> blocked_;
  std::map<std::string, Obstacle> obstacles_;
};

template <typename Visitor>
void ForEachCellOf(const GridMap& map, Visitor visit) {
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      visit(Cell{x, y});
    }
  }
}

void ExpectIs(const GridMap& map, const MapModel& model, const std::string& where) {
  std::int64_t obstacles = 0;
  std::int64_t walkable = 0;
  ForEachCellOf(map, [&](Cell cell) {
    const std::string at = absl::StrCat(cell.x, ", ", cell.y, " ", where);
    const bool has_obstacle = model.HasObstacle(cell);
    const bool is_walkable = model.IsPassable(cell) && !has_obstacle;
    EXPECT_EQ(map.HasObstacle(cell), has_obstacle) << at;
    EXPECT_EQ(map.HasNamelessObstacle(cell), model.HasNameless(cell)) << at;
    EXPECT_EQ(map.IsWalkable(cell), is_walkable) << at;
    EXPECT_EQ(map.TerrainAt(cell), model.TerrainAt(cell)) << at;
    if (model.IsPassable(cell)) {
      EXPECT_EQ(map.StraightCost(cell), model.StraightCost(cell)) << at;
    }
    obstacles += has_obstacle ? 1 : 0;
    walkable += is_walkable ? 1 : 0;
  });
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
    const Obstacle* found = map.obstacles().Find(id);
    EXPECT_TRUE(found != nullptr && found->shape == obstacle.shape) << id << " " << where;
  }
  EXPECT_EQ(ids, wanted) << where;
}

class EditMaker {
 public:
  EditMaker(Random& random, int side) : random_(random), side_(side) {}

  Edit Make(const GridMap& map) {
    const std::string id = absl::StrCat("o", random_.Between(1, 6));
    switch (random_.Between(0, 8)) {
      case 0:
        return BlockCells{RandomShape(random_, side_)};
      case 1:
        return UnblockCells{RandomShape(random_, side_)};
      case 2: {
        const std::vector<Terrain>& terrains = map.settings().terrains;
        const int last = static_cast<int>(terrains.size()) - 1;
        return SetTerrain{RandomShape(random_, side_),
                          terrains[static_cast<std::size_t>(random_.Between(0, last))].symbol};
      }
      case 3:
        return RemoveObstacle{id};
      case 4:
        return ResizeObstacle{id, RandomShape(random_, side_)};
      case 5:
      case 6:
        return MoveObstacle{id, 1.0 * random_.Between(-3, 3), 1.0 * random_.Between(-3, 3)};
      default:
        return PutObstacle{.obstacle = MakeObstacle(id), .replace = random_.Chance(0.8)};
    }
  }

 private:
  Obstacle MakeObstacle(const std::string& id) {
    Obstacle obstacle{.id = id, .shape = RandomShape(random_, side_)};
    ObstacleEffect& effect = obstacle.effect;
    if (random_.Chance(0.3)) {
      effect = {.kind = ObstacleEffect::Kind::kMultiplyCost, .amount = 0.25 * random_.Between(1, 20)};
    } else if (random_.Chance(0.4)) {
      effect = {.kind = ObstacleEffect::Kind::kAddCost, .amount = 0.5 * random_.Between(-4, 20)};
    }
    if (effect.kind != ObstacleEffect::Kind::kBlock && random_.Chance(0.5)) {
      obstacle.shape = {.discs = {{{0.5 * random_.Between(0, 40), 0.5 * random_.Between(0, 40)},
                                   0.5 * random_.Between(0, 12)}}};
      effect.falloff = ObstacleEffect::Falloff::kLinear;
    }
    return obstacle;
  }

  Random& random_;
  int side_;
};

void ExpectCounts(const BatchResult& result, const GridMap& map, const MapModel& before,
                  const MapModel& after) {
  std::int64_t changed = 0;
  Rectangle bounds;
  ForEachCellOf(map, [&](Cell cell) {
    const bool costs_differ = before.IsPassable(cell) && after.IsPassable(cell) &&
                              before.StraightCost(cell) != after.StraightCost(cell);
    if (before.HasObstacle(cell) != after.HasObstacle(cell) ||
        before.TerrainAt(cell) != after.TerrainAt(cell) || costs_differ) {
      ++changed;
      bounds = Extend(bounds, cell);
    }
  });
  EXPECT_EQ(result.changed_cells, changed);
  EXPECT_EQ(result.changed_bounds, bounds);
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
    Random random(seed);
    GridMap map = generator.Map({.max_side = 40, .max_cells = 900, .weighted = true});
    MapModel model(map);
    EditMaker maker(random, std::max(map.width(), map.height()));
    for (int revision = 0; revision < 6; ++revision) {
      BatchEditor editor(map);
      for (int batch = random.Between(1, 4); batch > 0; --batch) {
        std::vector<Edit> edits;
        MapModel next = model;
        for (int edit = random.Between(1, 4); edit > 0; --edit) {
          edits.push_back(maker.Make(map));
        }
        const auto result = editor.Apply(edits, absl::UnixEpoch());
        if (!result.ok()) {
          ++refused;
          continue;
        }
        ++applied;
        std::for_each(edits.begin(), edits.end(), [&](const Edit& edit) { next.Apply(edit); });
        ExpectCounts(*result, map, model, next);
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

}  // namespace
}  // namespace waystar::core
