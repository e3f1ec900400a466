// A batch whose queries share a goal expands no more than about the cheaper of a search for each and one
// flood, in whichever order they come.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/field/field_scratch.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/query/find_paths.h"
#include "tests/core/cliffs/field_cliff_maps.h"

namespace waystar::core {
namespace {

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
  // By A*, one by one.
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
  ForEachFieldMap(
      {Connectivity::kFour, Connectivity::kEight, Connectivity::kSix}, {48, 96}, [&](const GridMap& map) {
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
