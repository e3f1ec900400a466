// Reachability takes so much for each pair, each portal and each map, and nothing for two of them together.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "tests/core/cliffs/grid_growth_maps.h"
#include "tests/core/cliffs/work_counter.h"
#include "tests/testing/portal_world.h"

namespace waystar::core {
namespace {

using ::waystar::testing::ExpectLinear;
using ::waystar::testing::WorkOf;

std::vector<CellPair> PairsOfStrips(int strips, int count) {
  std::vector<CellPair> pairs;
  for (int i = 0; i < count; ++i) {
    pairs.push_back({.start = CellOfStrip(i % strips, i), .goal = CellOfStrip(7 * i % strips, 5 * i)});
  }
  return pairs;
}

std::uint64_t WorkOfPairs(const GridMap& map, World& world, const std::vector<CellPair>& pairs) {
  // Makes what the map keeps.
  EXPECT_TRUE(CheckReachability(map, world, {}, {}).ok());
  return WorkOf([&] { EXPECT_TRUE(CheckReachability(map, world, {}, pairs).ok()); });
}

// Pairs compared with each other.
TEST(ReachabilityGrowthTest, Pairs) {
  NoWorld world;
  for (const bool with_portals : {false, true}) {
    const GridMap map = MakeStrips(50, with_portals);
    ExpectLinear(1000, [&](int count) { return WorkOfPairs(map, world, PairsOfStrips(50, count)); });
  }
}

// A way from each portal to each other.
TEST(ReachabilityGrowthTest, Portals) {
  NoWorld world;
  ExpectLinear(200, [&](int strips) {
    return WorkOfPairs(MakeStrips(strips, true), world, PairsOfStrips(strips, 40));
  });
}

// The portals looked at for each pair: both grow.
TEST(ReachabilityGrowthTest, PairsAndPortals) {
  NoWorld world;
  ExpectLinear(200, [&](int count) {
    std::vector<CellPair> pairs = PairsOfStrips(count, 10 * count);
    for (CellPair& pair : pairs) {
      pair.start = {0, 0};
    }
    return WorkOfPairs(MakeStrips(count, true), world, pairs);
  });
}

// Each map leads to the next, by several portals, and the last to one that there is not.
class ChainOfMaps {
 public:
  explicit ChainOfMaps(int count) {
    constexpr int kDoors = 40;
    const GridMap blank = MakeBlank(16, 16);
    for (int i = 0; i < count; ++i) {
      std::vector<Portal> portals;
      for (int door = 0; door < kDoors; ++door) {
        portals.push_back(testing::Between(absl::StrCat("p", door), {door % 16, door / 16}, {door / 16, 5}));
        portals.back().to_map = Name(i + 1);
      }
      maps_.maps.maps.emplace(Name(i), testing::With(blank, portals));
    }
  }

  const GridMap& home() const { return maps_.maps.maps.at(Name(0)); }
  World& world() { return maps_; }
  // How often the world was asked for a map.
  int finds() const { return maps_.finds; }

 private:
  static std::string Name(int number) { return absl::StrCat("map", 100'000 + number); }

  struct CountingMaps final : World {
    const GridMap* Find(absl::string_view id) override {
      ++finds;
      return maps.Find(id);
    }

    testing::Maps maps;
    int finds = 0;
  };

  CountingMaps maps_;
};

// Each map compared with each other, or looked for once for each portal.
TEST(ReachabilityGrowthTest, Maps) {
  const std::vector<CellPair> pairs = {{.start = {0, 0}, .goal = {9, 9}}};
  ExpectLinear(100, [&](int count) {
    ChainOfMaps chain(count);
    const std::uint64_t work = WorkOfPairs(chain.home(), chain.world(), pairs);
    // By both calls, with the one that there is not.
    EXPECT_LE(chain.finds(), 2 * count);
    return work;
  });
}

}  // namespace
}  // namespace waystar::core
