#include "server/core/elements/obstacle_table.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/shapes/shape_raster.h"
#include "tests/testing/random.h"
#include "tests/testing/shape_judge.h"

namespace waystar::core {
namespace {

constexpr Rectangle kBounds{0, 0, 1000, 700};

using Model = std::map<std::string, std::shared_ptr<const Obstacle>>;

std::shared_ptr<const Obstacle> ObstacleAt(const std::string& id, int x, int y, Random& random) {
  Obstacle obstacle{.id = id, .shape = RandomShape(random, 8)};
  if (random.Chance(0.1)) {
    obstacle.shape = {.rectangles = {{x, y, random.Between(1, 900), random.Between(1, 200)}}};
  }
  obstacle.shape.cells.push_back({x, y});
  if (random.Chance(0.4)) {
    obstacle.effect = {.kind = ObstacleEffect::Kind::kAddCost, .amount = 2.0};
  }
  return std::make_shared<const Obstacle>(std::move(obstacle));
}

// Obstacles that are put, put again elsewhere, and removed, in a table and in a plain map.
class Tables {
 public:
  void Put(const std::string& id) {
    const auto obstacle = ObstacleAt(id, random_.Between(0, 999), random_.Between(0, 699), random_);
    table_.Put(obstacle);
    model_[id] = obstacle;
  }

  void Remove(const std::string& id) {
    table_.Remove(id);
    model_.erase(id);
  }

  const ObstacleTable& table() const { return table_; }
  const Model& model() const { return model_; }
  Random& random() { return random_; }

 private:
  Random random_{1};
  ObstacleTable table_{kBounds};
  Model model_;
};

void ExpectHolds(const ObstacleTable& table, const Model& model, Random& random) {
  ASSERT_EQ(table.size(), model.size());
  const auto of_costs = std::count_if(model.begin(), model.end(), [](const auto& entry) {
    return entry.second->effect.kind != ObstacleEffect::Kind::kBlock;
  });
  EXPECT_EQ(table.cost_obstacles(), static_cast<std::size_t>(of_costs));
  std::vector<const Obstacle*> visited;
  table.VisitAfter("", [&](const Obstacle& obstacle) {
    visited.push_back(&obstacle);
    return true;
  });
  std::vector<const Obstacle*> all;
  for (const auto& [id, obstacle] : model) {
    all.push_back(obstacle.get());
    ASSERT_EQ(table.Find(id), obstacle) << id;
  }
  EXPECT_EQ(visited, all);
  for (int i = 0; i < 20; ++i) {
    const Rectangle area{random.Between(-50, 1000), random.Between(-50, 700), random.Between(1, 300),
                         random.Between(1, 100)};
    std::vector<const Obstacle*> near;
    std::copy_if(all.begin(), all.end(), std::back_inserter(near), [&](const Obstacle* obstacle) {
      return !Intersect(BoundsOf(obstacle->shape, Lattice::kSquare, kBounds), area).empty();
    });
    EXPECT_EQ(table.Overlapping(area), near) << area.x << ", " << area.y;
    // In pages of three, whether or not the tries suffice.
    std::vector<const Obstacle*> paged;
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      std::size_t left = 3;
      const std::string after = paged.empty() ? "" : paged.back()->id;
      table.VisitOverlapping(area, after, static_cast<std::size_t>(random.Between(0, 40)),
                             [&](const Obstacle& obstacle) {
                               goes_on = left == 0;
                               if (left > 0) {
                                 --left;
                                 paged.push_back(&obstacle);
                               }
                               return !goes_on;
                             });
    }
    EXPECT_EQ(paged, near) << area.x << ", " << area.y;
  }
}

TEST(ObstacleTableTest, ThousandsAgreeWithAPlainMap) {
  constexpr int kObstacles = 2'000;
  Tables tables;
  const auto id = [](int i) { return absl::StrCat("o", i * 7919 % kObstacles); };
  for (int i = 0; i < kObstacles; ++i) {
    tables.Put(id(i));
  }
  ExpectHolds(tables.table(), tables.model(), tables.random());
  const ObstacleTable full = tables.table();
  const Model full_model = tables.model();
  EXPECT_EQ(full.BytesBeyond(full), 0U);

  for (int i = 0; i < kObstacles; i += 3) {
    tables.Put(id(i));
  }
  ExpectHolds(tables.table(), tables.model(), tables.random());
  for (int i = 0; i < kObstacles; i += 2) {
    tables.Remove(id(i));
  }
  ExpectHolds(tables.table(), tables.model(), tables.random());
  EXPECT_EQ(tables.table().Find("nobody"), nullptr);
  EXPECT_EQ(tables.table().Find(id(0)), nullptr);
  // The copy that was taken before is as it was.
  ExpectHolds(full, full_model, tables.random());

  for (int i = 1; i < kObstacles; i += 2) {
    tables.Remove(id(i));
  }
  ExpectHolds(tables.table(), {}, tables.random());
}

// A copy that differs in one obstacle shares nearly everything.
TEST(ObstacleTableTest, CopyHoldsLittleOfItsOwn) {
  Tables tables;
  for (int i = 0; i < 10'000; ++i) {
    tables.Put(absl::StrCat("o", i));
  }
  const ObstacleTable before = tables.table();
  tables.Put("o5000");
  EXPECT_GT(tables.table().BytesBeyond(before), sizeof(Obstacle));
  EXPECT_LT(tables.table().BytesBeyond(before), before.memory_bytes() / 50);
}

TEST(ObstacleTableTest, VisitsFromAnyIdOnAndStopsWhenToldTo) {
  Tables tables;
  for (const char* id : {"d", "a", "c", "b"}) {
    tables.Put(id);
  }
  std::vector<std::string> ids;
  const auto visit = [&](const Obstacle& obstacle) {
    ids.push_back(obstacle.id);
    return ids.size() < 2;
  };
  tables.table().VisitAfter("a", visit);
  EXPECT_THAT(ids, ::testing::ElementsAre("b", "c"));
  ids.clear();
  tables.table().VisitAfter("bb", visit);
  EXPECT_THAT(ids, ::testing::ElementsAre("c", "d"));
  ids.clear();
  tables.table().VisitAfter("d", visit);
  EXPECT_TRUE(ids.empty());
}

}  // namespace
}  // namespace waystar::core
