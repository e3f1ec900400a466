// Many starts and goals, rays and samples.

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/service/handlers/query/answer_query.h"
#include "tests/service/about_map.h"
#include "tests/service/handler_test.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::waystar::testing::About;
using ::waystar::testing::CellAt;
using ::waystar::testing::HandlerTest;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;
using ::waystar::testing::LocationAt;
using ::waystar::testing::Parsed;
using ::waystar::testing::TestServer;

const std::vector<std::string>& YardRows() {
  static const auto* const kRows = new std::vector<std::string>{".....",  //
                                                                ".###.",  //
                                                                "....."};
  return *kRows;
}

// Two agents' ways around the wall.
v1::ComputeCostMatrixRequest Matrix() {
  return Parsed<v1::ComputeCostMatrixRequest>(R"(
    map: "yard"
    starts { cell {} } starts { cell { x: 2 } }
    goals { cell { y: 2 } } goals { cell { x: 2 y: 1 } })");
}

v1::ComputeFlowFieldRequest Flow(const std::string& map) {
  auto request = About<v1::ComputeFlowFieldRequest>(map);
  request.set_with_costs(true);
  *request.add_goals() = LocationAt(0, 0);
  return request;
}

TEST(FieldsRpcTest, EachQuestionIsAnswered) {
  TestServer server;
  server.Create("yard", YardRows());
  const client::Client& client = server.client();
  const auto matrix = client.ComputeCostMatrix(Matrix()).value();
  EXPECT_THAT(matrix.costs(), ElementsAre(2.0, -1.0, 4.0, -1.0));
  EXPECT_EQ(matrix.info().version().revision(), 1U);
  EXPECT_GT(matrix.info().statistics().search_time().nanos(), 0);

  const auto reach = Parsed<v1::FindReachableRequest>(
      R"(map: "yard" start { cell { x: 1 } } max_cost: 2.5 with_costs: true)");
  const auto reachable = client.FindReachable(reach).value();
  EXPECT_EQ(reachable.bounds().width(), 4);
  EXPECT_EQ(reachable.cells(), std::string("\x0F\x01", 2));
  EXPECT_EQ(reachable.count(), 5);
  EXPECT_THAT(reachable.costs(), ElementsAre(1.0F, 0.0F, 1.0F, 2.0F, 2.0F));
  EXPECT_EQ(reachable.info().version().revision(), 1U);

  v1::ComputeFlowFieldRequest flow = Flow("yard");
  flow.mutable_region()->set_width(3);
  flow.mutable_region()->set_height(3);
  const auto field = client.ComputeFlowField(flow).value();
  EXPECT_EQ(field.directions(), std::string("\x09\x07\x07\x01\x00\x00\x01\x07\x07", 9));
  EXPECT_THAT(field.costs(), ElementsAre(0.0F, 1.0F, 2.0F, 1.0F, -1.0F, -1.0F, 2.0F, 3.0F, 4.0F));
  EXPECT_EQ(field.info().version().revision(), 1U);

  const auto pairs = Parsed<v1::CheckReachabilityRequest>(R"(
    map: "yard"
    pairs { start { cell {} } goal { cell { x: 4 y: 2 } } }
    pairs { start { cell {} } goal { cell { x: 2 y: 1 } } })");
  const auto reachability = client.CheckReachability(pairs).value();
  EXPECT_THAT(reachability.reachable(), ElementsAre(true, false));
  EXPECT_EQ(reachability.info().version().revision(), 1U);

  // To the centre of (2, 2).
  const auto ray =
      Parsed<v1::CastRayRequest>(R"(map: "yard" from { cell { x: 2 } } to { position { x: 2.5 y: 2.5 } })");
  const auto hit = client.CastRay(ray).value();
  EXPECT_TRUE(hit.blocked());
  EXPECT_EQ(hit.cell().y(), 1);
  EXPECT_EQ(hit.fraction(), 0.25);
  EXPECT_EQ(hit.position().x(), 2.5);
  EXPECT_EQ(hit.position().y(), 1.0);
  EXPECT_EQ(hit.info().version().revision(), 1U);

  const auto sample = Parsed<v1::SamplePlacesRequest>(R"(map: "yard" count: 12 distinct: true)");
  const auto sampled = client.SamplePlaces(sample).value();
  EXPECT_THAT(sampled.cells(), SizeIs(12));
  EXPECT_EQ(sampled.candidates(), 12);
  EXPECT_EQ(sampled.info().version().revision(), 1U);
}

class FieldsTest : public HandlerTest {
 protected:
  FieldsTest() { Create("yard", YardRows()); }

  void CreateBlank(int width, int height) {
    auto blank = About<v1::CreateMapRequest>("plain");
    blank.mutable_blank()->set_width(width);
    blank.mutable_blank()->set_height(height);
    ASSERT_TRUE(Create(blank).ok());
  }

  absl::StatusOr<v1::ComputeCostMatrixResponse> CostMatrix(const v1::ComputeCostMatrixRequest& request) {
    return Ask<v1::ComputeCostMatrixResponse>(request);
  }

  absl::StatusOr<v1::FindPathsResponse> FindPaths(const v1::FindPathsRequest& request) {
    return Answer<v1::FindPathsResponse>([&](v1::FindPathsResponse& response) {
      return rpc::AnswerQueries(store_, kMaxBytes, request, response, context_);
    });
  }
};

TEST_F(FieldsTest, ProfileAndOverlayAreTheAgents) {
  v1::ComputeCostMatrixRequest request = Matrix();
  *request.mutable_view()->mutable_overlay()->mutable_blocked()->add_cells() = CellAt(0, 1);
  EXPECT_THAT(CostMatrix(request)->costs(), ElementsAre(10.0, -1.0, 8.0, -1.0));
  request = Matrix();
  request.mutable_agent()->mutable_profile()->set_footprint(2);
  EXPECT_THAT(CostMatrix(request)->costs(), ElementsAre(-1.0, -1.0, -1.0, -1.0));
}

TEST_F(FieldsTest, AnAnswerThatDoesNotFitIsRefused) {
  CreateBlank(2048, 2048);
  EXPECT_THAT(Ask<v1::ComputeFlowFieldResponse>(Flow("plain")),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kResponseTooLarge, "with_costs"));
}

TEST_F(FieldsTest, BadQuestionsNameTheField) {
  v1::ComputeCostMatrixRequest matrix = Matrix();
  *matrix.add_starts() = LocationAt(5, 0);
  EXPECT_THAT(CostMatrix(matrix), IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "starts[2]"));
  matrix.mutable_agent()->mutable_profile()->set_footprint(-1);
  EXPECT_THAT(CostMatrix(matrix), IsError(kInvalid, ErrorReason::kBadValue, "agent.profile.footprint"));
  matrix.set_map("nowhere");
  EXPECT_THAT(CostMatrix(matrix), IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
  auto ray = About<v1::CastRayRequest>("yard");
  EXPECT_THAT(Ask<v1::CastRayResponse>(ray), IsError(kInvalid, ErrorReason::kMissingField, "from"));
  *ray.mutable_from() = LocationAt(0, 0);
  EXPECT_THAT(Ask<v1::CastRayResponse>(ray), IsError(kInvalid, ErrorReason::kMissingField, "to"));
}

TEST_F(FieldsTest, FindPathsAnswersEachQuery) {
  const auto request = Parsed<v1::FindPathsRequest>(R"(
    map: "yard" agent { profile { corner_rule: CORNER_RULE_ALWAYS } } path_form: PATH_FORM_CORNERS
    queries { start { cell {} } goals { cell { x: 4 y: 2 } } }
    queries { start { cell { x: 2 y: 1 } } goals { cell { x: 4 y: 2 } } }
    queries { goals { cell { x: 4 y: 2 } } }
    queries { start { cell {} } goals { cell { x: 4 y: 2 } } goal_map: "other" }
    queries { start { cell {} } goals { cell { x: 4 } } goals { cell { y: 2 } } })");
  const auto answers = FindPaths(request).value();
  ASSERT_THAT(answers.results(), SizeIs(5));
  EXPECT_EQ(answers.info().version().revision(), 1U);
  const double cutting = 4.0 + std::sqrt(2.0);
  EXPECT_NEAR(answers.results(0).answer().cost(), cutting, 1e-6);
  EXPECT_EQ(answers.results(1).problem().code(), static_cast<int>(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(answers.results(0).answer().path().form(), v1::PATH_FORM_CORNERS);
  EXPECT_EQ(answers.results(2).problem().code(), static_cast<int>(kInvalid));
  EXPECT_EQ(answers.results(3).problem().code(), static_cast<int>(absl::StatusCode::kNotFound));
  EXPECT_EQ(answers.results(4).answer().goal_index(), 1);
}

TEST_F(FieldsTest, FindPathsRefusesBadOptionsForAll) {
  constexpr char kQuery[] = "map: 'yard' queries { start { cell {} } goals { cell { x: 4 y: 2 } } } ";
  const auto expect_refused = [&](const std::string& option, absl::StatusCode code, ErrorReason reason,
                                  const std::string& field) {
    EXPECT_THAT(FindPaths(Parsed<v1::FindPathsRequest>(absl::StrCat(kQuery, option))),
                IsError(code, reason, field));
  };
  expect_refused("algorithm: 99", kInvalid, ErrorReason::kUnknownEnumValue, "algorithm");
  expect_refused("snap { radius: -1 }", kInvalid, ErrorReason::kBadValue, "snap.radius");
  expect_refused("with_corridor: true", absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind,
                 "with_corridor");
  expect_refused("tolerance: 0.1", absl::StatusCode::kUnimplemented, ErrorReason::kNotImplemented,
                 "tolerance");
}

TEST_F(FieldsTest, FindPathsRefusesTooFewAndTooMany) {
  auto request = About<v1::FindPathsRequest>("yard");
  EXPECT_THAT(FindPaths(request), IsError(kInvalid, ErrorReason::kMissingField, "queries"));
  for (int i = 0; i <= 10'000; ++i) {
    request.add_queries();
  }
  EXPECT_THAT(FindPaths(request),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, "queries"));
}

}  // namespace
}  // namespace waystar
