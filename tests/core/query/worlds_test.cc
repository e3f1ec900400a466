// Routes through portals and on maps other than the query's own.

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/query/solve.h"
#include "tests/core/query/route_test.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

PutPortal PutDoor(const std::string& id, Cell from, Cell to, const std::string& to_map) {
  return {.portal = {.id = id, .from = from, .to_map = to_map, .to = to, .cost = CostFromDouble(1)}};
}

// Two floors: one room parted by a wall above, an open one below.
class FloorsTest : public RouteTest {
 protected:
  FloorsTest() {
    Create("upper", {"..#..",  //
                     "..#.."});
    Create("lower", {".....",  //
                     "....."});
  }
};

// Stairs lead down on the left and up on the right.
class WorldsTest : public FloorsTest {
 protected:
  WorldsTest() {
    Apply("upper", {PutDoor("down", {1, 0}, {1, 0}, "lower")});
    Apply("lower", {PutDoor("up", {3, 0}, {3, 0}, "upper")});
  }

  // "down before 2 to lower at 2", each crossing of a route.
  static std::vector<std::string> CrossingsOf(const Route& route) {
    std::vector<std::string> told;
    for (std::size_t i = 0; i < route.crossings.size(); ++i) {
      const PortalCrossing& crossing = route.crossings[i];
      told.push_back(absl::StrCat(crossing.portal->id, " before ", crossing.index, " to ", crossing.map,
                                  " at ", route.crossing_versions[i].revision));
    }
    return told;
  }
};

TEST_F(WorldsTest, ARouteMayGoByAnotherMap) {
  const RouteQuery query = Between({0, 0}, {4, 0});
  EXPECT_EQ(Told("upper", query), "6: (0, 0) (1, 0) (1, 0) (2, 0) (3, 0) (3, 0) (4, 0)");
  EXPECT_THAT(CrossingsOf(*Find("upper", query)),
              ElementsAre("down before 2 to lower at 2", "up before 5 to  at 2"));
  Apply("lower", {SwitchPortal{.id = "up", .closed = true}});
  EXPECT_EQ(Told("upper", query), "no way");
}

TEST_F(WorldsTest, TheGoalMayLieOnAnotherMap) {
  RouteQuery query = Between({0, 0}, {0, 1});
  query.goal_map = "lower";
  EXPECT_EQ(Told("upper", query), "3.41421: (0, 0) (1, 0) (1, 0) (0, 1)");
  query.goal_map = "attic";
  EXPECT_EQ(Told("upper", query), "MAP_NOT_FOUND goal_map");
  // The query's own map is no other.
  query.goal_map = "upper";
  EXPECT_EQ(Told("upper", query), "1: (0, 0) (0, 1)");
}

TEST_F(WorldsTest, AMapThatMayNotBeVisitedIsNotThere) {
  forbidden_ = "lower";
  EXPECT_EQ(Told("upper", Between({0, 0}, {4, 0})), "no way");
  RouteQuery query = Between({0, 0}, {0, 1});
  query.goal_map = "lower";
  EXPECT_EQ(Told("upper", query), "MAP_NOT_FOUND goal_map");
}

TEST_F(WorldsTest, AMapOfAnotherWorldIsNotThere) {
  Create("crater", {"..."}, {.world = "moon"});
  Apply("upper", {PutDoor("rocket", {0, 1}, {0, 0}, "crater")});
  RouteQuery query = Between({0, 0}, {2, 0});
  query.goal_map = "crater";
  EXPECT_EQ(Told("upper", query), "MAP_NOT_FOUND goal_map");
}

TEST_F(WorldsTest, AProfileByNameIsThatOfEachMap) {
  RouteQuery query = Between({0, 0}, {4, 0});
  query.agent.profile_name = "guest";
  Apply("upper", {PutProfile{{"guest", {}}}});
  EXPECT_EQ(Told("upper", query), "no way") << "the map below knows no guests";
  Apply("lower", {PutProfile{{"guest", {}}}});
  EXPECT_EQ(Find("upper", query)->path.cost, 6.0);
}

TEST_F(WorldsTest, AnOverlayLiesOverTheQuerysOwnMapAlone) {
  RouteQuery query = Between({0, 0}, {4, 0});
  query.agent.overlay = Overlay{.blocked = {.cells = {{2, 0}}}};
  EXPECT_EQ(Find("upper", query)->path.cost, 6.0);
  query.agent.overlay = Overlay{.blocked = {.cells = {{3, 0}}}};
  EXPECT_EQ(Told("upper", query), "no way");
}

TEST_F(WorldsTest, RequiredTagsAreThoseOfPortals) {
  RouteQuery query = Between({0, 0}, {4, 0});
  query.agent.profile = MovementProfile{.required_tags = {"dry"}};
  EXPECT_EQ(Told("upper", query), "no way");
}

TEST_F(WorldsTest, PositionsAndSummariesAreOfTheMapsThatLegsLieOn) {
  Create("hall", {"...."}, {.frame = {.origin = {100, 0}, .cell_size = 2}});
  Apply("upper", {PutDoor("door", {0, 1}, {0, 0}, "hall")});
  RouteQuery query = {.start = {.cell = Cell{0, 0}}, .goals = {{.position = WorldPoint{106.5, 1}}}};
  query.goal_map = "hall";
  query.with_summary = true;
  EXPECT_EQ(Told("upper", query), "5: (0, 0) (0, 1) (0, 0) (1, 0) (2, 0) (3, 0)");
  const absl::StatusOr<Route> route = Find("upper", query);
  EXPECT_THAT(route->positions, ElementsAre(WorldPoint{0.5, 0.5}, WorldPoint{0.5, 1.5}, WorldPoint{101, 1},
                                            WorldPoint{103, 1}, WorldPoint{105, 1}, WorldPoint{107, 1}));
  EXPECT_EQ(route->summary->length, 1.0 + 3 * 2.0);
  ASSERT_EQ(route->summary->legs.size(), 2U);
  EXPECT_EQ(route->summary->legs[1].cells, 3);
  EXPECT_EQ(route->summary->legs[1].length, 6.0);
}

TEST_F(WorldsTest, EventsOfATraceLieOnTheMapsThatTheyAreToldOf) {
  RouteQuery query = Between({0, 0}, {4, 0});
  query.algorithm = Algorithm::kDijkstra;
  SearchRecorder recorder(10'000);
  ASSERT_THAT(Find("upper", query, {}, &recorder), IsOk());
  EXPECT_THAT(recorder.cells.maps(), ElementsAre("", "lower"));
  bool is_beyond_the_wall = false;
  for (const SearchEvent& event : recorder.cells.events()) {
    const bool is_below = recorder.cells.maps()[event.map] == "lower";
    EXPECT_TRUE(is_below || event.cell.x != 2) << "in the wall above";
    is_beyond_the_wall = is_beyond_the_wall || (is_below && event.cell.x == 2);
  }
  EXPECT_TRUE(is_beyond_the_wall);
}

// Many queries on one snapshot are answered as each is alone.

std::string ToText(const absl::StatusOr<Route>& route) {
  if (!route.ok()) {
    return absl::StrCat(ErrorReasonOf(route.status()), " ", ErrorFieldOf(route.status()));
  }
  const auto goal = static_cast<int>(route->goal_index);
  return absl::StrCat(static_cast<int>(route->path.outcome), " ", route->path.cost, " to ", goal, ": ",
                      Show(route->path.points), " crossings ", route->crossings.size(), " length ",
                      route->summary.has_value() ? route->summary->length : -1.0);
}

class SolveManyTest : public FloorsTest {
 protected:
  void AddPortals() {
    const auto portal = [](const std::string& id, Cell from, Cell to, const std::string& to_map) {
      return PutPortal{.portal = {.id = id, .from = from, .to_map = to_map, .to = to}};
    };
    Apply("upper", {portal("down", {1, 0}, {1, 0}, "lower"), portal("hatch", {0, 1}, {4, 1}, "")});
    Apply("lower", {portal("up", {3, 0}, {3, 0}, "upper")});
  }

  // Answers all queries at once, with one agent.
  std::vector<std::string> SolveAll(const AgentQuery& agent, const std::vector<RouteQuery>& queries) {
    const PinnedSnapshot snapshot = *store_.Pin("upper");
    const SharedAgent shared = *ResolveAgent(*snapshot, agent, Others(), {});
    std::vector<std::string> told(queries.size());
    std::vector<std::optional<ResolvedRoute>> resolved(queries.size());
    std::vector<const ResolvedRoute*> given(queries.size(), nullptr);
    for (std::size_t i = 0; i < queries.size(); ++i) {
      absl::StatusOr<ResolvedRoute> route = ResolveFor(shared, *snapshot, queries[i], {});
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
                IsOk());
    return told;
  }

  std::vector<RouteQuery> Queries() {
    std::vector<RouteQuery> queries;
    const auto add = [&](Cell start, Cell goal) -> RouteQuery& {
      return queries.emplace_back(Between(start, goal));
    };
    add({0, 0}, {3, 0});
    add({0, 0}, {1, 0});
    add({0, 0}, {1, 1});
    add({0, 0}, {2, 1}).goal_map = "lower";
    add({0, 0}, {2, 1}).goal_map = "attic";
    add({0, 0}, {4, 0});
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
    RouteQuery off_the_map = positions;
    off_the_map.goals.push_back({.position = WorldPoint{99, 0}});
    queries.insert(queries.end(), {blocked, off_the_map});
    add({0, 0}, {9, 0});
    add({3, 0}, {4, 1}).max_expansions = 1;
    return queries;
  }

  void ExpectTheSameAsAlone() {
    const AgentQuery in_overlay = {.profile = MovementProfile{.corner_rule = CornerRule::kAlways},
                                   .overlay = Overlay{.blocked = {.cells = {{1, 0}}}}};
    const std::vector<RouteQuery> queries = Queries();
    for (const AgentQuery& agent : {AgentQuery(), AgentQuery{.footprint = 2}, in_overlay}) {
      const std::vector<std::string> told = SolveAll(agent, queries);
      for (std::size_t i = 0; i < queries.size(); ++i) {
        RouteQuery alone = queries[i];
        alone.agent = agent;
        EXPECT_EQ(told[i], ToText(Find("upper", alone))) << i;
      }
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
                                         ADD_FAILURE() << "got an answer";
                                         return absl::OkStatus();
                                       });
  EXPECT_TRUE(EndsAll(ended)) << ended;
  EXPECT_EQ(ErrorReasonOf(ended), "CANCELLED");
}

}  // namespace
}  // namespace waystar::core
