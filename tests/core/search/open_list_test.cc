#include "server/core/search/open_list.h"

#include <algorithm>
#include <vector>

#include "gmock/gmock.h"
#include "tests/testing/generator.h"

namespace waystar::core {
namespace {

TEST(OpenListTest, OrdersByFThenLargerGThenRowMajor) {
  OpenList open;
  open.Push(OpenEntry::Of(10, 3, {5, 5}));
  open.Push(OpenEntry::Of(10, 7, {9, 9}));
  open.Push(OpenEntry::Of(10, 7, {0, 9}));
  open.Push(OpenEntry::Of(10, 7, {8, 2}));
  open.Push(OpenEntry::Of(9, 0, {7, 7}));
  EXPECT_EQ(open.Pop().cell(), (Cell{7, 7}));
  EXPECT_EQ(open.Pop().cell(), (Cell{8, 2}));
  EXPECT_EQ(open.Pop().cell(), (Cell{0, 9}));
  EXPECT_EQ(open.Pop().cell(), (Cell{9, 9}));
  EXPECT_EQ(open.Pop().cell(), (Cell{5, 5}));
  EXPECT_TRUE(open.empty());
}

TEST(OpenListTest, PopsInOrderWhateverWasPushed) {
  Generator generator(7);
  OpenList open;
  std::vector<OpenEntry> expected;
  for (int i = 0; i < 5000; ++i) {
    const OpenEntry entry = OpenEntry::Of(generator.Between(0, 50), generator.Between(0, 50),
                                          {generator.Between(0, 8191), generator.Between(0, 8191)});
    open.Push(entry);
    expected.push_back(entry);
  }
  std::sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.Precedes(b); });
  for (const OpenEntry& entry : expected) {
    const OpenEntry popped = open.Pop();
    ASSERT_FALSE(popped.Precedes(entry) || entry.Precedes(popped));
  }
  EXPECT_TRUE(open.empty());
}

}  // namespace
}  // namespace waystar::core
