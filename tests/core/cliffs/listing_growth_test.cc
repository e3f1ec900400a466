// A page of a list takes about as much as it shows, and all pages together what the list has.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/portal.h"
#include "tests/core/cliffs/graph_growth_maps.h"
#include "tests/core/cliffs/grid_growth_maps.h"
#include "tests/core/cliffs/work_counter.h"

namespace waystar::core {
namespace {

using ::waystar::testing::ExpectFlat;
using ::waystar::testing::ExpectLinear;
using ::waystar::testing::WorkOf;

constexpr std::size_t kPage = 20;
constexpr std::size_t kTries = 16 * kPage;

// Goes through a list page by page. `visit_after` calls a visitor for what comes after an id.
template <typename VisitAfter>
std::size_t ListAll(VisitAfter visit_after) {
  std::size_t listed = 0;
  std::string last;
  for (std::size_t on_page = kPage; on_page == kPage;) {
    on_page = 0;
    std::string next = last;
    visit_after(last, [&](const auto& entry) {
      if (on_page == kPage) {
        return false;
      }
      ++on_page;
      next = entry.id;
      return true;
    });
    listed += on_page;
    last = next;
  }
  return listed;
}

std::uint64_t WorkOfListing(const GridMap& map, const Rectangle& region, int expected) {
  return WorkOf([&] {
    EXPECT_EQ(ListAll([&](const std::string& after, auto visit) {
                map.obstacles().VisitOverlapping(region, after, kTries, visit);
              }),
              expected);
  });
}

// All that lie in the region gathered for each page.
TEST(ListingGrowthTest, ObstaclesOfARegion) {
  const GridMap blank = MakeBlank(256, 256);
  ExpectLinear(500, [&](int count) {
    return WorkOfListing(WithDearDiscs(blank, Spread(blank.bounds(), count)), blank.bounds(), count);
  });
}

// All obstacles looked at, for the few that lie in the region.
TEST(ListingGrowthTest, ObstaclesOutsideTheRegion) {
  const GridMap blank = MakeBlank(512, 512);
  ExpectFlat(500, [&](int count) {
    std::vector<Cell> cells = Spread({100, 100, 400, 400}, count);
    const std::vector<Cell> inside = Spread({4, 4, 40, 40}, 10);
    cells.insert(cells.end(), inside.begin(), inside.end());
    return WorkOfListing(WithDearDiscs(blank, cells), {0, 0, 64, 64}, 10);
  });
}

// The list gone through from its beginning for each page.
TEST(ListingGrowthTest, Portals) {
  ExpectLinear(200, [&](int strips) {
    const GridMap map = MakeStrips(strips, true);
    return WorkOf([&] {
      EXPECT_EQ(
          ListAll([&](const std::string& after, auto visit) { map.portals().VisitAfter(after, visit); }),
          strips - 1);
    });
  });
}

std::uint64_t WorkOfListing(const WaypointGraph& graph, const Box& region, int expected,
                            std::size_t tries = kTries) {
  return WorkOf([&] {
    EXPECT_EQ(ListAll([&](const std::string& after, auto visit) {
                graph.sight().VisitObstaclesNear(region, after, tries, visit);
              }),
              expected);
  });
}

TEST(ListingGrowthTest, PagesOfAGraphHaveAllWhateverTheTries) {
  const WaypointGraph graph = WithDiscs(MakeStreets(2), MiddlesOfBlocks(20));
  for (const std::size_t tries : {0U, 1U, 7U, 100U, 1000U}) {
    WorkOfListing(graph, {0, 0, 90, 90}, 81, tries);
    WorkOfListing(graph, {-9, -9, -8, -8}, 0, tries);
  }
}

// All that lie in the region gathered for each page; and all of a graph, for the few that lie in the region.
TEST(ListingGrowthTest, ObstaclesOfAGraph) {
  const Box all{-1e6, -1e6, 1e6, 1e6};
  ExpectLinear(20, [&](int columns) {
    const std::vector<Point> points = MiddlesOfBlocks(columns);
    return WorkOfListing(WithDiscs(MakeStreets(2), points), all, static_cast<int>(points.size()));
  });
  ExpectFlat(20, [&](int columns) {
    return WorkOfListing(WithDiscs(MakeStreets(2), MiddlesOfBlocks(columns)), {0, 0, 30, 30}, 9);
  });
}

}  // namespace
}  // namespace waystar::core
