#include "server/core/grid/jumps/lazily_repaired_index.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kSide = 400;
constexpr std::size_t kCells = std::size_t{kSide} * kSide;

// Of which cells it was made, and how.
struct CountIndex {
  int set_cells = 0;
  // 0 if it was made anew.
  std::size_t repaired_words = 0;
  std::uint64_t work = 0;

  std::uint64_t repair_work() const { return work; }
  std::size_t BytesBeyond(const CountIndex* other) const { return other == nullptr ? 100 : 10; }
};

int CountCells(const BitPlane& cells) {
  int count = 0;
  for (int y = 0; y < cells.height(); ++y) {
    for (int x = 0; x < cells.width(); ++x) {
      count += cells.Test({x, y}) ? 1 : 0;
    }
  }
  return count;
}

// A grid of which nothing is known but its cells.
struct Grid {
  BitPlane cells{kSide, kSide, true};
  LazilyRepairedIndex<CountIndex> index;

  auto Make() const {
    return [this] { return CountIndex{.set_cells = CountCells(cells)}; };
  }
  auto Repair() const {
    return [this](const CountIndex& before, const BitPlane& rows, const BitPlane& /*columns*/,
                  const ChangeLog& log) {
      CountIndex repaired = before;
      repaired.work = 0;
      for (const WordChange& change : log.Differences(rows, cells)) {
        ++repaired.repaired_words;
        repaired.work += 40;
        ForEachCell(change, [&](Cell cell) { repaired.set_cells += cells.Test(cell) ? 1 : -1; });
      }
      return repaired;
    };
  }
  const CountIndex* Get() const { return index.Get(Make(), Repair()); }

  // The grid after a change of one cell in each of the rows begin, ..., end - 1.
  void BecomeChanged(const Grid& before, int begin, int end) {
    cells = before.cells;
    std::vector<WordChange> changes;
    BitPlaneWriter writer(cells);
    for (int y = begin; y < end; ++y) {
      writer.row(y)[0] ^= 2;
      changes.push_back({y, 0, 2});
    }
    index.Follow(before.index, before.cells, before.cells, changes);
  }
};

TEST(LazilyRepairedIndexTest, IsMadeWhenFirstAskedFor) {
  const Grid grid;
  EXPECT_FALSE(grid.index.IsAskedFor());
  EXPECT_EQ(grid.index.GetIfCurrent(), nullptr);
  ASSERT_NE(grid.Get(), nullptr);
  EXPECT_EQ(grid.Get()->set_cells, kSide * kSide);
  EXPECT_EQ(grid.index.GetIfCurrent(), grid.Get());
}

TEST(LazilyRepairedIndexTest, IsNotMadeWhereNoGridBeforeHadIt) {
  const Grid first;
  Grid second;
  second.BecomeChanged(first, 0, 1);
  EXPECT_FALSE(second.index.IsAskedFor());
}

TEST(LazilyRepairedIndexTest, LagsUntilSearchesHavePaidForIt) {
  const Grid first;
  ASSERT_NE(first.Get(), nullptr);
  Grid second;
  second.BecomeChanged(first, 0, 1);
  EXPECT_TRUE(second.index.IsAskedFor());
  EXPECT_EQ(second.Get(), nullptr);
  second.index.RecordSpared(1, kCells);
  EXPECT_EQ(second.Get(), nullptr);
  second.index.RecordSpared(1'000'000, kCells);
  ASSERT_NE(second.Get(), nullptr);
  EXPECT_EQ(second.Get()->set_cells, kSide * kSide - 1);
  EXPECT_EQ(second.Get()->repaired_words, 1U);
}

TEST(LazilyRepairedIndexTest, RepairsSeveralChangesAtOnce) {
  const Grid first;
  ASSERT_NE(first.Get(), nullptr);
  Grid second;
  second.BecomeChanged(first, 0, 5);
  Grid third;
  // Takes back two of the five.
  third.BecomeChanged(second, 3, 8);
  const CountIndex* index = third.index.MakeNow(third.Make(), third.Repair());
  ASSERT_NE(index, nullptr);
  EXPECT_EQ(index->set_cells, CountCells(third.cells));
  EXPECT_EQ(index->repaired_words, 6U);
  EXPECT_EQ(second.index.GetIfCurrent(), nullptr);
}

// Changes a grid until the index no longer follows at once, and returns how often it did.
int ChangesFollowed(std::unique_ptr<Grid> grid) {
  int followed = 0;
  while (followed < kSide - 1) {
    auto next = std::make_unique<Grid>();
    next->BecomeChanged(*grid, followed, followed + 1);
    if (!next->index.PaysAtOnce()) {
      break;
    }
    next->index.MakeNow(next->Make(), next->Repair());
    grid = std::move(next);
    ++followed;
  }
  return followed;
}

TEST(LazilyRepairedIndexTest, FollowsSomeChangesAfterTheLastSearch) {
  auto grid = std::make_unique<Grid>();
  ASSERT_NE(grid->Get(), nullptr);
  grid->index.RecordSpared(1'000, kCells);
  const int followed = ChangesFollowed(std::move(grid));
  EXPECT_GT(followed, 5);
  EXPECT_LT(followed, 30);
}

TEST(LazilyRepairedIndexTest, ManySearchesBuyFewRepairsAfterTheLast) {
  auto grid = std::make_unique<Grid>();
  ASSERT_NE(grid->Get(), nullptr);
  for (int i = 0; i < 1000; ++i) {
    grid->index.RecordSpared(kCells / 100, kCells);
  }
  EXPECT_LT(ChangesFollowed(std::move(grid)), 60);
}

TEST(LazilyRepairedIndexTest, FollowsAtOnceWhileSearchesUseIt) {
  const Grid first;
  ASSERT_NE(first.Get(), nullptr);
  first.index.RecordSpared(1'000, kCells);
  Grid second;
  second.BecomeChanged(first, 0, 1);
  EXPECT_TRUE(second.index.PaysAtOnce());
  Grid third;
  third.BecomeChanged(first, 0, 100);
  EXPECT_FALSE(third.index.PaysAtOnce()) << "so many changes cost more than the searches were spared";
}

TEST(LazilyRepairedIndexTest, StaysBehindWhereFollowingCostsMoreThanItSpares) {
  auto grid = std::make_unique<Grid>();
  ASSERT_NE(grid->Get(), nullptr);
  for (int change = 0; change < 100; ++change) {
    auto next = std::make_unique<Grid>();
    next->BecomeChanged(*grid, 3 * change, 3 * change + 3);
    EXPECT_FALSE(next->index.PaysAtOnce());
    // Three words cost 120.
    next->index.RecordSpared(100, kCells);
    EXPECT_EQ(next->Get(), nullptr) << change;
    grid = std::move(next);
  }
}

TEST(LazilyRepairedIndexTest, CountsSearchesOfGridsThatWereReplaced) {
  const Grid first;
  ASSERT_NE(first.Get(), nullptr);
  Grid second;
  second.BecomeChanged(first, 0, 1);
  Grid third;
  third.BecomeChanged(second, 5, 6);
  EXPECT_EQ(third.Get(), nullptr);
  second.index.RecordSpared(1'000, kCells);
  EXPECT_NE(third.Get(), nullptr);
}

TEST(LazilyRepairedIndexTest, IsFollowedWhileItIsMade) {
  const Grid first;
  ASSERT_NE(first.Get(), nullptr);
  Grid second;
  second.BecomeChanged(first, 0, 1);
  Grid third;
  second.index.MakeNow(second.Make(), [&](const CountIndex& before, const BitPlane& rows,
                                          const BitPlane& columns, const ChangeLog& log) {
    third.BecomeChanged(second, 5, 6);
    return second.Repair()(before, rows, columns, log);
  });
  const CountIndex* index = third.index.MakeNow(third.Make(), third.Repair());
  ASSERT_NE(index, nullptr);
  EXPECT_EQ(index->repaired_words, 2U) << "it goes by the first grid's";
  EXPECT_EQ(index->set_cells, CountCells(third.cells));
}

TEST(LazilyRepairedIndexTest, IsMadeAnewWhenTooFarBehind) {
  const Grid first;
  ASSERT_NE(first.Get(), nullptr);
  Grid second;
  second.BecomeChanged(first, 0, kSide);
  second.index.RecordSpared(1'000'000'000, kCells);
  ASSERT_NE(second.Get(), nullptr);
  EXPECT_EQ(second.Get()->repaired_words, 0U);
  EXPECT_EQ(second.Get()->set_cells, kSide * kSide - kSide);
}

TEST(LazilyRepairedIndexTest, CountsWhatItHoldsOnce) {
  const auto bytes_of = [](const Grid& grid, const Grid* other) {
    return grid.index.BytesBeyond(other == nullptr ? nullptr : &other->index, grid.cells, grid.cells);
  };
  const Grid first;
  EXPECT_EQ(bytes_of(first, nullptr), 0U);
  ASSERT_NE(first.Get(), nullptr);
  EXPECT_EQ(bytes_of(first, nullptr), 100U);
  Grid second;
  second.BecomeChanged(first, 0, 1);
  EXPECT_GT(bytes_of(second, nullptr), 100U) << "and the cells that it was made of";
  Grid third;
  third.BecomeChanged(second, 5, 6);
  EXPECT_EQ(bytes_of(third, &second), 0U) << "both lag behind the very same";
  second.index.MakeNow(second.Make(), second.Repair());
  EXPECT_EQ(bytes_of(second, &first), 10U);
}

TEST(ChangeLogTest, TellsWhatDiffersOfTheWordsItWasTold) {
  const BitPlane before(200, 3, false);
  BitPlane now = before;
  BitPlaneWriter writer(now);
  writer.row(1)[2] = 12;
  writer.row(0)[1] = 1;
  writer.row(2)[0] = 8;
  ChangeLog log;
  EXPECT_THAT(log.Differences(before, now), IsEmpty());
  log.Add(std::vector<WordChange>{{1, 2, 4}});
  const ChangeLog first = log;
  log.Add(std::vector<WordChange>{{0, 1, 1}, {1, 0, 1}});
  log.Add(std::vector<WordChange>{{1, 2, 8}});
  std::vector<std::vector<std::int64_t>> told;
  for (const WordChange& change : log.Differences(before, now)) {
    told.push_back({change.y, change.index, static_cast<std::int64_t>(change.flipped)});
  }
  EXPECT_THAT(told, ElementsAre(ElementsAre(0, 1, 1), ElementsAre(1, 2, 12)));
  EXPECT_EQ(first.Differences(before, now).size(), 1U);
}

TEST(ChangeLogTest, HoldsAWordAboutOnceHoweverOftenItChanges) {
  ChangeLog log;
  for (int i = 0; i < 10'000; ++i) {
    log.Add(std::vector<WordChange>{{i % 7, 0, 2}});
  }
  EXPECT_LE(log.size(), 14U);
}

}  // namespace
}  // namespace waystar::core
