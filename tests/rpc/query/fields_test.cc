// Many starts and goals, rays and samples over the wire.

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/rpc/watch/watch_of_path.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Show;
using ::waystar::testing::TestServer;
using ::waystar::testing::WatchOfPath;

constexpr absl::StatusCode kExhausted = absl::StatusCode::kResourceExhausted;
constexpr absl::StatusCode kOffMap = absl::StatusCode::kOutOfRange;

class FieldsTest : public ::testing::Test {
 protected:
  FieldsTest() {
    server_.Create("yard", {".....",  //
                            ".###.",  //
                            "....."});
  }

  const client::Client& client() { return server_.client(); }

  // On the map, with two agents' ways around the wall.
  static v1::ComputeCostMatrixRequest Matrix() {
    v1::ComputeCostMatrixRequest request;
    request.set_map("yard");
    *request.add_sources() = CellAt(0, 0);
    *request.add_sources() = CellAt(2, 0);
    *request.add_targets() = CellAt(0, 2);
    *request.add_targets() = CellAt(2, 1);
    return request;
  }

  static v1::FindReachableRequest Reach(v1::Cell start) {
    v1::FindReachableRequest request;
    request.set_map("yard");
    *request.mutable_start() = start;
    return request;
  }

  static v1::ComputeFlowFieldRequest Flow(v1::Cell goal) {
    v1::ComputeFlowFieldRequest request;
    request.set_map("yard");
    *request.add_goals() = goal;
    return request;
  }

  static v1::CastRayRequest Ray(double from_x, double from_y, double to_x, double to_y) {
    v1::CastRayRequest request;
    request.set_map("yard");
    request.mutable_from()->set_x(from_x);
    request.mutable_from()->set_y(from_y);
    request.mutable_to()->set_x(to_x);
    request.mutable_to()->set_y(to_y);
    return request;
  }

  TestServer server_;
};

TEST_F(FieldsTest, MatrixHasACostForEachPair) {
  const auto matrix = client().ComputeCostMatrix(Matrix());
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_THAT(matrix->costs(), ElementsAre(2.0, -1.0, 4.0, -1.0));
  EXPECT_EQ(matrix->revision(), 1U);
  EXPECT_GT(matrix->statistics().search_nanos(), 0);
}

TEST_F(FieldsTest, MatrixObeysProfileAndOverlay) {
  v1::ComputeCostMatrixRequest request = Matrix();
  *request.mutable_overlay()->mutable_blocked()->add_cells() = CellAt(0, 1);
  EXPECT_THAT(client().ComputeCostMatrix(request)->costs(), ElementsAre(10.0, -1.0, 8.0, -1.0));
  request = Matrix();
  request.mutable_profile()->set_footprint(2);
  EXPECT_THAT(client().ComputeCostMatrix(request)->costs(), ElementsAre(-1.0, -1.0, -1.0, -1.0));
}

TEST_F(FieldsTest, ReachIsPackedInRows) {
  v1::FindReachableRequest request = Reach(CellAt(1, 0));
  request.set_max_cost(2.5);
  request.set_want_costs(true);
  const auto reachable = client().FindReachable(request);
  ASSERT_TRUE(reachable.ok()) << reachable.status();
  EXPECT_EQ(reachable->bounds().width(), 4);
  EXPECT_EQ(reachable->bounds().height(), 2);
  EXPECT_EQ(reachable->cells(), std::string("\x0F\x01", 2));
  EXPECT_EQ(reachable->count(), 5);
  EXPECT_THAT(reachable->costs(), ElementsAre(1.0F, 0.0F, 1.0F, 2.0F, 2.0F));
}

TEST_F(FieldsTest, FlowFieldIsAByteACell) {
  v1::ComputeFlowFieldRequest request = Flow(CellAt(0, 0));
  request.mutable_region()->set_width(3);
  request.mutable_region()->set_height(3);
  request.set_want_costs(true);
  const auto field = client().ComputeFlowField(request);
  ASSERT_TRUE(field.ok()) << field.status();
  EXPECT_EQ(field->directions(), std::string("\x09\x07\x07\x01\x00\x00\x01\x07\x07", 9));
  EXPECT_THAT(field->costs(), ElementsAre(0.0F, 1.0F, 2.0F, 1.0F, -1.0F, -1.0F, 2.0F, 3.0F, 4.0F));
}

TEST_F(FieldsTest, AMillionGoalsAreTooMany) {
  v1::ComputeFlowFieldRequest request = Flow(CellAt(0, 0));
  v1::FindPathRequest query = PathRequest("yard", CellAt(0, 0), CellAt(0, 0));
  query.clear_goal();
  for (int i = 0; i < 1'000'000; ++i) {
    request.add_goals();
    query.add_goals();
  }
  EXPECT_THAT(client().ComputeFlowField(request), IsRefused(kExhausted, "TOO_MANY_ITEMS", "goals"));
  EXPECT_THAT(client().FindPath(query), IsRefused(kExhausted, "TOO_MANY_ITEMS", "goals"));
}

TEST_F(FieldsTest, AnAnswerThatDoesNotFitIsRefused) {
  v1::CreateMapRequest blank;
  blank.set_map("plain");
  blank.mutable_blank()->set_width(2048);
  blank.mutable_blank()->set_height(2048);
  ASSERT_TRUE(client().CreateMap(blank).ok());
  v1::ComputeFlowFieldRequest request = Flow(CellAt(0, 0));
  request.set_map("plain");
  request.set_want_costs(true);
  EXPECT_THAT(client().ComputeFlowField(request), IsRefused(kExhausted, "RESPONSE_TOO_LARGE", "want_costs"));
}

TEST_F(FieldsTest, ReachabilityIsABitAPair) {
  v1::CheckReachabilityRequest request;
  request.set_map("yard");
  for (const v1::Cell& goal : {CellAt(4, 2), CellAt(2, 1)}) {
    v1::CellPair& pair = *request.add_pairs();
    *pair.mutable_start() = CellAt(0, 0);
    *pair.mutable_goal() = goal;
  }
  const auto answer = client().CheckReachability(request);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->reachable(), ElementsAre(true, false));
  request.mutable_pairs(1)->clear_start();
  EXPECT_THAT(client().CheckReachability(request), IsRefused(kInvalid, "MISSING_FIELD", "pairs[1].start"));
}

TEST_F(FieldsTest, ARayTellsWhereItEnds) {
  const auto hit = client().CastRay(Ray(2, 0, 2, 2));
  ASSERT_TRUE(hit.ok()) << hit.status();
  EXPECT_TRUE(hit->blocked());
  EXPECT_EQ(hit->cell().y(), 1);
  EXPECT_EQ(hit->point().y(), 0.5);
  EXPECT_EQ(hit->fraction(), 0.25);
  EXPECT_TRUE(hit->has_last_free());
  EXPECT_FALSE(client().CastRay(Ray(0, 0, 4.25, 0.25))->blocked());
}

TEST_F(FieldsTest, SamplesAreCellsOfTheCandidates) {
  v1::SampleCellsRequest request;
  request.set_map("yard");
  request.set_count(12);
  request.set_seed(3);
  request.set_distinct(true);
  const auto sampled = client().SampleCells(request);
  ASSERT_TRUE(sampled.ok()) << sampled.status();
  EXPECT_THAT(sampled->cells(), SizeIs(12));
  EXPECT_EQ(sampled->candidates(), 12);
  EXPECT_EQ(Show(client().SampleCells(request)->cells()), Show(sampled->cells()));
  *request.mutable_reachable_from() = CellAt(1, 1);
  EXPECT_THAT(client().SampleCells(request),
              IsRefused(absl::StatusCode::kFailedPrecondition, "START_BLOCKED", "reachable_from"));
}

// Of each kind of question what only the wire can leave out, and what is wrong with a number.
TEST_F(FieldsTest, BadQuestionsNameTheField) {
  v1::ComputeCostMatrixRequest matrix = Matrix();
  *matrix.add_sources() = CellAt(5, 0);
  EXPECT_THAT(client().ComputeCostMatrix(matrix), IsRefused(kOffMap, "OFF_MAP", "sources[2]"));
  matrix.mutable_profile()->set_footprint(-1);
  EXPECT_THAT(client().ComputeCostMatrix(matrix), IsRefused(kInvalid, "BAD_VALUE", "profile.footprint"));
  matrix.set_map("nowhere");
  EXPECT_THAT(client().ComputeCostMatrix(matrix),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
  v1::FindReachableRequest reach = Reach(CellAt(0, 0));
  reach.mutable_region()->set_width(2);
  EXPECT_THAT(client().FindReachable(reach), IsRefused(kInvalid, "BAD_RECTANGLE", "region.height"));
  reach.clear_start();
  EXPECT_THAT(client().FindReachable(reach), IsRefused(kInvalid, "MISSING_FIELD", "start"));
  v1::CastRayRequest ray = Ray(std::nan(""), 0, 0, 0);
  EXPECT_THAT(client().CastRay(ray), IsRefused(kInvalid, "BAD_VALUE", "from.x"));
  ray.clear_to();
  EXPECT_THAT(client().CastRay(ray), IsRefused(kInvalid, "MISSING_FIELD", "to"));
}

TEST_F(FieldsTest, TracesAndWatchesHaveOneGoal) {
  v1::TraceSearchRequest trace;
  *trace.mutable_query() = PathRequest("yard", CellAt(1, 0), CellAt(0, 0));
  trace.mutable_query()->clear_goal();
  *trace.mutable_query()->add_goals() = CellAt(1, 2);
  EXPECT_THAT(client().TraceSearch(trace, [](const v1::SearchEvent&) {}),
              IsRefused(kInvalid, "BAD_VALUE", "query.goals"));
  v1::WatchPathRequest watch;
  *watch.mutable_query() = trace.query();
  const absl::Status end = WatchOfPath(server_.NewChannel(), watch.query()).End();
  EXPECT_EQ(client::FieldOf(end), "query.goals");
}

TEST_F(FieldsTest, FindPathsAnswersEachQuery) {
  v1::FindPathsRequest request;
  request.set_map("yard");
  request.mutable_profile()->set_corner_rule(v1::CORNER_RULE_ALWAYS);
  *request.add_queries() = PathRequest("", CellAt(0, 0), CellAt(4, 2));
  *request.add_queries() = PathRequest("yard", CellAt(2, 1), CellAt(4, 2));
  *request.add_queries() = PathRequest("other", CellAt(0, 0), CellAt(4, 2));
  v1::FindPathRequest& detour = *request.add_queries();
  detour = PathRequest("", CellAt(0, 0), CellAt(4, 2));
  *detour.mutable_overlay()->mutable_blocked()->add_cells() = CellAt(4, 1);
  v1::FindPathRequest& several = *request.add_queries();
  *several.mutable_start() = CellAt(0, 0);
  *several.add_goals() = CellAt(4, 0);
  *several.add_goals() = CellAt(0, 2);
  v1::FindPathRequest& careful = *request.add_queries();
  careful = PathRequest("", CellAt(0, 0), CellAt(4, 2));
  careful.set_corner_rule(v1::CORNER_RULE_NO_CORNER_CUTTING);
  const auto answers = client().FindPaths(request);
  ASSERT_TRUE(answers.ok()) << answers.status();
  ASSERT_THAT(answers->results(), SizeIs(6));
  EXPECT_EQ(answers->revision(), 1U);
  const double cutting = 4.0 + std::sqrt(2.0);
  EXPECT_NEAR(answers->results(0).answer().cost(), cutting, 1e-6);
  EXPECT_EQ(answers->results(1).problem().code(), static_cast<int>(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(answers->results(2).problem().code(), static_cast<int>(absl::StatusCode::kInvalidArgument));
  EXPECT_NEAR(answers->results(3).answer().cost(), cutting, 1e-6);
  EXPECT_EQ(answers->results(4).answer().goal_index(), 1);
  EXPECT_EQ(answers->results(5).answer().cost(), 6.0);
}

TEST_F(FieldsTest, FindPathsRefusesTooMuch) {
  v1::FindPathsRequest request;
  request.set_map("yard");
  EXPECT_THAT(client().FindPaths(request)->results(), SizeIs(0));
  for (int i = 0; i <= 10'000; ++i) {
    request.add_queries();
  }
  EXPECT_THAT(client().FindPaths(request), IsRefused(kExhausted, "TOO_MANY_ITEMS", "queries"));
  v1::CreateMapRequest blank;
  blank.set_map("plain");
  blank.mutable_blank()->set_width(2048);
  blank.mutable_blank()->set_height(2);
  ASSERT_TRUE(client().CreateMap(blank).ok());
  request.Clear();
  request.set_map("plain");
  for (int i = 0; i < 1000; ++i) {
    *request.add_queries() = PathRequest("", CellAt(0, 0), CellAt(2047, i % 2));
  }
  EXPECT_THAT(client().FindPaths(request), IsRefused(kExhausted, "RESPONSE_TOO_LARGE", "queries"));
}

}  // namespace
}  // namespace waystar
