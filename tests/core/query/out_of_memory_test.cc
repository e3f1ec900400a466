// Queries that find no memory: each ends with std::bad_alloc, whichever of its allocations fails, and leaves
// the map and its views such that the next query gets its answer.

#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/core/grid/search/allocation_counter.h"
#include "tests/core/query/route_test.h"

namespace waystar::core {
namespace {

struct Question {
  std::string name;
  RouteQuery query;
  std::string map = "yard";
};

Question Asked(const std::string& name, void (*change)(RouteQuery&)) {
  Question question{.name = name, .query = Between({0, 0}, {7, 4})};
  change(question.query);
  return question;
}

std::vector<Question> Questions() {
  std::vector<Question> questions = {
      Asked("Plain", [](RouteQuery&) {}),
      Asked("AStar", [](RouteQuery& query) { query.algorithm = Algorithm::kAStar; }),
      Asked("Dijkstra", [](RouteQuery& query) { query.algorithm = Algorithm::kDijkstra; }),
      Asked("AnyAngle", [](RouteQuery& query) { query.algorithm = Algorithm::kLazyThetaStar; }),
      Asked("Footprint", [](RouteQuery& query) { query.agent.footprint = 2; }),
      Asked("Profile", [](RouteQuery& query) { query.agent.profile_name = "boat"; }),
      Asked("Overlay",
            [](RouteQuery& query) {
              query.agent.overlay.emplace().blocked.cells = {{1, 1}, {6, 3}};
            }),
      Asked("SeveralGoals",
            [](RouteQuery& query) {
              query.goals = {{.cell = Cell{7, 4}}, {.cell = Cell{0, 4}}, {.cell = Cell{7, 0}}};
            }),
      Asked("Nearest",
            [](RouteQuery& query) {
              query.goals[0].cell = Cell{3, 1};
              query.unreachable_policy = UnreachablePolicy::kNearestByDistance;
            }),
      Asked("Snapped",
            [](RouteQuery& query) {
              query.goals[0].cell = Cell{3, 1};
              query.snap = Snap{4.0};
            }),
      Asked("Summary",
            [](RouteQuery& query) {
              query.with_summary = true;
              query.with_positions = true;
              query.path_form = PathForm::kCorners;
            }),
      Asked("World", [](RouteQuery& query) { query.goal_map = "cellar"; }),
  };
  questions.push_back(
      {.name = "Graph", .query = {.start = {.node = "a"}, .goals = {{.node = "c"}}}, .map = "roads"});
  return questions;
}

// Maps of which nothing has been asked yet.
class Maps : public RouteTest {
 public:
  Maps() {
    Create("yard",
           {"........",  //
            ".##~##..",  //
            ".##~##..",  //
            ".ss~..#.",  //
            "........"},
           Sea());
    Create("cellar", {"........",  //
                      "........",  //
                      "........",  //
                      "........",  //
                      "........"});
    Apply("yard", {PutProfile{{"boat", {.terrain_costs = {{'~', 1.0}}}}},
                   PutPortal{.portal = {.id = "ladder",
                                        .from = {7, 0},
                                        .to_map = "cellar",
                                        .to = {7, 0},
                                        .cost = CostFromDouble(1)}}});
    absl::StatusOr<WaypointGraph> roads = WaypointGraph::Create(
        {.nodes = {{.id = "a", .position = {0, 0, 0}},
                   {.id = "b", .position = {4, 0, 0}},
                   {.id = "c", .position = {8, 0, 0}}},
         .edges = {{.name = {.from = "a", .to = "b"}}, {.name = {.from = "b", .to = "c"}}}});
    EXPECT_THAT(roads, IsOk());
    EXPECT_THAT(store_.Create("roads", *std::move(roads), absl::UnixEpoch()), IsOk());
  }

  void TestBody() override {}
  using RouteTest::Find;
  using RouteTest::Told;
  QueryScratch& scratch() { return scratch_; }
};

class OutOfMemoryTest : public ::testing::TestWithParam<Question> {};

TEST_P(OutOfMemoryTest, QueriesEndAlone) {
  const Question& question = GetParam();
  const std::string expected = Maps().Told(question.map, question.query);
  bool has_failed = true;
  for (std::int64_t after = 0; has_failed; ++after) {
    Maps maps;
    has_failed = false;
    try {
      const FailingAllocation one(after);
      static_cast<void>(maps.Find(question.map, question.query));
    } catch (const std::bad_alloc&) {
      has_failed = true;
      maps.scratch().Renew();
    }
    ASSERT_EQ(maps.Told(question.map, question.query), expected) << "after " << after << " allocations";
  }
}

INSTANTIATE_TEST_SUITE_P(All, OutOfMemoryTest, ::testing::ValuesIn(Questions()),
                         [](const auto& question) { return question.param.name; });

}  // namespace
}  // namespace waystar::core
