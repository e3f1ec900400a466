#include "server/core/grid/components/components.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/component_leaf.h"
#include "server/core/grid/map/grid_map.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/flood.h"
#include "tests/testing/generator.h"
#include "tests/testing/random.h"
#include "tests/testing/rules.h"

namespace waystar::core {
namespace {

BitPlane Draw(const std::vector<std::string>& rows) { return DrawMap(rows).walk().rows(); }

void Flip(BitPlane& plane, Cell cell) {
  BitPlaneWriter writer(plane);
  AssignBit(writer.row(cell.y), cell.x, !plane.Test(cell));
}

// Gives the cells of a rectangle, which is cut to the plane, a value; returns what changed.
std::vector<WordChange> Paint(const Rectangle& all, bool value, BitPlane& plane) {
  const Rectangle part = Intersect(all, {0, 0, plane.width(), plane.height()});
  std::vector<WordChange> changes;
  BitPlaneWriter writer(plane);
  for (int y = part.y; y < part.y + part.height; ++y) {
    ForEachWord(part.x, part.x + part.width, [&](std::size_t index, Word mask) {
      const Word flipped = mask & (plane.row(y)[index] ^ (value ? ~Word{0} : Word{0}));
      writer.row(y)[index] ^= flipped;
      changes.push_back({.y = y, .index = static_cast<int>(index), .flipped = flipped});
    });
  }
  return changes;
}

// Every cell is in the component that the flood says, and no two of the flood's are one.
void ExpectMatches(const Components& components, const Flood& flood, const BitPlane& cells) {
  std::map<int, ComponentId> id_of;
  for (int y = 0; y < cells.height(); ++y) {
    for (int x = 0; x < cells.width(); ++x) {
      const ComponentId id = components.Find({x, y});
      const int number = flood.At({x, y});
      ASSERT_EQ(id.block != nullptr, number != 0) << x << ", " << y;
      if (number != 0) {
        ASSERT_EQ(id_of.emplace(number, id).first->second, id) << x << ", " << y;
      }
    }
  }
  std::set<std::pair<const ComponentBlock*, ComponentNumber>> ids;
  for (const auto& [number, id] : id_of) {
    EXPECT_TRUE(ids.emplace(id.block, id.number).second) << "two components are one";
  }
}

// All but the numbers of components that a leaf closes in, and which of several leaves shares a border.
void ExpectSameBlocks(const ComponentBlock* actual, const ComponentBlock* expected, int level) {
  ASSERT_EQ(actual == nullptr, expected == nullptr);
  if (actual == expected) {
    return;
  }
  ASSERT_EQ(actual->border == nullptr, expected->border == nullptr);
  ASSERT_TRUE(actual->border == nullptr || *actual->border == *expected->border) << "level " << level;
  ASSERT_EQ(actual->open, expected->open);
  ASSERT_EQ(actual->components, expected->components);
  ASSERT_EQ(actual->bytes, expected->bytes);
  if (level == 0) {
    ASSERT_EQ(static_cast<const ComponentLeaf*>(actual)->main,
              static_cast<const ComponentLeaf*>(expected)->main);
    return;
  }
  const auto& parent = static_cast<const ComponentParent&>(*actual);
  const auto& expected_parent = static_cast<const ComponentParent&>(*expected);
  for (std::size_t i = 0; i < parent.children.size(); ++i) {
    const ComponentBlock* child = parent.children[i].get();
    ExpectSameBlocks(child, expected_parent.children[i].get(), level - 1);
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
    for (std::size_t component = 0; child != nullptr && component < child->open; ++component) {
      ASSERT_EQ(parent.upward[i][component], expected_parent.upward[i][component]) << "level " << level;
    }
  }
}

TEST(ComponentsTest, CellsThatAreNotSetOrOffThePlaneAreConnectedToNothing) {
  const Components components(Draw({".#.", "..."}), Adjacency::kAny);
  EXPECT_TRUE(components.AreConnected({0, 0}, {0, 0}));
  EXPECT_FALSE(components.AreConnected({1, 0}, {1, 0}));
  EXPECT_FALSE(components.AreConnected({0, 0}, {1, 0}));
  for (const Cell off : {Cell{-1, 0}, Cell{3, 0}, Cell{0, -1}, Cell{0, 2}, Cell{64, 0}, Cell{0, 1 << 30}}) {
    EXPECT_FALSE(components.AreConnected(off, off));
    EXPECT_FALSE(components.AreConnected({0, 0}, off));
  }
}

TEST(ComponentsTest, PlanesOfOneCellAndOfOneRow) {
  EXPECT_TRUE(Components(BitPlane(1, 1, true), Adjacency::kStraight).AreConnected({0, 0}, {0, 0}));
  EXPECT_FALSE(Components(BitPlane(1, 1, false), Adjacency::kStraight).AreConnected({0, 0}, {0, 0}));
  for (const int length : {63, 64, 65, 127, 128, 129, 8192}) {
    BitPlane row(length, 1, true);
    BitPlane column(1, length, true);
    EXPECT_TRUE(Components(row, Adjacency::kAny).AreConnected({0, 0}, {length - 1, 0}));
    EXPECT_TRUE(Components(column, Adjacency::kAny).AreConnected({0, 0}, {0, length - 1}));
    Flip(row, {length / 2, 0});
    Flip(column, {0, length / 2});
    EXPECT_FALSE(Components(row, Adjacency::kAny).AreConnected({0, 0}, {length - 1, 0}));
    EXPECT_FALSE(Components(column, Adjacency::kAny).AreConnected({0, 0}, {0, length - 1}));
  }
}

TEST(ComponentsTest, OnlyTheOutlineOfUniformPartsCosts) {
  for (const bool fill : {false, true}) {
    const Components whole(BitPlane(kMaxMapSide, kMaxMapSide, fill), Adjacency::kStraight);
    EXPECT_LT(whole.memory_bytes(), 1'000U);
    EXPECT_EQ(whole.AreConnected({0, 0}, {kMaxMapSide - 1, kMaxMapSide - 1}), fill);
    const Components cut(BitPlane(kMaxMapSide - 1, kMaxMapSide - 1, fill), Adjacency::kStraight);
    EXPECT_LT(cut.memory_bytes(), 1'000'000U);
  }
}

// The densities at which a map of noise falls into its most and longest components.
TEST(ComponentsTest, MatchesAFloodWhereNoiseIsCritical) {
  Generator generator(11);
  for (const Adjacency adjacency : kAdjacencies) {
    for (int round = 0; round < 20; ++round) {
      BitPlane cells(generator.Between(100, 400), generator.Between(100, 400), false);
      BitPlaneWriter writer(cells);
      for (int y = 0; y < cells.height(); ++y) {
        for (int x = 0; x < cells.width(); ++x) {
          AssignBit(writer.row(y), x, generator.Chance(adjacency == Adjacency::kAny ? 0.41 : 0.59));
        }
      }
      writer.Release();
      ExpectMatches(Components(cells, adjacency), Flood(cells, adjacency), cells);
    }
  }
}

Rectangle RandomShape(Generator& generator, const BitPlane& cells) {
  const Cell cell = {generator.Between(0, cells.width() - 1), generator.Between(0, cells.height() - 1)};
  switch (generator.Between(0, 6)) {
    case 0:  // A wall through the map, or a passage.
      return {0, cell.y, cells.width(), 1};
    case 1:
      return {cell.x, 0, 1, cells.height()};
    case 2:  // Whole leaves, which become uniform.
      return {cell.x / kLeafSide * kLeafSide, cell.y / kLeafSide * kLeafSide, kLeafSide, kLeafSide};
    case 3:
      return {cell.x - 5, cell.y - 5, generator.Between(1, 150), generator.Between(1, 150)};
    default:
      return {cell.x, cell.y, 1, 1};
  }
}

// Returns a coordinate that is often at the side of a leaf.
int RandomPlace(Generator& generator, int length) {
  const int place = generator.Between(0, length - 1);
  const int side = (place + kLeafSide / 2) / kLeafSide * kLeafSide;
  return generator.Chance(0.4) ? std::clamp(side - generator.Between(0, 1), 0, length - 1) : place;
}

// Changes a shape, or cells near to each other. Returns what changed.
std::vector<WordChange> ChangeAny(Generator& generator, BitPlane& cells) {
  if (generator.Chance(0.3)) {
    std::vector<WordChange> changes;
    for (int shapes = generator.Between(0, 3); shapes >= 0; --shapes) {
      const auto more = Paint(RandomShape(generator, cells), generator.Chance(0.5), cells);
      changes.insert(changes.end(), more.begin(), more.end());
    }
    return changes;
  }
  const BitPlane before = cells;
  Cell cell = {RandomPlace(generator, cells.width()), RandomPlace(generator, cells.height())};
  for (int count = generator.Chance(0.6) ? 1 : generator.Between(2, 30); count > 0; --count) {
    Flip(cells, cell);
    cell.x = std::clamp(cell.x + generator.Between(-2, 2), 0, cells.width() - 1);
    cell.y = std::clamp(cell.y + generator.Between(-2, 2), 0, cells.height() - 1);
  }
  return DifferencesBetween(before, cells);
}

// On maps of every kind.
TEST(ComponentsTest, RepairedEqualsBuiltAfresh) {
  for (std::uint64_t seed = 0; seed < Rounds(240); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Generator generator(seed);
    BitPlane cells = generator.Map({.max_side = seed % 2 == 0 ? 300 : 900, .max_cells = 20000}).walk().rows();
    const Adjacency adjacency = kAdjacencies[seed % 3];
    Components repaired(cells, adjacency);
    for (int step = 0; step < 30; ++step) {
      const Components before = repaired;
      const BitPlane cells_before = cells;
      const std::vector<WordChange> changes = ChangeAny(generator, cells);
      repaired = Components(before, cells, changes);
      const Components afresh(cells, adjacency);
      ExpectSameBlocks(repaired.root(), afresh.root(), afresh.root_level());
      EXPECT_EQ(repaired.memory_bytes(), afresh.memory_bytes());
      if (step % 6 == 0) {
        const Flood flood(cells, adjacency);
        ExpectMatches(repaired, flood, cells);
        ExpectMatches(before, Flood(cells_before, adjacency), cells_before);
        for (int pair = 0; pair < 200; ++pair) {
          const Cell a = {generator.Between(0, cells.width() - 1), generator.Between(0, cells.height() - 1)};
          const Cell b = {generator.Between(0, cells.width() - 1), generator.Between(0, cells.height() - 1)};
          ASSERT_EQ(repaired.AreConnected(a, b), flood.AreConnected(a, b));
          ASSERT_EQ(afresh.AreConnected(a, b), flood.AreConnected(a, b));
        }
      }
      ASSERT_FALSE(::testing::Test::HasFailure()) << "step " << step;
    }
  }
}

TEST(ComponentsTest, RepairSharesWhatLooksAsBefore) {
  BitPlane cells(1000, 1000, true);
  Paint({0, 500, 900, 1}, false, cells);
  Paint({80, 80, 20, 20}, false, cells);
  Paint({85, 85, 10, 10}, true, cells);
  const Components before(cells, Adjacency::kStraight);
  const auto inside = Paint({90, 90, 1, 1}, false, cells);
  const Components pillar(before, cells, inside);
  const auto& root = static_cast<const ComponentParent&>(*pillar.root());
  const auto& root_before = static_cast<const ComponentParent&>(*before.root());
  EXPECT_NE(root.children[0], root_before.children[0]);
  EXPECT_EQ(root.children[0]->border, root_before.children[0]->border);
  EXPECT_EQ(root.upward_storage, root_before.upward_storage);
  EXPECT_EQ(root.children[1], root_before.children[1]);

  const auto gap = Paint({100, 500, 1, 1}, true, cells);
  const Components passable(pillar, cells, gap);
  const auto& holed = static_cast<const ComponentParent&>(*passable.root());
  EXPECT_NE(holed.children[0]->border, root.children[0]->border);
  EXPECT_EQ(holed.children[3], root.children[3]);
}

TEST(ComponentsTest, StaysTheSameWhereNothingIsJoinedOrParted) {
  for (const Adjacency adjacency : kAdjacencies) {
    BitPlane cells(1000, 1000, true);
    Paint({0, 500, 900, 1}, false, cells);
    const Components before(cells, adjacency);
    std::vector<WordChange> changes = Paint({100, 100, 1, 1}, false, cells);
    for (const Rectangle& part : {Rectangle{300, 600, 2, 3}, {501, 90, 1, 9}, {503, 90, 5, 1}}) {
      const auto more = Paint(part, false, cells);
      changes.insert(changes.end(), more.begin(), more.end());
    }
    const Components holed(before, cells, changes);
    EXPECT_EQ(holed.root(), before.root());
    EXPECT_LT(holed.BytesBeyond(&before), 200U);
    EXPECT_FALSE(holed.AreConnected({100, 100}, {0, 0}));
    EXPECT_TRUE(holed.AreConnected({100, 101}, {0, 0}));

    const auto again = Paint({100, 100, 1, 1}, true, cells);
    const Components mended(holed, cells, again);
    EXPECT_EQ(mended.root(), before.root());
    EXPECT_TRUE(mended.AreConnected({100, 100}, {0, 0}));
    EXPECT_FALSE(holed.AreConnected({100, 100}, {0, 0})) << "what it was repaired from stays as it was";
  }
}

TEST(ComponentsTest, WholeBlocksAreSharedThoughCellsInTheirLeavesAreNotSet) {
  BitPlane cells(512, 512, true);
  const Components whole(cells, Adjacency::kStraight);
  const auto inside = Paint({70, 70, 20, 20}, false, cells);
  EXPECT_EQ(Components(whole, cells, inside).root(), whole.root());
  EXPECT_EQ(Components(cells, Adjacency::kStraight).root(), whole.root());
  const auto across = Paint({120, 100, 20, 1}, false, cells);
  const Components crossed(whole, cells, across);
  EXPECT_NE(crossed.root(), whole.root());
  const auto mended = Paint({120, 100, 20, 1}, true, cells);
  EXPECT_EQ(Components(crossed, cells, mended).root(), whole.root());
}

TEST(ComponentsTest, AnOpenMapOfWholeBlocksMayLoseCellsAtItsSides) {
  for (const int side : {64, 128, 512}) {
    BitPlane cells(side, side, true);
    Components repaired(cells, Adjacency::kAny);
    for (const Cell cell : {Cell{30, 0}, Cell{0, 17}, Cell{side - 1, 40}, Cell{30, 0}}) {
      const BitPlane before = cells;
      Flip(cells, cell);
      repaired = Components(repaired, cells, DifferencesBetween(before, cells));
      const Components afresh(cells, Adjacency::kAny);
      ExpectSameBlocks(repaired.root(), afresh.root(), afresh.root_level());
      EXPECT_EQ(repaired.memory_bytes(), afresh.memory_bytes());
    }
  }
}

std::vector<Cell> NearestByTryingAll(const Flood& flood, Adjacency adjacency, const BitPlane& cells,
                                     Cell start, Cell goal) {
  std::vector<Cell> nearest;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int y = 0; y < cells.height(); ++y) {
    for (int x = 0; x < cells.width(); ++x) {
      const std::int64_t dx = x - goal.x;
      const std::int64_t dy = y - goal.y;
      const std::int64_t squared_distance =
          dx * dx + dy * dy + (adjacency == Adjacency::kHexagonal ? dx * dy : 0);
      if (squared_distance <= least && flood.AreConnected(start, {x, y})) {
        if (squared_distance < least) {
          nearest.clear();
        }
        least = squared_distance;
        nearest.push_back({x, y});
      }
    }
  }
  return nearest;
}

TEST(NearestConnectedTest, AcrossTheLargestMap) {
  BitPlane cells(kMaxMapSide, kMaxMapSide, true);
  Paint({1, 0, 1, kMaxMapSide}, false, cells);
  NearestConnectedBuffer buffer;
  std::vector<Cell> nearest;
  NearestConnected(Components(cells, Adjacency::kAny), {0, 17}, {kMaxMapSide - 1, kMaxMapSide - 1}, buffer,
                   nearest);
  EXPECT_EQ(nearest, (std::vector<Cell>{{0, kMaxMapSide - 1}}));
}

// They are added to what is there.
TEST(NearestConnectedTest, MatchesTryingEveryCell) {
  // One for all maps: what a call leaves behind is nothing to the next.
  NearestConnectedBuffer buffer;
  for (int seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Generator generator(seed);
    const GridMap map = generator.Map({.max_side = seed % 2 == 0 ? 40 : 300});
    const BitPlane& cells = map.walk().rows();
    const Adjacency adjacency = kAdjacencies[seed / 2 % 3];
    const Components components(cells, adjacency);
    const Flood flood(cells, adjacency);
    std::vector<Cell> nearest;
    NearestConnected(components, {map.width(), 0}, {0, 0}, buffer, nearest);
    ASSERT_TRUE(nearest.empty()) << "from off the map";
    std::vector<Cell> expected;
    for (int query = 0; query < 20; ++query) {
      const Cell start = generator.CellOf(map);
      const Cell goal = generator.CellOf(map);
      NearestConnected(components, start, goal, buffer, nearest);
      const std::vector<Cell> more = NearestByTryingAll(flood, adjacency, cells, start, goal);
      expected.insert(expected.end(), more.begin(), more.end());
      ASSERT_EQ(nearest, expected);
    }
  }
}

}  // namespace
}  // namespace waystar::core
