// The same question has the same answer, and the same cost to the last unit, however it came to be asked.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/testing/generator.h"
#include "tests/testing/profiles.h"

namespace waystar::core {
namespace {

// The same question after other questions, from a fresh scratch, and from a map that was made by other edits.
TEST(DeterminismTest, SameQuestionSameAnswer) {
  Scratch used(std::size_t{1} << 26);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Generator generator(seed);
    const GridMap map = generator.Map({.max_side = 70, .weighted = seed % 2 == 0});
    const Cell start = generator.WalkableCellOf(map);
    const Cell goal = generator.WalkableCellOf(map);
    if (!map.IsWalkable(start) || !map.IsWalkable(goal)) {
      continue;
    }
    // Blocks and unblocks again what was free: the cells are the same, the history is not.
    const Rectangle everything = map.bounds();
    std::vector<Edit> back_and_forth = {BlockCells{{.rectangles = {everything}}}};
    for (int y = 0; y < map.height(); ++y) {
      for (int x = 0; x < map.width(); ++x) {
        if (!map.HasObstacle({x, y})) {
          back_and_forth.emplace_back(UnblockCells{{.cells = {{x, y}}}});
        }
      }
    }
    const auto edited = ApplyEdits(map, back_and_forth);
    ASSERT_TRUE(edited.ok()) << edited.status();

    Scratch fresh(std::size_t{1} << 26);
    const PathQuery query{.start = start, .goal = goal};
    const auto first = FindPath(map, query, {}, fresh);
    const auto second = FindPath(edited->map, query, {}, used);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->cost, second->cost);
    EXPECT_EQ(first->points, second->points) << "seed " << seed;
    EXPECT_EQ(first->statistics.expanded, second->statistics.expanded);
  }
}

// Long runs of what searches keep are brought up to date in a coarser way than short ones: on open maps, many
// single changes one after the other, against a map of the same cells that never had an edit to repair, and
// against one without indexes.
TEST(DeterminismTest, SamePathsAfterManySmallEditsAsAfresh) {
  Scratch scratch(std::size_t{1} << 26);
  int paths = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Generator generator(seed);
    GridMap map =
        *GridMap::Create(generator.Between(100, 300), generator.Between(100, 300),
                         {.connectivity = seed % 6 == 0 ? Connectivity::kFour : Connectivity::kEight});
    map.Prepare();
    const auto rule = static_cast<CornerRule>(seed % kCornerRuleCount);
    const Cell somewhere = generator.CellOf(map);
    ASSERT_TRUE(
        FindPath(map, {.start = somewhere, .goal = somewhere, .corner_rule = rule}, {}, scratch).ok());
    for (int round = 1; round <= 400; ++round) {
      const Cell cell = generator.CellOf(map);
      const Rectangle around{cell.x, cell.y, 60, 60};
      const bool blocks = generator.Chance(0.8);
      auto edited = blocks ? ApplyEdits(map, {BlockCells{{.cells = {cell}}}})
                           : ApplyEdits(map, {UnblockCells{{.rectangles = {around}}}});
      ASSERT_TRUE(edited.ok()) << edited.status();
      map = std::move(edited->map);
      if (round % 20 != 0) {
        continue;
      }
      GridMap afresh = Rebuilt(map, map.settings());
      GridMap without_indexes = afresh;
      without_indexes.Prepare({.max_bytes = 0});
      for (int i = 0; i < 8; ++i) {
        const PathQuery query{.start = generator.WalkableCellOf(map),
                              .goal = generator.WalkableCellOf(map),
                              .corner_rule = rule};
        const auto path = FindPath(map, query, {}, scratch);
        ASSERT_TRUE(path.ok()) << path.status();
        for (const GridMap* other : {&afresh, &without_indexes}) {
          const auto expected = FindPath(*other, query, {}, scratch);
          ASSERT_TRUE(expected.ok()) << expected.status();
          ASSERT_EQ(path->points, expected->points) << "seed " << seed << ", round " << round;
          EXPECT_EQ(path->cost, expected->cost);
          EXPECT_EQ(path->statistics.expanded, expected->statistics.expanded);
        }
        ++paths;
      }
    }
  }
  EXPECT_GT(paths, 1000);
}

// On paths of ten thousand steps and more the sum of the costs stays exact.
TEST(CostTest, LongPathsKeepTheirPrecision) {
  // A diagonal corridor: every step is diagonal.
  constexpr int kSide = 8192;
  GridMap map = *GridMap::Create(kSide, kSide, {}, 0, true);
  UnblockCells unblock;
  for (int i = 0; i < kSide; ++i) {
    unblock.shape.cells.push_back({i, i});
  }
  map = ApplyEdits(map, {unblock})->map;
  Scratch scratch(std::size_t{1} << 28);
  const auto result =
      FindPath(map, {.start = {0, 0}, .goal = {kSide - 1, kSide - 1}, .corner_rule = CornerRule::kAlways}, {},
               scratch);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_DOUBLE_EQ(result->cost, (kSide - 1) * kSqrt2);
}

}  // namespace
}  // namespace waystar::core
