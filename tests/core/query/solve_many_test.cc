// Many queries on one snapshot are answered as each is alone.

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/core/query/route_test.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Between;
using ::waystar::testing::RouteTest;

std::string ToText(const absl::StatusOr<Route>& route) {
  if (!route.ok()) {
    return absl::StrCat(ErrorReasonOf(route.status()), " ", ErrorFieldOf(route.status()));
  }
  const auto goal = static_cast<int>(route->goal_index);
  return absl::StrCat(static_cast<int>(route->path.outcome), " ", route->path.cost, " to ", goal, ": ",
                      testing::Show(route->path.points), " crossings ", route->crossings.size(), " length ",
                      route->summary.has_value() ? route->summary->length : -1.0);
}

class SolveManyTest : public RouteTest {
 protected:
  SolveManyTest() {
    Create("upper", {"..#..",  //
                     "..#.."});
    Create("lower", {".....",  //
                     "....."});
  }

  void AddPortals() {
    const auto portal = [](const std::string& id, Cell from, Cell to, const std::string& to_map) {
      return PutPortal{.portal = {.id = id, .from = from, .to_map = to_map, .to = to}};
    };
    Apply("upper", {portal("down", {1, 0}, {1, 0}, "lower"), portal("hatch", {0, 1}, {4, 1}, "")});
    Apply("lower", {portal("up", {3, 0}, {3, 0}, "upper")});
  }

  // All at once, each with the agent or with one of its own if it says something of how it moves.
  std::vector<std::string> SolveAll(const AgentQuery& agent, const std::vector<RouteQuery>& queries) {
    const PinnedSnapshot snapshot = *store_.Pin("upper");
    const SharedAgent shared = *ResolveAgent(*snapshot, agent, Others(), {});
    std::vector<std::string> told(queries.size());
    std::vector<std::optional<ResolvedRoute>> resolved(queries.size());
    std::vector<const ResolvedRoute*> given(queries.size(), nullptr);
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const bool has_own = queries[i].agent.profile.has_value() || queries[i].agent.overlay.has_value();
      absl::StatusOr<ResolvedRoute> route = has_own ? core::Resolve(*snapshot, queries[i], Others(), {})
                                                    : ResolveFor(shared, *snapshot, queries[i], {});
      if (route.ok()) {
        given[i] = &resolved[i].emplace(*std::move(route));
      } else {
        told[i] = ToText(route.status());
      }
    }
    EXPECT_THAT(SolveMany(given, shared, {}, scratch_, nullptr,
                          [&](std::size_t index, const absl::StatusOr<Route>& route) {
                            EXPECT_EQ(told[index], "") << "told twice";
                            told[index] = ToText(route);
                            return absl::OkStatus();
                          }),
                testing::IsOk());
    return told;
  }

  std::vector<RouteQuery> Queries() {
    std::vector<RouteQuery> queries;
    const auto add = [&](Cell start, Cell goal) -> RouteQuery& {
      return queries.emplace_back(Between(start, goal));
    };
    add({0, 0}, {3, 0});
    add({0, 0}, {1, 0});
    add({0, 0}, {1, 1}).agent.corner_rule = CornerRule::kNoCornerCutting;
    add({0, 0}, {3, 0}).agent.footprint = 2;
    add({0, 0}, {2, 1}).goal_map = "lower";
    add({0, 0}, {2, 1}).goal_map = "attic";
    add({0, 0}, {4, 0}).agent.overlay = Overlay{.blocked = {.cells = {{3, 0}}}};
    add({0, 0}, {4, 0}).agent.profile = MovementProfile();
    RouteQuery& snapping = add({1, 0}, {4, 0});
    snapping.snap = Snap{1};
    snapping.with_summary = true;
    RouteQuery& several = add({0, 0}, {4, 0});
    several.goals = {{.cell = Cell{1, 0}}, {.cell = Cell{3, 1}}};
    // A goal in the wall, which snaps to the left of it; one cell further for an agent of two.
    RouteQuery& positions = add({0, 0}, {4, 0});
    positions.goals = {{.position = WorldPoint{2.2, 0.5}}};
    const RouteQuery blocked = positions;
    positions.snap = Snap{2};
    RouteQuery large = positions;
    large.agent.footprint = 2;
    RouteQuery off_the_map = positions;
    off_the_map.goals.push_back({.position = WorldPoint{99, 0}});
    queries.insert(queries.end(), {blocked, large, off_the_map});
    add({0, 0}, {9, 0});
    add({3, 0}, {4, 1}).max_expansions = 1;
    return queries;
  }

  void ExpectTheSameAsAlone() {
    const AgentQuery agent = {.profile = MovementProfile{.corner_rule = CornerRule::kAlways},
                              .overlay = Overlay{.blocked = {.cells = {{1, 0}}}}};
    const std::vector<RouteQuery> queries = Queries();
    const std::vector<std::string> told = SolveAll(agent, queries);
    for (std::size_t i = 0; i < queries.size(); ++i) {
      RouteQuery alone = queries[i];
      if (!alone.agent.profile.has_value() && !alone.agent.overlay.has_value()) {
        alone.agent.profile = agent.profile;
        alone.agent.overlay = agent.overlay;
      }
      EXPECT_EQ(told[i], ToText(Find("upper", alone))) << i;
    }
  }
};

TEST_F(SolveManyTest, AnswersEachAsAlone) { ExpectTheSameAsAlone(); }

TEST_F(SolveManyTest, AnswersEachAsAloneThroughPortals) {
  AddPortals();
  ExpectTheSameAsAlone();
}

TEST_F(SolveManyTest, EndsAsAWholeWithTheBudget) {
  const PinnedSnapshot snapshot = *store_.Pin("upper");
  const AgentQuery agent;
  const SharedAgent shared = *ResolveAgent(*snapshot, agent, Others(), {});
  const RouteQuery query = Between({0, 0}, {1, 1});
  const ResolvedRoute resolved = *ResolveFor(shared, *snapshot, query, {});
  const ResolvedRoute* const given[] = {&resolved, nullptr, &resolved};
  const std::atomic<bool> cancelled = true;
  const absl::Status ended = SolveMany(given, shared, {.cancelled = &cancelled}, scratch_, nullptr,
                                       [](std::size_t /*index*/, const absl::StatusOr<Route>& /*route*/) {
                                         ADD_FAILURE() << "told of an answer";
                                         return absl::OkStatus();
                                       });
  EXPECT_TRUE(EndsAll(ended)) << ended;
  EXPECT_EQ(ErrorReasonOf(ended), "CANCELLED");
}

}  // namespace
}  // namespace waystar::core
