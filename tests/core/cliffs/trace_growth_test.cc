// A traced search takes so much for each step of the search.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/portal/portal_search.h"
#include "tests/core/cliffs/grid_growth_maps.h"
#include "tests/core/cliffs/work_counter.h"
#include "tests/testing/portal_world.h"

namespace waystar::core {
namespace {

using ::waystar::testing::ExpectLinear;
using ::waystar::testing::WorkOf;

class TraceGrowthTest : public ::testing::Test {
 protected:
  std::uint64_t WorkOfTrace(const GridMap& map, World& world, const PortalQuery& query) {
    const auto trace = [&] {
      EventRecorder recorder(std::size_t{1} << 24);
      const auto found = FindPathThroughPortals(map, world, query, {}, scratch_, &recorder);
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(found->path.outcome, Outcome::kFound);
      EXPECT_FALSE(recorder.events().empty());
    };
    // Makes what the map and the scratch keep.
    trace();
    return WorkOf(trace);
  }

 private:
  Scratch scratch_{std::size_t{1} << 28};
};

// Each event compared with those before.
TEST_F(TraceGrowthTest, Events) {
  NoWorld world;
  for (const Algorithm algorithm : {Algorithm::kDijkstra, Algorithm::kAStar, Algorithm::kJumpPoint}) {
    ExpectLinear(100, [&](int width) {
      GridMap map = MakeBlank(width, 64);
      GridMapEditor editor(map);
      for (int x = 4; x + 4 < width; x += 4) {
        for (int y = 0; y < 64; ++y) {
          editor.SetObstacles(y, x, x + 1, x % 8 == 0 ? y != 0 : y != 63);
        }
      }
      map = std::move(editor).Finish();
      return WorkOfTrace(map, world,
                         {.path = {.start = {0, 0}, .goal = {width - 1, 63}, .algorithm = algorithm}});
    });
  }
}

// Each map that a search comes to compared with those before.
TEST_F(TraceGrowthTest, Maps) {
  ExpectLinear(60, [&](int count) {
    testing::Maps world;
    const auto name = [](int number) { return absl::StrCat("map", 100'000 + number); };
    for (int i = 0; i < count; ++i) {
      std::vector<Portal> portals = {testing::Between("p", {7, 7}, {0, 0})};
      portals.back().to_map = name(i + 1);
      world.maps.emplace(name(i), testing::With(MakeBlank(8, 8), portals));
    }
    world.maps.emplace(name(count), MakeBlank(8, 8));
    const std::string goal_map = name(count);
    return WorkOfTrace(world.maps.at(name(0)), world,
                       {.path = {.start = {0, 0}, .goal = {7, 7}}, .goal_map = goal_map});
  });
}

}  // namespace
}  // namespace waystar::core
