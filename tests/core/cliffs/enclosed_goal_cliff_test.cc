// Paths to the cell nearest to a goal that is enclosed cost about a flood and a path, however large the
// enclosure is, and with portals too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/grid/search/scratch.h"
#include "tests/core/cliffs/field_cliff_maps.h"

namespace waystar::core {
namespace {

// As PortalRace::kHeadStart allows, both ways.
constexpr std::uint64_t kFree = 2048;

// The map with a square wall around a cell; what is within is free.
GridMap WithEnclosure(const GridMap& map, Cell middle, int radius) {
  GridMapEditor editor(map);
  for (int y = middle.y - radius; y <= middle.y + radius; ++y) {
    for (int x = middle.x - radius; x <= middle.x + radius; ++x) {
      if (map.Contains({x, y})) {
        editor.SetObstacle({x, y}, std::max(std::abs(x - middle.x), std::abs(y - middle.y)) == radius);
      }
    }
  }
  return std::move(editor).Finish();
}

TEST(EnclosedGoalCliffTest, CostsAboutAFloodAndAPath) {
  Scratch scratch(std::size_t{1} << 28);
  NoWorld world;
  ForEachFieldMap(
      {Connectivity::kFour, Connectivity::kEight, Connectivity::kSix}, {96}, [&](const GridMap& map) {
        const Cell goal{map.width() - 30, map.height() - 30};
        for (const int radius : {2, 8, 24}) {
          const GridMap enclosed = WithEnclosure(map, goal, radius);
          const std::vector<Cell> part = LargestPart(enclosed);
          ASSERT_EQ(std::find(part.begin(), part.end(), goal), part.end());
          for (const int portals : {0, 100, 1000}) {
            SCOPED_TRACE(absl::StrCat("radius ", radius, ", ", portals, " portals"));
            const GridMap linked = WithPortalsAmong(enclosed, part, portals, 20.0);
            const PathQuery query{
                .start = part[0], .goal = goal, .unreachable_policy = UnreachablePolicy::kNearestByDistance};
            const PortalPath found =
                FindPathThroughPortals(linked, world, {.path = query}, {}, scratch).value();
            EXPECT_EQ(found.path.outcome, Outcome::kPartial);
            EXPECT_LE(found.path.statistics.expanded, 3 * part.size() + kFree);
          }
        }
      });
}

}  // namespace
}  // namespace waystar::core
