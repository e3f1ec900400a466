#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DrawMap;
using ::waystar::testing::Generator;

BitPlane DrawCells(const std::vector<std::string>& rows) { return DrawMap(rows).walk().rows(); }

bool Fits(const BitPlane& cells, Cell cell, int side) {
  for (int y = cell.y; y < cell.y + side; ++y) {
    for (int x = cell.x; x < cell.x + side; ++x) {
      if (!cells.Test({x, y})) {
        return false;
      }
    }
  }
  return true;
}

// Bit for bit: nothing is set off the plane either.
void ExpectFitsEverywhere(const BitPlane& eroded, const BitPlane& cells, int side) {
  std::vector<Word> row(static_cast<std::size_t>(WordsPerRow(cells.width())));
  for (int y = 0; y < cells.height(); ++y) {
    row.assign(row.size(), 0);
    for (int x = 0; x < cells.width(); ++x) {
      AssignBit(row.data(), x, Fits(cells, {x, y}, side));
    }
    ASSERT_EQ(std::vector<Word>(eroded.row(y), eroded.row(y) + row.size()), row) << "row " << y;
  }
}

// Flips cells here and there, half of the time where a word begins, which agents in the word before reach
// into; may name words that did not change.
std::vector<WordChange> Flip(BitPlane& cells, Generator& generator) {
  std::vector<WordChange> changes;
  BitPlaneWriter writer(cells);
  for (int i = generator.Between(1, 4); i > 0; --i) {
    const int y = generator.Between(0, cells.height() - 1);
    int begin = generator.Between(0, cells.width() - 1);
    if (generator.Chance(0.5)) {
      begin = std::max(begin / kWordBits * kWordBits - 1 + generator.Between(0, 2), 0);
      begin = std::min(begin, cells.width() - 1);
    }
    const int end = generator.Between(begin, std::min(begin + 70, cells.width()));
    ForEachWord(begin, end, [&](std::size_t index, Word mask) {
      const Word flipped = generator.Chance(0.7) ? mask : 0;
      writer.row(y)[index] ^= flipped;
      changes.push_back({y, static_cast<std::int32_t>(index), flipped});
    });
  }
  return changes;
}

TEST(FootprintTest, MadeAndRepairedMatchesLookingAtEveryCellAndTellsWhatChanged) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    BitPlane cells = generator.Map({.max_side = 200, .max_cells = 6000}).walk().rows();
    const int side = generator.Between(1, seed % 4 == 0 ? kMaxFootprint : 5);
    BitPlane eroded = Eroded(cells, side);
    ExpectFitsEverywhere(eroded, cells, side);
    for (int round = 0; round < 5; ++round) {
      BitPlane replayed = eroded;
      const std::vector<WordChange> changes = Flip(cells, generator);
      const std::vector<WordChange> changed = RepairEroded(cells, side, changes, eroded);
      ExpectFitsEverywhere(eroded, cells, side);
      BitPlaneWriter writer(replayed);
      for (const WordChange& change : changed) {
        EXPECT_NE(change.flipped, 0U);
        writer.row(change.y)[static_cast<std::size_t>(change.index)] ^= change.flipped;
      }
      ExpectFitsEverywhere(replayed, cells, side);
      ASSERT_FALSE(HasFailure()) << "round " << round << ", side " << side;
    }
  }
}

TEST(FootprintTest, ARepairThatChangesNothingTellsNothing) {
  BitPlane cells = DrawCells({".#.", "#..", "..."});
  BitPlane eroded = Eroded(cells, 3);
  AssignBit(BitPlaneWriter(cells).row(2), 0, false);
  const WordChange change = {.y = 2, .index = 0, .flipped = Word{1} << 1};
  EXPECT_TRUE(RepairEroded(cells, 3, {&change, 1}, eroded).empty());
}

}  // namespace
}  // namespace waystar::core
