// Floods expand about each cell that they reach once, whatever the map, the goals and the agent.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/field/field_scratch.h"
#include "server/core/grid/field/grid_fields.h"
#include "tests/core/cliffs/field_cliff_maps.h"

namespace waystar::core {
namespace {

const std::vector<Connectivity> kEachConnectivity = {Connectivity::kFour, Connectivity::kEight,
                                                     Connectivity::kSix};

class ReachCliffTest : public ::testing::Test {
 protected:
  ReachableCells Reach(const GridMap& map, const ReachQuery& query) {
    return FindReachable(map, query, {}, scratch_).value();
  }
  std::uint64_t FlowTo(const GridMap& map, const std::vector<Cell>& goals, int footprint = 1) {
    return ComputeFlowField(map, {.goals = goals, .agent = {.footprint = footprint}}, {}, scratch_)
        .value()
        .expanded;
  }

 private:
  FieldScratch scratch_;
};

TEST_F(ReachCliffTest, EachCellThatIsReachedIsExpandedOnce) {
  ForEachFieldMap(kEachConnectivity, {48, 96, 192}, [&](const GridMap& map) {
    const std::vector<Cell> part = LargestPart(map);
    for (const FloodSense sense : {FloodSense::kFromSeeds, FloodSense::kToSeeds}) {
      const ReachableCells reached = Reach(map, {.start = part[0], .sense = sense});
      EXPECT_EQ(reached.count, std::ssize(part));
      EXPECT_LE(reached.expanded, part.size() + part.size() / 8);
    }
  });
}

TEST_F(ReachCliffTest, AHigherLimitCostsWhatItAddsToTheReach) {
  ForEachFieldMap(kEachConnectivity, {192}, [&](const GridMap& map) {
    const Cell start = LargestPart(map)[0];
    for (const double max_cost : {10.0, 20.0, 40.0, 80.0}) {
      const ReachableCells reached = Reach(map, {.start = start, .max_cost = max_cost});
      EXPECT_LE(reached.expanded, static_cast<std::uint64_t>(reached.count + reached.count / 8));
    }
  });
}

TEST_F(ReachCliffTest, LargeAgentsExpandNoMore) {
  ForEachFieldMap(kEachConnectivity, {96}, [&](const GridMap& map) {
    for (const int footprint : {2, 4, 8, 16, 32}) {
      const std::vector<Cell> part = LargestPart(map, footprint);
      if (part.empty()) {
        continue;
      }
      SCOPED_TRACE(absl::StrCat("footprint ", footprint));
      const ReachableCells reached = Reach(map, {.start = part[0], .agent = {.footprint = footprint}});
      EXPECT_EQ(reached.count, std::ssize(part));
      EXPECT_LE(reached.expanded, part.size() + part.size() / 8);
      EXPECT_LE(FlowTo(map, AnyOf(part, 20, 1), footprint), part.size() + part.size() / 8);
    }
  });
}

TEST_F(ReachCliffTest, MoreGoalsExpandNoMore) {
  ForEachFieldMap(kEachConnectivity, {48, 96}, [&](const GridMap& map) {
    const std::vector<Cell> part = LargestPart(map);
    for (const std::size_t count : {1U, 10U, 100U, 1000U}) {
      SCOPED_TRACE(absl::StrCat(count, " goals"));
      EXPECT_LE(FlowTo(map, AnyOf(part, count, count)), part.size() + part.size() / 8);
    }
  });
}

TEST_F(ReachCliffTest, PortalsExpandLittleMore) {
  ForEachFieldMap(kEachConnectivity, {96}, [&](const GridMap& map) {
    const std::vector<Cell> part = LargestPart(map);
    for (const int portals : {10, 100, 1000}) {
      for (const double max_cost : {0.0, 1.0, 40.0, 1000.0}) {
        SCOPED_TRACE(absl::StrCat(portals, " portals of up to ", max_cost));
        const GridMap linked = WithPortalsAmong(map, part, portals, max_cost);
        EXPECT_LE(Reach(linked, {.start = part[0]}).expanded, part.size() + part.size() / 4);
        EXPECT_LE(FlowTo(linked, AnyOf(part, 100, 2)), part.size() + part.size() / 4);
      }
    }
  });
}

}  // namespace
}  // namespace waystar::core
