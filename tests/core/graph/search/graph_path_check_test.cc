#include "server/core/graph/search/graph_path_check.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/search/graph_search.h"
#include "tests/core/graph/search/random_graphs.h"

namespace waystar::core {
namespace {

using ::waystar::testing::EditedGraph;
using ::waystar::testing::IdsOf;
using ::waystar::testing::Rounds;
using ::waystar::testing::Told;

using IdList = std::vector<std::string>;

// a - b - c - d, ten units from each to the next; from b to c one way, and what is dry ends at c.
WaypointSpec Street() {
  return {.nodes = {{"a", {0, 0}}, {"b", {10, 0}}, {"c", {20, 0}}, {"d", {30, 0}}},
          .edges = {{.name = {"a", "b"}, .tags = {"dry"}},
                    {.name = {"b", "c", true}, .cost = 3, .tags = {"dry"}},
                    {.name = {"c", "d"}}}};
}

class GraphPathCheckTest : public ::testing::Test {
 protected:
  explicit GraphPathCheckTest(const WaypointSpec& spec = Street()) : editor_(*WaypointGraph::Create(spec)) {}

  void PutObstacle(const std::string& id, Shape shape) {
    const auto obstacle = std::make_shared<Obstacle>(Obstacle{.id = id, .shape = std::move(shape)});
    ASSERT_EQ(editor_.PutObstacle(obstacle, false), absl::OkStatus());
  }

  // The check as text: "7.5", or "3 at 2: c, wall".
  std::string Check(const IdList& nodes, GraphPathToCheck path = {}) {
    path.nodes = nodes;
    const absl::StatusOr<GraphPathCheck> check = ValidateGraphPath(editor_.graph(), path);
    if (!check.ok()) {
      return Told(check.status());
    }
    return check->is_walkable ? absl::StrCat(check->cost)
                              : absl::StrCat(check->cost, " at ", check->blocked_index, ": ",
                                             check->blocked_node, ", ", check->obstacle);
  }

  GraphEditor editor_;
};

TEST_F(GraphPathCheckTest, CountsWhatCanBeWalked) {
  EXPECT_EQ(Check({"a", "b", "c", "d"}), "23");
  EXPECT_EQ(Check({"a"}), "0");
  EXPECT_EQ(Check({"b", "c"}, {.start = WorldPoint{10, 4}, .goal = WorldPoint{20, 0, 2}}), "9");
  EXPECT_EQ(Check({}, {.start = WorldPoint{0, 4}, .goal = WorldPoint{3, 8}}), "5");
  EXPECT_EQ(Check({"a", "b", "c"}, {.required_tags = {"dry"}}), "13");
}

TEST_F(GraphPathCheckTest, SaysWhereItIsBlocked) {
  EXPECT_EQ(Check({"c", "b"}), "0 at 1: b, ");
  EXPECT_EQ(Check({"a", "b", "d"}), "10 at 2: d, ");
  EXPECT_EQ(Check({"a", "b", "b"}), "10 at 2: b, ");
  EXPECT_EQ(Check({"a", "b", "gone", "d"}), "10 at 2: gone, ");
  EXPECT_EQ(Check({"gone"}, {.start = WorldPoint{0, 0}}), "0 at 0: gone, ");
  EXPECT_EQ(Check({"a", "b", "c", "d"}, {.required_tags = {"dry"}}), "13 at 3: d, ");
  EXPECT_EQ(Check({"a", "b"}, {.required_tags = {"unheard-of"}}), "0 at 1: b, ");
  ASSERT_EQ(editor_.SetNodesEnabled({"c"}, false), absl::OkStatus());
  EXPECT_EQ(Check({"a", "b", "c", "d"}), "10 at 2: c, ");
  EXPECT_EQ(Check({"c"}), "0 at 0: c, ");
  ASSERT_EQ(editor_.SetEdgesEnabled({{"a", "b"}}, false), absl::OkStatus());
  EXPECT_EQ(Check({"a", "b"}), "0 at 1: b, ");
}

TEST_F(GraphPathCheckTest, NamesTheObstacleInTheWay) {
  PutObstacle("far", {.discs = {{{26, 0}, 1}}});
  PutObstacle("near", {.discs = {{{24, 0}, 1}}});
  EXPECT_EQ(Check({"a", "b", "c", "d"}), "13 at 3: d, near");
  EXPECT_EQ(Check({"d", "c"}), "0 at 1: c, far");
  EXPECT_EQ(Check({"c"}, {.goal = WorldPoint{30, 0}}), "0 at 1: , near");
  EXPECT_EQ(Check({"d"}, {.start = WorldPoint{20, 0}}), "0 at 0: d, near");
  EXPECT_EQ(Check({}, {.start = WorldPoint{30, 0}, .goal = WorldPoint{20, 0}}), "0 at 0: , far");
  EXPECT_EQ(Check({"c"}, {.start = WorldPoint{20, 4}, .goal = WorldPoint{26, 0.5}}), "4 at 1: , near");
}

TEST_F(GraphPathCheckTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(Check({"a", "b", "c", "no way"}), "BAD_NODE_ID nodes[3]");
  EXPECT_EQ(Check({"gone", "b", "", "d"}), "BAD_NODE_ID nodes[2]");
  EXPECT_EQ(Check({}), "MISSING_FIELD nodes");
  EXPECT_EQ(Check({}, {.start = WorldPoint{0, 0}}), "MISSING_FIELD nodes");
  EXPECT_EQ(Check({"a"}, {.start = WorldPoint{0, 1e300}}), "BAD_VALUE start.position.y");
  EXPECT_EQ(Check({"a"}, {.goal = WorldPoint{0, 0, 1e300}}), "BAD_VALUE goal.position.z");
  EXPECT_EQ(Check({"a"}, {.required_tags = {"x", "x"}}), "BAD_PROFILE agent.profile.required_tags[1]");
  std::atomic<bool> yes = true;
  const IdList nodes{"a"};
  EXPECT_EQ(ErrorReasonOf(ValidateGraphPath(editor_.graph(), {.nodes = nodes}, {.cancelled = &yes}).status()),
            "CANCELLED");
}

class GraphPathCheckBySightTest : public GraphPathCheckTest {
 protected:
  GraphPathCheckBySightTest()
      : GraphPathCheckTest({.nodes = {{"a", {0, 0}}, {"b", {9, 0}}, {"c", {30, 0}}},
                            .auto_connect = AutoConnect{.max_distance = 10}}) {}
};

TEST_F(GraphPathCheckBySightTest, NamesTheObstacleThatTookAnEdgeAway) {
  EXPECT_EQ(Check({"a", "b"}), "9");
  PutObstacle("wall", {.lines = {{{5, -1}, {5, 1}}}});
  PutObstacle("far", {.lines = {{{15, -1}, {15, 1}}}});
  EXPECT_EQ(Check({"a", "b"}), "0 at 1: b, wall");
  // They would not be joined without it either.
  EXPECT_EQ(Check({"b", "c"}), "0 at 1: c, ");
}

TEST(GraphPathCheckOfAnswersTest, WhatWasFoundCanBeWalkedAtThatCost) {
  GraphScratch scratch(std::size_t{64} << 20);
  int checked = 0;
  for (std::uint64_t seed = 1; seed <= Rounds(40); ++seed) {
    auto [generator, model, graph] = EditedGraph(seed);
    for (int i = 0; i < 20; ++i) {
      const WorldPoint start = generator.Position();
      const WorldPoint goal = generator.Position();
      const IdList tags = i % 4 == 0 ? IdList{"wide"} : IdList{};
      const absl::StatusOr<GraphPathResult> found = FindGraphPath(
          graph, {.start = start, .goals = {goal}, .snap_radius = 5, .required_tags = tags}, {}, scratch);
      if (!found.ok() || found->outcome != Outcome::kFound) {
        continue;
      }
      const IdList nodes = IdsOf(graph, found->nodes);
      const absl::StatusOr<GraphPathCheck> check =
          ValidateGraphPath(graph, {.nodes = nodes, .start = start, .goal = goal, .required_tags = tags});
      ASSERT_EQ(check.status(), absl::OkStatus());
      ASSERT_TRUE(check->is_walkable) << seed << " " << i;
      ASSERT_EQ(check->cost, found->cost) << seed << " " << i;
      ++checked;
    }
  }
  EXPECT_GT(checked, 20);
}

}  // namespace
}  // namespace waystar::core
