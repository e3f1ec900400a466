#include "server/core/portal/portal_legs.h"

#include <vector>

#include "gmock/gmock.h"
#include "server/core/grid/search/scratch.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

// A path of directions may be shorter than its crossings: its legs may be empty.
TEST(LegOfTest, CutsWhereCrossingsSay) {
  const auto legs = [](const std::vector<int>& path, const std::vector<PortalCrossing>& crossings) {
    std::vector<std::vector<int>> cut;
    for (std::size_t i = 0; i <= crossings.size(); ++i) {
      const auto leg = LegOf(absl::MakeConstSpan(path), absl::MakeConstSpan(crossings), i);
      cut.emplace_back(leg.begin(), leg.end());
    }
    return cut;
  };
  const std::vector<int> none;
  EXPECT_THAT(legs({1, 2, 3, 4, 5}, {{.index = 2}, {.index = 3}}),
              ElementsAre(ElementsAre(1, 2), ElementsAre(3), ElementsAre(4, 5)));
  EXPECT_THAT(legs({1, 2}, {}), ElementsAre(ElementsAre(1, 2)));
  EXPECT_THAT(legs({1}, {{.index = 0}, {.index = 1}, {.index = 1}}),
              ElementsAre(none, ElementsAre(1), none, none));
  EXPECT_THAT(legs({}, {{.index = 0}, {.index = 1}}), ElementsAre(none, none, none));
}

}  // namespace
}  // namespace waystar::core
