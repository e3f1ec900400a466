#include "server/core/query/find_paths.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/core/grid/agents.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

// An answer that outlives its search.
struct Kept {
  int times = 0;
  absl::Status status;
  PathResult path;
  std::size_t goal_index = 0;
  std::vector<Cell> points;
  std::vector<Direction> directions;
};

// Threads that take turns by chance.
class Threads final : public PathCrew {
 public:
  void Run(std::size_t count, Work work) override {
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        Scratch scratch(std::size_t{1} << 26);
        FieldScratch field_scratch;
        for (std::size_t unit = next++; unit < count; unit = next++) {
          work(unit, scratch, field_scratch);
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
};

class FindPathsTest : public ::testing::Test {
 protected:
  absl::Status Find(const GridMap& map, const std::vector<PathTask>& tasks, std::vector<Kept>& answers,
                    const Budget& budget = {}, PathCrew* crew = nullptr) {
    answers.assign(tasks.size(), {});
    const auto keep = [&](std::size_t task, const absl::StatusOr<NearestGoalResult>& answer,
                          std::chrono::nanoseconds took) {
      EXPECT_GE(took.count(), 0);
      Kept& kept = answers[task];
      ++kept.times;
      kept.status = answer.status();
      if (answer.ok()) {
        kept.path = answer->path;
        kept.goal_index = answer->goal_index;
        kept.points.assign(answer->path.points.begin(), answer->path.points.end());
        kept.directions.assign(answer->path.directions.begin(), answer->path.directions.end());
      }
      return absl::OkStatus();
    };
    return crew != nullptr ? FindPaths(map, tasks, budget, *crew, keep)
                           : FindPaths(map, tasks, budget, scratch_, field_scratch_, keep);
  }

  Scratch scratch_{std::size_t{1} << 26};
  FieldScratch field_scratch_;
};

TEST_F(FindPathsTest, AnswersEachOnItsOwn) {
  const GridMap map = DrawMap({"..#..",  //
                               "....."});
  std::vector<Kept> answers;
  ASSERT_TRUE(Find(map,
                   {{.query = {.start = {0, 0}, .goal = {4, 0}}},
                    {.query = {.start = {2, 0}, .goal = {4, 0}}},
                    {.query = {.start = {0, 0}, .goal = {5, 0}}},
                    {.query = {.start = {0, 0}}, .goals = {{4, 1}, {0, 1}}}},
                   answers)
                  .ok());
  EXPECT_EQ(answers[0].points.back(), (Cell{4, 0}));
  EXPECT_THAT(answers[1].status,
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kStartBlocked, "start"));
  EXPECT_THAT(answers[2].status, IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "goal"));
  EXPECT_EQ(answers[3].goal_index, 1U);
}

TEST_F(FindPathsTest, EndsAsAWholeWhenToldTo) {
  const std::atomic<bool> yes = true;
  std::vector<Kept> answers;
  EXPECT_THAT(
      Find(DrawMap({".."}), {{.query = {.start = {0, 0}, .goal = {1, 0}}}}, answers, {.cancelled = &yes}),
      IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
}

// A maze is where single searches expand so many cells that a flood is quicker.
TEST_F(FindPathsTest, FloodsFromACellThatManyShare) {
  std::vector<std::string> rows;
  for (int y = 0; y < 41; ++y) {
    rows.push_back(y % 2 == 0 ? std::string(40, '.') : std::string(40, '#'));
    rows.back()[y % 4 == 1 ? 39 : 0] = '.';
  }
  const GridMap map = DrawMap(rows);
  for (const bool shares_start : {false, true}) {
    std::vector<PathTask> tasks;
    for (int x = 0; x < 40; ++x) {
      const Cell hub{20, 0};
      const Cell own{x, 40};
      tasks.push_back({.query = {.start = shares_start ? hub : own, .goal = shares_start ? own : hub}});
    }
    std::vector<Kept> answers;
    ASSERT_TRUE(Find(map, tasks, answers).ok());
    std::size_t flooded = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      flooded += answers[i].path.statistics.algorithm == Algorithm::kDijkstra ? 1 : 0;
      EXPECT_EQ(PathFault(map, CornerRule::kNoCornerCutting, tasks[i].query.start, tasks[i].query.goal,
                          answers[i].points, answers[i].path.cost),
                "");
    }
    EXPECT_GT(flooded, 30U);
  }
}

class GeneratedFindPathsTest : public FindPathsTest, public ::testing::WithParamInterface<MapAndAgent> {};

TEST_P(GeneratedFindPathsTest, SaysWhatSingleQueriesSay) {
  const Agent& agent = GetParam().agent;
  std::set<Algorithm> algorithms;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const GridMap map = GetParam().Make(generator, 60);
    std::vector<Cell> hubs;
    for (int i = 0; i < 3; ++i) {
      hubs.push_back(generator.WalkableCellOf(map, agent.footprint));
    }
    std::vector<PathTask> tasks;
    for (int i = 0; i < 60; ++i) {
      PathTask task{.query = {.start = generator.WalkableCellOf(map, agent.footprint),
                              .goal = generator.CellOf(map),
                              .corner_rule = agent.corner_rule,
                              .path_form = static_cast<PathForm>(generator.Between(0, 3)),
                              .footprint = agent.footprint}};
      const Cell hub = hubs[static_cast<std::size_t>(generator.Between(0, 2))];
      (generator.Chance(0.5) ? task.query.start : task.query.goal) = hub;
      tasks.push_back(task);
      if (generator.Chance(0.2)) {
        tasks.push_back(tasks[static_cast<std::size_t>(generator.Between(0, i))]);
      }
    }
    std::vector<Kept> answers;
    ASSERT_TRUE(Find(map, tasks, answers).ok());
    Threads threads;
    std::vector<Kept> together;
    ASSERT_TRUE(Find(map, tasks, together, {}, &threads).ok());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      ASSERT_EQ(together[i].status, answers[i].status);
      ASSERT_EQ(together[i].path.cost, answers[i].path.cost);
      ASSERT_EQ(together[i].points, answers[i].points);
      ASSERT_EQ(together[i].directions, answers[i].directions);
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto single = FindPath(map, tasks[i].query, {}, scratch_);
      const Kept& answer = answers[i];
      ASSERT_EQ(answer.times, 1);
      ASSERT_EQ(answer.status, single.status());
      if (!single.ok()) {
        continue;
      }
      algorithms.insert(answer.path.statistics.algorithm);
      ASSERT_EQ(answer.path.outcome, single->outcome);
      ASSERT_EQ(answer.points.empty(), single->points.empty());
      if (single->outcome == Outcome::kFound && tasks[i].query.path_form == PathForm::kEveryCell) {
        ASSERT_EQ(PathFault(map, agent.corner_rule, tasks[i].query.start, tasks[i].query.goal, answer.points,
                            answer.path.cost, agent.footprint),
                  "");
      }
      if (tasks[i].query.path_form != PathForm::kSmoothed) {
        ASSERT_NEAR(answer.path.cost, single->cost, 1e-6 * (1.0 + single->cost));
      }
    }
  }
  EXPECT_GT(algorithms.count(Algorithm::kDijkstra), 0U);
  EXPECT_GT(algorithms.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Agents, GeneratedFindPathsTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

}  // namespace
}  // namespace waystar::core
