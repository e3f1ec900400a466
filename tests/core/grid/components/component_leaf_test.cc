#include "server/core/grid/components/component_leaf.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/geometry/cell.h"
#include "tests/testing/generator.h"
#include "tests/testing/rules.h"

namespace waystar::core {
namespace {

using ::testing::Gt;

// A leaf with others all around it.
constexpr Cell kCorner = {kLeafSide, kLeafSide};

class LeafPlane {
 public:
  LeafPlane() : plane_(3 * kLeafSide, 3 * kLeafSide, false) {}
  explicit LeafPlane(const LeafRows& rows) : plane_(3 * kLeafSide, 3 * kLeafSide, true) {
    BitPlaneWriter writer(plane_);
    for (int y = 0; y < kLeafSide; ++y) {
      for (int x = 0; x < kLeafSide; ++x) {
        AssignBit(writer.row(kCorner.y + y), kCorner.x + x,
                  (rows[static_cast<std::size_t>(y)] >> x & 1U) != 0);
      }
    }
  }

  static LeafPlane Noise(double density, Generator& generator) {
    LeafPlane noise;
    BitPlaneWriter writer(noise.plane_);
    for (int y = 0; y < noise.plane_.height(); ++y) {
      for (int x = 0; x < noise.plane_.width(); ++x) {
        AssignBit(writer.row(y), x, generator.Chance(density));
      }
    }
    return noise;
  }

  LeafPlane With(Cell in_leaf) const {
    LeafPlane other = *this;
    BitPlaneWriter writer(other.plane_);
    const Cell cell = {kCorner.x + in_leaf.x, kCorner.y + in_leaf.y};
    AssignBit(writer.row(cell.y), cell.x, !plane_.Test(cell));
    return other;
  }

  LeafRows rows() const { return ReadLeaf(plane_, kCorner); }
  const BitPlane& plane() const { return plane_; }

 private:
  BitPlane plane_;
};

std::shared_ptr<const ComponentLeaf> Label(const LeafPlane& plane, Adjacency adjacency) {
  return LabelLeaf(plane.rows(), adjacency);
}

std::shared_ptr<const ComponentLeaf> Patch(const std::shared_ptr<const ComponentLeaf>& leaf,
                                           const LeafPlane& before, const LeafPlane& now,
                                           Adjacency adjacency) {
  std::vector<LeafRowKey> rows;
  for (int y = 0; y < kLeafSide; ++y) {
    rows.push_back(LeafRowKeyOf({kCorner.x, kCorner.y + y}));
  }
  return std::static_pointer_cast<const ComponentLeaf>(
      PatchLeaf(leaf, LeafFlips(before.plane(), now.plane(), kCorner), rows, adjacency).block);
}

// Which runs are of one component: the number of the first run of each.
std::vector<int> FirstsOf(const ComponentLeaf& leaf, const LeafRows& rows) {
  std::map<ComponentNumber, int> first_of;
  std::vector<int> firsts;
  for (int y = 0; y < kLeafSide; ++y) {
    const Word row = rows[static_cast<std::size_t>(y)];
    ForEachRun(row, [&](BitRun run) {
      const ComponentNumber component = leaf.parts().At({.x = run.end - 1, .y = y, .row = row});
      EXPECT_LT(component, leaf.components);
      firsts.push_back(first_of.try_emplace(component, static_cast<int>(firsts.size())).first->second);
    });
  }
  EXPECT_EQ(first_of.size(), leaf.components);
  return firsts;
}

void ExpectEqualLeaves(const ComponentLeaf& actual, const ComponentLeaf& expected, const LeafRows& rows) {
  EXPECT_EQ(*actual.border, *expected.border);
  EXPECT_EQ(actual.open, expected.open);
  EXPECT_EQ(actual.components, expected.components);
  EXPECT_EQ(FirstsOf(actual, rows), FirstsOf(expected, rows));
  EXPECT_EQ(actual.main, expected.main);
  EXPECT_EQ(actual.others.size(), expected.others.size());
  EXPECT_EQ(actual.bytes, expected.bytes);
}

// Cells of the leaf, near to each other, often on its sides and in its corners.
std::vector<Cell> CellsNearby(Generator& generator) {
  constexpr int kReach = 3;
  const auto coordinate = [&] {
    return generator.Chance(0.2) ? (generator.Chance(0.5) ? 0 : kLeafSide - 1)
                                 : generator.Between(0, kLeafSide - 1);
  };
  const Cell middle = {coordinate(), coordinate()};
  std::vector<Cell> cells;
  for (int count = generator.Between(1, 5); count > 0; --count) {
    cells.push_back({std::clamp(middle.x + generator.Between(-kReach, kReach), 0, kLeafSide - 1),
                     std::clamp(middle.y + generator.Between(-kReach, kReach), 0, kLeafSide - 1)});
  }
  return cells;
}

TEST(PatchLeafTest, EqualsALeafThatIsLabelledAnew) {
  int same = 0;
  int patched = 0;
  for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Generator generator(seed);
    const Adjacency adjacency = kAdjacencies[seed % 3];
    const LeafPlane before = LeafPlane::Noise(0.2 + 0.79 * static_cast<double>(seed % 97) / 97, generator);
    LeafPlane now = before;
    for (const Cell cell : CellsNearby(generator)) {
      now = now.With(cell);
    }
    const auto leaf = Label(before, adjacency);
    const auto patch = Patch(leaf, before, now, adjacency);
    if (patch == nullptr) {
      continue;
    }
    ++(patch == leaf ? same : patched);
    ExpectEqualLeaves(*patch, *Label(now, adjacency), now.rows());
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_THAT(same, Gt(500));
  EXPECT_THAT(patched, Gt(500));
}

TEST(PatchLeafTest, IsTheVeryLeafWhereTheMainComponentStaysConnected) {
  const LeafPlane full(kFullLeaf);
  const LeafPlane holed = full.With({10, 10});
  const auto leaf = Label(full, Adjacency::kStraight);
  EXPECT_EQ(Patch(leaf, full, holed, Adjacency::kStraight), leaf);
  EXPECT_EQ(Patch(leaf, holed, full, Adjacency::kStraight), leaf);
  EXPECT_TRUE(
      KeepsLeaf(*leaf, LeafFlips(full.plane(), holed.plane(), kCorner), 10, 10, Adjacency::kStraight));
}

TEST(PatchLeafTest, LeavesToOthersWhatItCannotTell) {
  LeafRows rows = kFullLeaf;
  // A wall through the leaf with one gap.
  rows[30] = Word{1} << 20;
  const LeafPlane plane(rows);
  const auto leaf = Label(plane, Adjacency::kStraight);
  const auto patch = [&](Cell cell) { return Patch(leaf, plane, plane.With(cell), Adjacency::kStraight); };
  EXPECT_EQ(patch({20, 30}), nullptr) << "parts the leaf";
  EXPECT_EQ(patch({40, 30}), leaf) << "a second gap joins nothing new";
  const auto other_border = patch({0, 10});
  ASSERT_NE(other_border, nullptr);
  EXPECT_FALSE(*other_border->border == *leaf->border);
}

TEST(PatchLeafTest, FollowsRunsOfAComponentThatIsClosedIn) {
  LeafRows rows = kFullLeaf;
  const LeafRows open = rows;
  for (std::size_t y = 20; y <= 30; ++y) {
    constexpr Word kWalls = Word{1} << 20 | Word{1} << 30;
    constexpr Word kWall = (Word{1} << 31) - (Word{1} << 20);
    rows[y] &= y == 20 || y == 30 ? ~kWall : ~kWalls;
  }
  const LeafPlane room(rows);
  const auto leaf = Label(room, Adjacency::kAny);
  EXPECT_EQ(leaf->others.size(), 9U);
  const LeafPlane pillar = room.With({25, 25});
  const auto patched = Patch(leaf, room, pillar, Adjacency::kAny);
  ASSERT_NE(patched, nullptr);
  EXPECT_EQ(patched->others.size(), 10U);
  EXPECT_EQ(patched->border, leaf->border);
  EXPECT_EQ(Patch(patched, pillar, pillar.With({25, 20}), Adjacency::kAny), nullptr) << "a door";
  EXPECT_EQ(Patch(patched, pillar, LeafPlane(open), Adjacency::kAny), nullptr);
}

TEST(MainComponentTest, IsThatOfMostCellsAlongTheBorder) {
  LeafRows rows = kFullLeaf;
  rows[20] = 0;
  const auto leaf = LabelLeaf(rows, Adjacency::kStraight);
  ASSERT_EQ(leaf->components, 2);
  EXPECT_EQ(leaf->main, leaf->parts().At({.x = 5, .y = 40, .row = rows[40]}));
  EXPECT_NE(leaf->main, leaf->parts().At({.x = 5, .y = 10, .row = rows[10]}));
}

TEST(MainComponentTest, CountsACornerForBothOfItsSides) {
  LeafRows rows = kEmptyLeaf;
  rows[0] = ~Word{0};
  std::fill(rows.begin() + 10, rows.begin() + 43, ~Word{0});
  rows[10] >>= 1;
  // The northern row has 64 cells, and the band in the middle has 65 cells on the sides but no corner.
  const auto leaf = LabelLeaf(rows, Adjacency::kStraight);
  EXPECT_EQ(leaf->main, leaf->parts().At({.x = 5, .y = 0, .row = rows[0]}));
  EXPECT_NE(leaf->main, leaf->parts().At({.x = 5, .y = 32, .row = rows[32]}));
}

TEST(MainComponentTest, IsNoneOfSeveralThatAreClosedIn) {
  LeafRows rows = kEmptyLeaf;
  rows[10] = Word{1} << 20;
  EXPECT_EQ(LabelLeaf(rows, Adjacency::kStraight)->main, 0);
  rows[20] = Word{1} << 20;
  const auto leaf = LabelLeaf(rows, Adjacency::kStraight);
  EXPECT_EQ(leaf->main, kNoComponent);
  EXPECT_EQ(leaf->others.size(), 2U);
}

}  // namespace
}  // namespace waystar::core
