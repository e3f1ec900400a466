#include "server/core/grid/walk/footprint_grids.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/jumps/diagonal_jump_index.h"
#include "server/core/grid/walk/walk_grid.h"
#include "tests/testing/generator.h"
#include "tests/testing/patience.h"

namespace waystar::core {
namespace {

constexpr int kFirstSide = 2;
constexpr int kLastKept = kFirstSide + static_cast<int>(FootprintGrids::kAlwaysKept) - 1;

BitPlane Freckled(int side) {
  BitPlane cells(side, side, true);
  BitPlaneWriter writer(cells);
  for (int y = 0; y < side; ++y) {
    for (int x = y * 37 % 601; x < side; x += 601) {
      AssignBit(writer.row(y), x, false);
    }
  }
  return cells;
}

class FootprintGridsTest : public ::testing::Test {
 protected:
  void AskForAsManyAsAreKept() {
    for (int side = kFirstSide; side <= kLastKept; ++side) {
      grids_.Get(single_, side);
    }
  }

  // Takes a cell of the map away in a new revision of the grids.
  FootprintGrids Edited() {
    AssignBit(BitPlaneWriter(cells_).row(10), 10, false);
    const WordChange change = {.y = 10, .index = 0, .flipped = Word{1} << 11};
    return FootprintGrids(grids_, cells_, {&change, 1});
  }

  BitPlane cells_{50, 50, true};
  // Without memory for indexes, so few cells allow no more than kAlwaysKept grids.
  WalkGrid single_{cells_, IndexMemory{.max_bytes = 0}};
  FootprintGrids grids_;
};

TEST_F(FootprintGridsTest, AskedAgainTheSameGrid) {
  const auto first = grids_.Get(single_, 3);
  EXPECT_TRUE(first->IsWalkable({47, 47}));
  EXPECT_FALSE(first->IsWalkable({48, 47}));
  EXPECT_EQ(grids_.Get(single_, 3), first);
  EXPECT_NE(grids_.Get(single_, 4), first);
}

TEST_F(FootprintGridsTest, OfTooManySizesTheOneNotAskedForLongestGoes) {
  const auto second = std::weak_ptr(grids_.Get(single_, kFirstSide + 1));
  AskForAsManyAsAreKept();
  const auto first = grids_.Get(single_, kFirstSide);
  EXPECT_FALSE(second.expired());
  grids_.Get(single_, kLastKept + 1);
  EXPECT_TRUE(second.expired());
  EXPECT_EQ(grids_.Get(single_, kFirstSide), first);
}

TEST_F(FootprintGridsTest, AnEditKeepsTheOrder) {
  AskForAsManyAsAreKept();
  const FootprintGrids edited = Edited();
  const auto first = edited.Get(single_, kFirstSide);
  edited.Get(single_, kLastKept + 1);
  EXPECT_EQ(edited.Get(single_, kFirstSide), first);
}

// Asks for `sizes` sizes in turns, with all their components, and returns how many grids that made.
int MadeInTurns(const FootprintGrids& grids, const WalkGrid& single, int sizes) {
  // Held, so that no grid lies where another has been.
  std::vector<std::shared_ptr<const WalkGrid>> made;
  for (int turn = 0; turn < 3; ++turn) {
    for (int side = kFirstSide; side < kFirstSide + sizes; ++side) {
      auto grid = grids.Get(single, side);
      grid->components(Adjacency::kStraight);
      if (std::find(made.begin(), made.end(), grid) == made.end()) {
        made.push_back(std::move(grid));
      }
    }
  }
  return static_cast<int>(made.size());
}

TEST(FootprintGridsInTurnsTest, EachIsMadeOnce) {
  for (const int map_side : {50, 512, 2048}) {
    const WalkGrid single(Freckled(map_side));
    for (const int sizes : {8, 9, 12, 16, kMaxFootprint - kFirstSide + 1}) {
      const FootprintGrids grids;
      EXPECT_EQ(MadeInTurns(grids, single, sizes), sizes) << "side " << map_side;
      EXPECT_LE(grids.memory_bytes(), FootprintGrids::BytesKeptOver(single));
    }
  }
}

// The memory is enough for an index of each of the sizes that are always kept.
TEST(FootprintGridsInTurnsTest, JumpIndexesGiveWayBeforeGrids) {
  constexpr int kMapSide = 512;
  const WalkGrid single(Freckled(kMapSide),
                        {.max_bytes = FootprintGrids::kAlwaysKept *
                                      DiagonalJumpIndex::BytesFor(std::size_t{kMapSide} * kMapSide)});
  for (const int sizes : {9, 16}) {
    const FootprintGrids grids;
    int made = 0;
    for (int turn = 0; turn < 3; ++turn) {
      for (int side = kFirstSide; side < kFirstSide + sizes; ++side) {
        const auto grid = grids.Get(side, FootprintGrids::BytesKeptOver(single), [&] {
          ++made;
          return std::make_shared<const WalkGrid>(
              Eroded(single.rows(), side), single.index_memory().DividedBy(FootprintGrids::kAlwaysKept));
        });
        EXPECT_TRUE(DifferencesBetween(Eroded(single.rows(), side), grid->rows()).empty());
        grid->components(Adjacency::kStraight);
        EXPECT_NE(grid->MakeDiagonalJumpIndex(CornerRule::kNoCornerCutting), nullptr);
      }
    }
    EXPECT_EQ(made, sizes);
  }
}

TEST(FootprintGridsInTurnsTest, TakeNoMoreThanIsAllowed) {
  const WalkGrid single(Freckled(2048), IndexMemory{.max_bytes = 0});
  const FootprintGrids grids;
  MadeInTurns(grids, single, kMaxFootprint - kFirstSide + 1);
  // The components of the last grid are made after it is kept.
  EXPECT_LE(grids.memory_bytes(), FootprintGrids::BytesKeptOver(single) + (std::size_t{1} << 20));
  EXPECT_TRUE(grids.Has(kMaxFootprint));
  EXPECT_FALSE(grids.Has(kFirstSide));
}

TEST_F(FootprintGridsTest, AnEditThatMakesAllAnewKeepsTheLatestSizes) {
  const WalkGrid roomy(cells_);
  for (int side = kFirstSide; side <= kLastKept + 2; ++side) {
    grids_.Get(roomy, side);
  }
  grids_.Get(roomy, kFirstSide);
  const FootprintGrids afresh(grids_, cells_);
  EXPECT_TRUE(afresh.Has(kFirstSide));
  EXPECT_TRUE(afresh.Has(kLastKept + 2));
  EXPECT_FALSE(afresh.Has(kFirstSide + 1));
}

class SlowMakerTest : public FootprintGridsTest {
 protected:
  static constexpr std::size_t kBytes = std::size_t{1} << 20;

  FootprintGrids::Grid MakeSlowly() {
    ++made_;
    begun_.Happen();
    go_on_.Wait();
    return std::make_shared<const WalkGrid>(cells_);
  }

  std::atomic<int> made_ = 0;
  Event begun_{"the making of the grid to begin"};
  Event go_on_{"the end of the making"};
};

TEST_F(SlowMakerTest, OthersDoNotWait) {
  std::thread maker([&] { grids_.Get(2, kBytes, [&] { return MakeSlowly(); }); });
  ASSERT_TRUE(begun_.Wait());
  const auto other = grids_.Get(single_, 3);
  EXPECT_EQ(grids_.Get(single_, 3), other);
  EXPECT_FALSE(grids_.Has(2));
  EXPECT_TRUE(grids_.Has(3));
  EXPECT_GT(grids_.memory_bytes(), 0U);
  grids_.Drop(/*used_too=*/true);
  go_on_.Happen();
  maker.join();
  EXPECT_TRUE(grids_.Has(2));
}

TEST_F(SlowMakerTest, ThoseWhoAskForTheSameWaitForIt) {
  std::vector<FootprintGrids::Grid> got(4);
  std::vector<std::thread> askers;
  askers.reserve(got.size());
  for (FootprintGrids::Grid& grid : got) {
    askers.emplace_back([&] { grid = grids_.Get(2, kBytes, [&] { return MakeSlowly(); }); });
  }
  ASSERT_TRUE(begun_.Wait());
  go_on_.Happen();
  for (std::thread& asker : askers) {
    asker.join();
  }
  EXPECT_EQ(made_, 1);
  for (const FootprintGrids::Grid& grid : got) {
    EXPECT_EQ(grid, got.front());
  }
  EXPECT_EQ(grids_.Get(single_, 2), got.front());
}

TEST_F(SlowMakerTest, AnEditMeanwhileHasTheGrid) {
  std::thread maker([&] { grids_.Get(2, kBytes, [&] { return MakeSlowly(); }); });
  ASSERT_TRUE(begun_.Wait());
  bool has_it = false;
  std::thread editor([&] { has_it = Edited().Has(2); });
  go_on_.Happen();
  maker.join();
  editor.join();
  EXPECT_TRUE(has_it);
}

TEST_F(SlowMakerTest, WhoFoundNoMemoryMayAskAgain) {
  const auto fail = []() -> FootprintGrids::Grid { throw std::bad_alloc(); };
  EXPECT_THROW(grids_.Get(2, kBytes, fail), std::bad_alloc);
  EXPECT_FALSE(grids_.Has(2));
  EXPECT_FALSE(Edited().Has(2));
  EXPECT_NE(grids_.Get(single_, 2), nullptr);
  EXPECT_TRUE(grids_.Has(2));
}

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

}  // namespace
}  // namespace waystar::core
