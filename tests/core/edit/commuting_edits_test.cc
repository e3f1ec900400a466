// Edits that do not meddle with each other lead to the same map in whatever order and batches they come.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "tests/core/edit/any_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::waystar::testing::ExpectSame;
using ::waystar::testing::Generator;
using ::waystar::testing::IsOk;

GridMap InOneBatch(const GridMap& map, const std::vector<Edit>& edits) {
  auto edited = ApplyEdits(map, edits);
  EXPECT_THAT(edited, IsOk());
  return edited.ok() ? std::move(edited->map) : map;
}

// Some of them as batches that are folded into one map, and some as maps of their own.
GridMap InManyBatches(GridMap map, const std::vector<Edit>& edits, Generator& generator) {
  for (std::size_t next = 0; next < edits.size();) {
    BatchEditor editor(map);
    for (int batches = generator.Between(1, 3); batches > 0 && next < edits.size(); --batches) {
      EXPECT_THAT(editor.Apply({&edits[next++], 1}, absl::UnixEpoch()), IsOk());
    }
    map = std::move(editor).Finish().map;
  }
  return map;
}

void ExpectSameInAnyOrder(const GridMap& map, std::vector<Edit> edits, Generator& generator) {
  const GridMap edited = InOneBatch(map, edits);
  for (int round = 0; round < 3; ++round) {
    generator.Shuffle(edits);
    ExpectSame(edited, InOneBatch(map, edits));
    ExpectSame(edited, InManyBatches(map, edits, generator));
  }
}

// They may overlap as they like.
TEST(CommutingEditsTest, ObstaclesOfDistinctNames) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const GridMap map = generator.Map({.max_side = 70, .max_cells = 2000, .weighted = true});
    std::vector<Edit> puts;
    for (int i = 0; i < 12; ++i) {
      const Edit put = PutObstacle{.obstacle = generator.ObstacleOf(map, absl::StrCat("o", i))};
      if (ApplyEdits(map, {put}).ok()) {
        puts.push_back(put);
      }
    }
    if (puts.empty()) {
      continue;
    }
    ExpectSameInAnyOrder(map, puts, generator);
    const GridMap full = InOneBatch(map, puts);
    std::vector<Edit> changes;
    for (const Edit& edit : puts) {
      const Obstacle& obstacle = std::get<PutObstacle>(edit).obstacle;
      const Edit change = generator.Chance(0.5)
                              ? Edit(RemoveObstacle{obstacle.id})
                              : Edit(MoveObstacle{obstacle.id, 1.0 * generator.Between(-4, 4), 2.0});
      if (ApplyEdits(full, {change}).ok()) {
        changes.push_back(change);
      }
    }
    if (!changes.empty()) {
      ExpectSameInAnyOrder(full, changes, generator);
    }
  }
}

// One edit of any kind in a square.
Edit EditWithin(const Rectangle& square, const std::string& id, const GridMap& map, Generator& generator) {
  const Point centre{square.x + 0.5 * (square.width - 1), square.y + 0.5 * (square.height - 1)};
  const double right = square.x + square.width - 1;
  Shape shape;
  switch (generator.Between(0, 3)) {
    case 0:
      shape.rectangles = {square};
      break;
    case 1:
      shape.discs = {{centre, 0.5 * (square.width - 1)}};
      break;
    case 2:
      shape.polygons = {{{{1.0 * square.x, 1.0 * square.y}, {right, 1.0 * square.y}, centre}}};
      break;
    default:
      shape.lines = {{{1.0 * square.x, centre.y}, {right, centre.y}, 1.0}};
  }
  const std::vector<Terrain>& terrains = map.settings().terrains;
  const int last = static_cast<int>(terrains.size()) - 1;
  switch (generator.Between(0, 3)) {
    case 0:
      return BlockCells{std::move(shape)};
    case 1:
      return UnblockCells{std::move(shape)};
    case 2:
      return SetTerrain{std::move(shape),
                        terrains[static_cast<std::size_t>(generator.Between(0, last))].symbol};
    default: {
      Obstacle obstacle = generator.ObstacleOf(map, id);
      obstacle.shape = std::move(shape);
      obstacle.effect.falloff = ObstacleEffect::Falloff::kNone;
      return PutObstacle{.obstacle = std::move(obstacle)};
    }
  }
}

TEST(CommutingEditsTest, EditsOfDifferentPlaces) {
  constexpr int kSide = 7;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const GridMap map = generator.Map({.max_side = 70, .max_cells = 2000, .weighted = true});
    std::vector<Edit> edits;
    for (int y = 0; y + kSide <= map.height(); y += kSide) {
      for (int x = 0; x + kSide <= map.width(); x += kSide) {
        edits.push_back(EditWithin({x, y, kSide, kSide}, absl::StrCat("o", edits.size()), map, generator));
      }
    }
    if (!edits.empty()) {
      ExpectSameInAnyOrder(map, edits, generator);
    }
  }
}

}  // namespace
}  // namespace waystar::core
