#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/walk/component_block.h"
#include "tests/testing/generator.h"
#include "tests/testing/rules.h"

namespace waystar::core {
namespace {

using ::testing::Gt;
using ::waystar::testing::Generator;
using ::waystar::testing::kAdjacencies;

LeafRows Noise(double density, Generator& generator) {
  LeafRows rows{};
  for (Word& row : rows) {
    for (int x = 0; x < kLeafSide; ++x) {
      row |= Word{generator.Chance(density)} << x;
    }
  }
  return rows;
}

// Which runs are of one component: the number of the first run of each.
std::vector<std::size_t> FirstsOf(const ComponentLeaf& leaf) {
  std::vector<std::size_t> first_of(leaf.components, leaf.run_components.size());
  std::vector<std::size_t> firsts;
  for (std::size_t run = 0; run < leaf.run_components.size(); ++run) {
    std::size_t& first = first_of[leaf.run_components[run]];
    first = first == leaf.run_components.size() ? run : first;
    firsts.push_back(first);
  }
  return firsts;
}

TEST(PatchLeafTest, EqualsALeafThatIsLabelledAnew) {
  int patched = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Generator generator(seed);
    const Adjacency adjacency = kAdjacencies[seed % 3];
    const LeafRows before = Noise(0.2 + 0.79 * static_cast<double>(seed % 97) / 97, generator);
    LeafRows rows = before;
    for (int cells = generator.Between(1, 4); cells > 0; --cells) {
      rows[static_cast<std::size_t>(generator.Between(0, kLeafSide - 1))] ^=
          Word{1} << generator.Between(0, kLeafSide - 1);
    }
    const std::shared_ptr<ComponentLeaf> patch = PatchLeaf(*LabelLeaf(before, adjacency), rows, adjacency);
    if (patch == nullptr) {
      continue;
    }
    ++patched;
    const std::shared_ptr<ComponentLeaf> anew = LabelLeaf(rows, adjacency);
    ASSERT_EQ(patch->rows, anew->rows);
    ASSERT_EQ(patch->first_run, anew->first_run);
    ASSERT_EQ(FirstsOf(*patch), FirstsOf(*anew));
    ASSERT_EQ(*patch->border, *anew->border);
    ASSERT_EQ(patch->open, anew->open);
    ASSERT_EQ(patch->components, anew->components);
    ASSERT_EQ(patch->bytes, anew->bytes);
  }
  EXPECT_THAT(patched, Gt(1000));
}

TEST(PatchLeafTest, LeavesToOthersWhatItCannotTell) {
  LeafRows rows = kFullLeaf;
  const auto without = [&](int x, std::size_t y) {
    LeafRows less = rows;
    less[y] &= ~(Word{1} << x);
    return less;
  };
  // A wall through the leaf with one gap.
  rows[30] = Word{1} << 20;
  const auto leaf = LabelLeaf(rows, Adjacency::kStraight);
  EXPECT_EQ(PatchLeaf(*leaf, without(20, 30), Adjacency::kStraight), nullptr) << "parts the leaf";
  EXPECT_EQ(PatchLeaf(*leaf, without(0, 10), Adjacency::kStraight), nullptr) << "changes the border";
  EXPECT_NE(PatchLeaf(*leaf, without(10, 10), Adjacency::kStraight), nullptr);
  LeafRows holed = without(10, 10);
  holed[30] |= Word{1} << 40;
  EXPECT_NE(PatchLeaf(*leaf, holed, Adjacency::kStraight), nullptr) << "a second gap joins nothing new";
}

}  // namespace
}  // namespace waystar::core
