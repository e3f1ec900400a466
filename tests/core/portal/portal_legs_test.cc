#include "server/core/portal/portal_legs.h"

#include <vector>

#include "gmock/gmock.h"
#include "server/core/grid/search/portal_scratch.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LegOfTest, CutsWhereCrossingsSay) {
  const std::vector<int> path = {1, 2, 3, 4, 5};
  const std::vector<PortalCrossing> crossings = {{.index = 2}, {.index = 3}};
  const auto leg = [&](std::size_t i) {
    return LegOf(absl::MakeConstSpan(path), absl::MakeConstSpan(crossings), i);
  };
  EXPECT_THAT(leg(0), ElementsAre(1, 2));
  EXPECT_THAT(leg(1), ElementsAre(3));
  EXPECT_THAT(leg(2), ElementsAre(4, 5));
}

TEST(LegOfTest, WithoutCrossingsItIsAll) {
  const std::vector<int> path = {1, 2};
  EXPECT_THAT(LegOf(absl::MakeConstSpan(path), absl::Span<const PortalCrossing>(), 0), ElementsAre(1, 2));
}

// Of a path of directions two crossings may follow each other, and its points are none.
TEST(LegOfTest, LegsMayBeEmpty) {
  const std::vector<int> directions = {1};
  const std::vector<PortalCrossing> crossings = {{.index = 0}, {.index = 1}, {.index = 1}};
  const auto legs = absl::MakeConstSpan(crossings);
  EXPECT_THAT(LegOf(absl::MakeConstSpan(directions), legs, 0), IsEmpty());
  EXPECT_THAT(LegOf(absl::MakeConstSpan(directions), legs, 1), ElementsAre(1));
  EXPECT_THAT(LegOf(absl::MakeConstSpan(directions), legs, 2), IsEmpty());
  EXPECT_THAT(LegOf(absl::MakeConstSpan(directions), legs, 3), IsEmpty());
  for (std::size_t i = 0; i <= legs.size(); ++i) {
    EXPECT_THAT(LegOf(absl::Span<const int>(), legs, i), IsEmpty());
  }
}

}  // namespace
}  // namespace waystar::core
