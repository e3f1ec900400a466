// Every scenario of every benchmark map: the length the file says, and each step legal.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/testing/movingai_data.h"
#include "tests/testing/oracle.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DataFolder;
using ::waystar::testing::FindMovingAiMaps;
using ::waystar::testing::LoadMovingAiMap;
using ::waystar::testing::LoadScenarios;
using ::waystar::testing::MovingAiMap;
using ::waystar::testing::PathFault;
using ::waystar::testing::Scenario;

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

}  // namespace
}  // namespace waystar::core
