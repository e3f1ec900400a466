// Routes through portals and on maps other than the query's own.

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
using ::waystar::testing::Between;
using ::waystar::testing::RouteTest;

PutPortal PutDoor(const std::string& id, Cell from, Cell to, const std::string& to_map) {
  return {.portal = {.id = id, .from = from, .to_map = to_map, .to = to, .cost = CostFromDouble(1)}};
}

// Two floors: one room parted by a wall above, an open one below; stairs lead down on the left and up on the
// right.
class WorldsTest : public RouteTest {
 protected:
  WorldsTest() {
    Create("upper", {"..#..",  //
                     "..#.."});
    Create("lower", {".....",  //
                     "....."});
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
  ASSERT_THAT(Find("upper", query, {}, &recorder), testing::IsOk());
  EXPECT_THAT(recorder.cells.maps(), ElementsAre("", "lower"));
  bool is_beyond_the_wall = false;
  for (const SearchEvent& event : recorder.cells.events()) {
    const bool is_below = recorder.cells.maps()[event.map] == "lower";
    EXPECT_TRUE(is_below || event.cell.x != 2) << "in the wall above";
    is_beyond_the_wall = is_beyond_the_wall || (is_below && event.cell.x == 2);
  }
  EXPECT_TRUE(is_beyond_the_wall);
}

}  // namespace
}  // namespace waystar::core
