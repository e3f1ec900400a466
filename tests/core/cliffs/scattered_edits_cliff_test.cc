// An update of many scattered cells makes what it derives from them in proportion, also where it touches too
// much of the map for a list of changes.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/walk/walk_grid.h"
#include "tests/testing/layouts.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Random;

constexpr int kSide = 1024;
// As many words are touched at most before changes are no longer listed.
constexpr int kMostListed = kSide * WordsPerRow(kSide) / 4;
constexpr CornerRule kRule = CornerRule::kNoCornerCutting;
constexpr std::uint64_t kPlenty = 1'000'000'000;

GridMap MapOf(double density) {
  GridMap map = GridMap::Create(kSide, kSide, {}).value();
  if (density > 0) {
    Random random(3);
    testing::LayNoise(random, density, map);
  }
  map.walk().MakeDiagonalJumpIndex(kRule);
  map.walk().MakeTurnJumpIndex();
  map.walk().components(Adjacency::kStraight);
  return map;
}

// Flips a cell in each of so many words, spread over the map.
GridMap Scattered(const GridMap& map, int words) {
  GridMapEditor editor(map);
  Random random(9);
  const int all = kSide * WordsPerRow(kSide);
  for (int i = 0; i < words; ++i) {
    const auto word = static_cast<int>(std::int64_t{i} * all / words);
    const int x = word % WordsPerRow(kSide) * kWordBits + random.Between(0, kWordBits - 2);
    const int y = word / WordsPerRow(kSide);
    if (x < kSide) {
      editor.SetObstacle({x, y}, map.IsWalkable({x, y}));
    }
  }
  return std::move(editor).Finish();
}

class ScatteredEditsCliffTest : public ::testing::TestWithParam<double> {
 protected:
  const GridMap map_ = MapOf(GetParam());
  Scratch scratch_{std::size_t{1} << 28};
};

TEST_P(ScatteredEditsCliffTest, TwiceTheCellsMakeAboutTwiceAsMuch) {
  std::size_t before = 0;
  for (int words = kMostListed / 8; words <= 3 * kMostListed; words *= 2) {
    SCOPED_TRACE(absl::StrCat(words, " words"));
    const GridMap after = Scattered(map_, words);
    EXPECT_TRUE(after.walk().HasComponents(Adjacency::kStraight));
    const std::size_t made = after.walk().BytesBeyond(map_.walk());
    if (before > 0) {
      EXPECT_LE(made, 2 * before + before / 4);
    }
    before = made;
  }
}

TEST_P(ScatteredEditsCliffTest, NoUpdateMakesAJumpIndex) {
  for (const int words : {kMostListed / 2, 2 * kMostListed}) {
    SCOPED_TRACE(absl::StrCat(words, " words"));
    const GridMap after = Scattered(map_, words);
    EXPECT_EQ(after.walk().diagonal_jumps(kRule), nullptr);
    EXPECT_EQ(after.walk().turn_jumps(), nullptr);
    after.walk().RecordMisses(kRule, kPlenty);
    after.walk().RecordTurnMisses(kPlenty);
    EXPECT_NE(after.walk().diagonal_jumps(kRule), nullptr);
    EXPECT_NE(after.walk().turn_jumps(), nullptr);
  }
}

TEST_P(ScatteredEditsCliffTest, SearchesOfOneMapDoNotPayForAnother) {
  const GridMap paid = Scattered(map_, 10);
  paid.walk().RecordMisses(kRule, kPlenty);
  ASSERT_NE(paid.walk().diagonal_jumps(kRule), nullptr);
  for (int query = 0; query < 3; ++query) {
    const GridMap overlaid = Scattered(paid, (query + 1) * kMostListed * 3 / 4);
    EXPECT_EQ(overlaid.walk().diagonal_jumps(kRule), nullptr);
    Cell start = {100, 100};
    while (!overlaid.IsWalkable(start)) {
      ++start.x;
    }
    Cell goal = {start.x + 5, 104};
    while (!overlaid.IsWalkable(goal)) {
      ++goal.x;
    }
    EXPECT_TRUE(FindPath(overlaid, {.start = start, .goal = goal}, {}, scratch_).ok());
    EXPECT_EQ(overlaid.walk().diagonal_jumps(kRule), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(Densities, ScatteredEditsCliffTest, ::testing::Values(0.0, 0.25));

}  // namespace
}  // namespace waystar::core
