// Floods expand about each cell that they reach once, whatever the map, the goals and the agent.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/field/flood.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/query/find_paths.h"
#include "tests/core/cliffs/cliff_maps.h"

namespace waystar::core {
namespace {

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
  ForEachMap({.sides = {48, 96, 192}}, [&](const GridMap& map) {
    for (const int footprint : {1, 2, 8, 32}) {
      const std::vector<Cell> part = LargestPart(map, footprint);
      if (part.empty() || (footprint > 1 && map.width() != 96)) {
        continue;
      }
      SCOPED_TRACE(absl::StrCat("footprint ", footprint));
      for (const FloodSense sense : {FloodSense::kFromSeeds, FloodSense::kToSeeds}) {
        const ReachableCells reached =
            Reach(map, {.start = part[0], .agent = {.footprint = footprint}, .sense = sense});
        EXPECT_EQ(reached.count, std::ssize(part));
        EXPECT_LE(reached.expanded, part.size() + part.size() / 8);
      }
      for (const std::size_t count : {1U, 10U, 100U, 1000U}) {
        SCOPED_TRACE(absl::StrCat(count, " goals"));
        EXPECT_LE(FlowTo(map, AnyOf(part, count, count), footprint), part.size() + part.size() / 8);
      }
    }
  });
}

TEST_F(ReachCliffTest, AHigherLimitCostsWhatItAddsToTheReach) {
  ForEachMap({.sides = {192}}, [&](const GridMap& map) {
    const Cell start = LargestPart(map)[0];
    for (const double max_cost : {10.0, 20.0, 40.0, 80.0}) {
      const ReachableCells reached = Reach(map, {.start = start, .max_cost = max_cost});
      EXPECT_LE(reached.expanded, static_cast<std::uint64_t>(reached.count + reached.count / 8));
    }
  });
}

TEST_F(ReachCliffTest, PortalsExpandLittleMore) {
  ForEachMap({.sides = {96}}, [&](const GridMap& map) {
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

// A flood that ends at given cells looks about once at each of them, and once for each step in costs.
TEST(FloodGoalsCliffTest, GoalsThatAreReachedAreNotLookedAtAgain) {
  ForEachMap({.sides = {48, 96}}, [&](const GridMap& map) {
    const std::vector<Cell> part = LargestPart(map);
    FloodGround ground;
    ground.Read(map, *map.walk(1), 1, CornerRule::kNoCornerCutting, map.bounds());
    Flood flood;
    for (const std::size_t count : {1U, 32U, 1024U}) {
      SCOPED_TRACE(absl::StrCat(count, " goals"));
      // All lie near the seed, but for the last.
      std::vector<std::uint32_t> until(count, ground.IndexOf(part[1]));
      until.back() = ground.IndexOf(part.back());
      std::uint64_t expanded = 0;
      flood.Run(ground, {.seeds = {&part[0], 1}, .until = until}, {}, expanded);
      EXPECT_LE(flood.until_looks(), expanded + count + 1);
    }
  });
}

// A batch whose queries share a goal expands no more than about the cheaper of a search for each and one
// flood, in whichever order they come.
class BatchCliffTest : public ::testing::Test {
 protected:
  std::uint64_t Together(const GridMap& map, const std::vector<PathTask>& tasks) {
    std::uint64_t expanded = 0;
    const auto add = [&](std::size_t, const absl::StatusOr<NearestGoalResult>& answer,
                         std::chrono::nanoseconds) {
      expanded += answer.value().path.statistics.expanded;
      return absl::OkStatus();
    };
    EXPECT_TRUE(FindPaths(map, tasks, {}, scratch_, field_scratch_, add).ok());
    return expanded;
  }
  // Each task alone, by A*.
  std::uint64_t Alone(const GridMap& map, const std::vector<PathTask>& tasks) {
    std::uint64_t expanded = 0;
    for (const PathTask& task : tasks) {
      PathQuery query = task.query;
      query.algorithm = Algorithm::kAStar;
      expanded += FindPath(map, query, {}, scratch_).value().statistics.expanded;
    }
    return expanded;
  }

 private:
  Scratch scratch_{std::size_t{1} << 28};
  FieldScratch field_scratch_;
};

TEST_F(BatchCliffTest, NoOrderCostsMuchMoreThanOneFloodOrASearchForEach) {
  ForEachMap({.sides = {48, 96}}, [&](const GridMap& map) {
    // From near to far.
    const std::vector<Cell> part = LargestPart(map);
    for (const std::size_t count : {16U, 64U}) {
      std::vector<PathTask> tasks;
      for (std::size_t i = 0; i < count; ++i) {
        tasks.push_back({.query = {.start = part[i < 4 ? i + 1 : part.size() - i], .goal = part[0]}});
      }
      const std::uint64_t alone = kCellsOfAStep * Alone(map, tasks);
      for (const bool is_far_first : {false, true}) {
        SCOPED_TRACE(absl::StrCat(count, " tasks, ", is_far_first ? "far" : "near", " ones first"));
        if (is_far_first) {
          std::reverse(tasks.begin(), tasks.end());
        }
        EXPECT_LE(Together(map, tasks), 4 * std::min<std::uint64_t>(alone, part.size()));
      }
    }
  });
}

}  // namespace
}  // namespace waystar::core
