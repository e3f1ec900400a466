// The benchmarks where WAYSTAR_DATA names them: paths have the lengths that the files say, and each step is
// legal.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/testing/movingai_data.h"
#include "tests/testing/oracle.h"

namespace waystar::core {
namespace {

void CheckMap(const MovingAiMap& file, std::atomic<std::size_t>& count) {
  SCOPED_TRACE(file.name);
  Scratch scratch(std::size_t{1} << 28);
  const GridMap map = LoadMovingAiMap(file);
  for (const Scenario& scenario : LoadScenarios(file)) {
    const auto result = FindPath(map, {.start = scenario.start, .goal = scenario.goal}, {}, scratch);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->outcome, Outcome::kFound);
    ASSERT_NEAR(result->cost, scenario.optimal_length, scenario.tolerance);
    const std::string fault = PathFault(map, CornerRule::kNoCornerCutting, scenario.start, scenario.goal,
                                        result->points, result->cost);
    ASSERT_EQ(fault, "");
    ++count;
  }
}

TEST(MovingAiScenariosTest, AllAreOptimal) {
  const std::optional<std::filesystem::path> folder = DataFolder();
  if (!folder) {
    GTEST_SKIP() << "WAYSTAR_DATA names no folder with the Moving AI maps";
  }
  const std::vector<MovingAiMap> maps = FindMovingAiMaps(*folder);
  ASSERT_FALSE(maps.empty()) << "no maps below " << *folder;
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> count = 0;
  std::vector<std::thread> threads(std::max(1U, std::thread::hardware_concurrency()));
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      for (std::size_t i = next++; i < maps.size(); i = next++) {
        CheckMap(maps[i], count);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::printf("%zu scenarios on %zu maps\n", count.load(), maps.size());
}

// Maps that change between queries: each answer has the length that the trace says, on a map that came about
// by one batch of edits after the other.
void CheckQuery(const GridMap& map, const TraceQuery& query, Scratch& scratch) {
  const auto result = FindPath(map, {.start = query.start, .goal = query.goal}, {}, scratch);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->outcome, query.length ? Outcome::kFound : Outcome::kUnreachable);
  if (query.length) {
    ASSERT_NEAR(result->cost, *query.length, kTraceTolerance);
    ASSERT_EQ(
        PathFault(map, CornerRule::kNoCornerCutting, query.start, query.goal, result->points, result->cost),
        "");
  }
}

void Replay(const std::string& name) {
  const std::optional<std::filesystem::path> folder = DataFolder();
  const std::filesystem::path path = folder.value_or("") / "gppc-dynamic" / (name + ".scen");
  if (!folder || !std::filesystem::exists(path)) {
    GTEST_SKIP() << "WAYSTAR_DATA names no folder with the trace " << name;
  }
  const GppcTrace trace = LoadGppcTrace(path);
  Scratch scratch(std::size_t{1} << 28);
  GridMap map = trace.EmptyMap();
  std::size_t changes = 0;
  std::size_t queries = 0;
  for (const TraceStage& stage : trace.stages) {
    if (!stage.patches.empty()) {
      auto edited = ApplyEdits(map, stage.Edits());
      ASSERT_TRUE(edited.ok()) << edited.status();
      map = std::move(edited->map);
      ++changes;
    }
    for (const TraceQuery& query : stage.queries) {
      CheckQuery(map, query, scratch);
      ++queries;
      ASSERT_FALSE(::testing::Test::HasFailure())
          << "query " << queries << ", after " << changes << " changes, from " << query.start.x << ","
          << query.start.y << " to " << query.goal.x << "," << query.goal.y;
    }
  }
  std::printf("%zu queries between %zu changes\n", queries, changes);
}

TEST(GppcTraceTest, Arena2) { Replay("dao_arena2"); }

TEST(GppcTraceTest, SwitchAuroraTheFrozenSea) { Replay("switch_sc1_Aurora_TheFrozenSea"); }

}  // namespace
}  // namespace waystar::core
