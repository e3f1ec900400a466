// What a search tells of itself.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kGenerated = SearchEvent::Kind::kGenerated;
constexpr auto kExpanded = SearchEvent::Kind::kExpanded;

GridSettings WithSwamp() {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "swamp", .cost = 3.0});
  return settings;
}

class TraceSearchTest : public ::testing::Test {
 protected:
  PathResult Trace(const DrawnQuery& drawn, Algorithm algorithm, EventRecorder& recorder) {
    PathQuery query = drawn.query();
    query.algorithm = algorithm;
    const auto result = TraceSearch(drawn.map, query, {}, scratch_, recorder);
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }

  std::vector<SearchEvent> EventsOf(const DrawnQuery& drawn, Algorithm algorithm) {
    EventRecorder recorder(1000);
    Trace(drawn, algorithm, recorder);
    EXPECT_FALSE(recorder.is_truncated());
    return recorder.events();
  }

  std::vector<DrawnQuery> Maps() const {
    return {DrawQuery({"s....#....",  //
                       ".###.#.##.",  //
                       "...#...#..",  //
                       ".#.####.#.",  //
                       ".#.......g"}),
            DrawQuery({"s....#....",  //
                       ".###.#.##.",  //
                       "...#...#..",  //
                       ".#.####.#.",  //
                       ".#.......g"},
                      FourConnected()),
            DrawQuery({"s~~~~~~..g",  //
                       ".~~~~~~...",  //
                       "..~~~.....",  //
                       "...~......"},
                      WithSwamp()),
            DrawQuery({"s...#.",  //
                       "....#g"})};
  }

  Scratch scratch_{1 << 24};
};

// The order of expansion is part of the contract: what is expanded first is 'a'.
TEST_F(TraceSearchTest, TellsTheOrderOfExpansion) {
  const DrawnQuery drawn = DrawQuery({"......",  //
                                      "s.#..g",  //
                                      "..#...",  //
                                      "..#..."});
  std::vector<std::string> rows = DrawPath(drawn.map, {});
  char letter = 'a';
  for (const SearchEvent& event : EventsOf(drawn, Algorithm::kAStar)) {
    if (event.kind == kExpanded) {
      rows[static_cast<std::size_t>(event.cell.y)][static_cast<std::size_t>(event.cell.x)] = letter++;
    }
  }
  EXPECT_THAT(rows, ElementsAre(".cde..",  //
                                "ab#.f.",  //
                                "..#...",  //
                                "..#..."));
}

TEST_F(TraceSearchTest, EventsFitTogether) {
  for (const Algorithm algorithm : {Algorithm::kAStar, Algorithm::kDijkstra}) {
    for (const DrawnQuery& drawn : Maps()) {
      std::map<std::pair<int, int>, SearchEvent> generated;
      std::map<std::pair<int, int>, SearchEvent> expanded;
      Cost last = 0;
      for (const SearchEvent& event : EventsOf(drawn, algorithm)) {
        const std::pair cell(event.cell.x, event.cell.y);
        ASSERT_FALSE(expanded.contains(cell)) << "an event of a cell that was done with";
        if (event.kind == kExpanded) {
          ASSERT_TRUE(generated.contains(cell));
          EXPECT_EQ(generated[cell].g, event.g);
          EXPECT_EQ(generated[cell].f, event.f);
          // The cheapest comes first.
          const Cost key = algorithm == Algorithm::kDijkstra ? event.g : event.f;
          EXPECT_GE(key, last);
          last = key;
          expanded[cell] = event;
          continue;
        }
        if (event.cell == drawn.start) {
          EXPECT_EQ(event.parent, event.cell);
          EXPECT_EQ(event.g, 0);
        } else {
          const std::pair parent(event.parent.x, event.parent.y);
          ASSERT_TRUE(expanded.contains(parent));
          EXPECT_GT(event.g, expanded[parent].g);
          EXPECT_LE(std::abs(event.cell.x - event.parent.x), 1);
          EXPECT_LE(std::abs(event.cell.y - event.parent.y), 1);
        }
        if (const auto before = generated.find(cell); before != generated.end()) {
          EXPECT_LT(event.g, before->second.g);
        }
        EXPECT_GE(event.f, event.g);
        generated[cell] = event;
      }
    }
  }
}

TEST_F(TraceSearchTest, AnswersAsFindPathDoes) {
  for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kAStar, Algorithm::kDijkstra}) {
    for (const DrawnQuery& drawn : Maps()) {
      // With a limit, to see that the search does not end with the events.
      EventRecorder recorder(1);
      const PathResult traced = Trace(drawn, algorithm, recorder);
      // What cannot be reached is known without a search.
      const bool searched = traced.outcome != Outcome::kUnreachable;
      EXPECT_EQ(recorder.is_truncated(), searched);
      EXPECT_EQ(recorder.events().size(), searched ? 1U : 0U);
      PathQuery query = drawn.query();
      query.algorithm = algorithm;
      Scratch scratch(1 << 24);
      const auto found = FindPath(drawn.map, query, {}, scratch);
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(traced.outcome, found->outcome);
      EXPECT_EQ(traced.reason, found->reason);
      EXPECT_EQ(traced.cost, found->cost);
      EXPECT_EQ(traced.points, found->points);
      EXPECT_EQ(traced.statistics.expanded, found->statistics.expanded);
      EXPECT_EQ(traced.statistics.generated, found->statistics.generated);
      EXPECT_EQ(traced.statistics.algorithm, found->statistics.algorithm);
    }
  }
}

// Every engine reaches a cell before it expands it.
TEST_F(TraceSearchTest, StatisticsCountTheEvents) {
  Generator generator(5);
  std::vector<DrawnQuery> maps = Maps();
  for (const bool weighted : {false, true}) {
    const GridMap map = generator.Map({.max_side = 60, .weighted = weighted});
    maps.push_back({map, generator.WalkableCellOf(map), generator.WalkableCellOf(map)});
  }
  for (const Algorithm algorithm :
       {Algorithm::kAStar, Algorithm::kDijkstra, Algorithm::kJumpPoint, Algorithm::kLazyThetaStar}) {
    for (const DrawnQuery& drawn : maps) {
      if (algorithm == Algorithm::kLazyThetaStar && !drawn.map.HasUniformCost()) {
        continue;
      }
      EventRecorder recorder(100'000);
      const PathResult result = Trace(drawn, algorithm, recorder);
      std::set<std::pair<int, int>> reached;
      std::uint64_t generated = 0;
      for (const SearchEvent& event : recorder.events()) {
        EXPECT_GE(event.f, event.g);
        if (event.kind == kGenerated) {
          ++generated;
          reached.emplace(event.cell.x, event.cell.y);
        } else {
          EXPECT_TRUE(reached.contains({event.cell.x, event.cell.y}));
        }
      }
      EXPECT_EQ(generated, result.statistics.generated);
      EXPECT_EQ(recorder.events().size() - generated, result.statistics.expanded);
      EXPECT_EQ(result.statistics.expanded > 0, result.outcome == Outcome::kFound);
    }
  }
}

TEST_F(TraceSearchTest, RefusedQueryHasNoEvents) {
  EventRecorder recorder(10);
  EXPECT_THAT(TraceSearch(DrawMap({"#."}), {.start = {0, 0}, .goal = {1, 0}}, {}, scratch_, recorder),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kStartBlocked, "start"));
  EXPECT_THAT(recorder.events(), IsEmpty());
}

}  // namespace
}  // namespace waystar::core
