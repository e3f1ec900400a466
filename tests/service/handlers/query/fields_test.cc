// Many starts and goals, rays and samples; and what handlers do where they may not do much, and for callers
// that are gone.

#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/search/interruption.h"
#include "server/service/handlers/query/answer_query.h"
#include "server/service/handlers/query/field_answers.h"
#include "tests/service/about_map.h"
#include "tests/service/handler_test.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

// KindsTest asks every question.
TEST(FieldsRpcTest, QuestionsOfAreasAndRaysAreAnsweredInFull) {
  TestServer server;
  server.Create("yard", YardRows());
  const client::Client& client = server.client();
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
}

class FieldsTest : public HandlerTest {
 protected:
  FieldsTest() { Create("yard", YardRows()); }

  absl::StatusOr<v1::ComputeCostMatrixResponse> CostMatrix(const v1::ComputeCostMatrixRequest& request) {
    return Ask<v1::ComputeCostMatrixResponse>(request);
  }

  absl::StatusOr<v1::FindPathsResponse> FindPaths(const v1::FindPathsRequest& request) {
    return Answer<v1::FindPathsResponse>([&](v1::FindPathsResponse& response) {
      return rpc::AnswerQueries(store_, kMaxBytes, request, response, context_);
    });
  }
};

TEST_F(FieldsTest, ExplanationNamesBlockersWhereThePathEntersThem) {
  Create("keep", {".~#..", ".~#.."}, Parsed<v1::GridOptions>(R"(
    terrains { symbol: '.' name: 'ground' cost: 1 } terrains { symbol: '~' name: 'moat' cost: 2 }
    cell_size: 2)"));
  ASSERT_TRUE(Update(Parsed<v1::UpdateMapRequest>(R"(
    map: "keep" edits { add_obstacle { id: "gate" shape { rectangles { x: 2 width: 2 height: 2 } } } })"))
                  .ok());
  auto request = Parsed<v1::ExplainPathRequest>(R"(
    map: "keep" start { cell {} } goal { position { x: 9 y: 1 } }
    agent { profile { forbidden_terrains: '~' } }
    view { overlay { blocked { rectangles { x: 4 width: 1 height: 2 } } } }
    prices { id_prefix: 'ga' price: 50 })");
  const auto answer = Ask<v1::ExplainPathResponse>(request).value();
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.cost(), 5);
  EXPECT_EQ(answer.price(), 3050);
  EXPECT_EQ(answer.path().form(), v1::PATH_FORM_EVERY_CELL);
  EXPECT_THAT(answer.path().points(), SizeIs(5));
  EXPECT_EQ(answer.path().positions(4).x(), 9);
  EXPECT_EQ(answer.path().asked_end().position().x(), 9);
  ASSERT_EQ(answer.blockers_size(), 4);
  EXPECT_EQ(TextOf(answer.blockers(0)), R"(terrain: "~" entry { cell { x: 1 } } price: 1000)");
  EXPECT_EQ(TextOf(answer.blockers(1)), R"(obstacle: "gate" entry { cell { x: 2 } } price: 50)");
  EXPECT_EQ(TextOf(answer.blockers(2)), "nameless: true entry { cell { x: 2 } } price: 1000");
  EXPECT_EQ(TextOf(answer.blockers(3)), "overlay: true entry { cell { x: 4 } } price: 1000");
  EXPECT_TRUE(answer.has_info());

  request.set_only_obstacles(true);
  EXPECT_EQ(Ask<v1::ExplainPathResponse>(request)->outcome(), v1::OUTCOME_UNREACHABLE);
  request.set_price(-1);
  EXPECT_THAT(Ask<v1::ExplainPathResponse>(request), IsError(kInvalid, ErrorReason::kBadValue, "price"));
  request.clear_goal();
  EXPECT_THAT(Ask<v1::ExplainPathResponse>(request), IsError(kInvalid, ErrorReason::kMissingField, "goal"));
  request = Parsed<v1::ExplainPathRequest>("map: 'keep' start { cell { x: -1 } } goal { cell {} }");
  EXPECT_THAT(Ask<v1::ExplainPathResponse>(request),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "start"));
}

TEST_F(FieldsTest, ProfileAndOverlayAreTheAgents) {
  v1::ComputeCostMatrixRequest request = Matrix();
  *request.mutable_view()->mutable_overlay()->mutable_blocked()->add_cells() = CellAt(0, 1);
  EXPECT_THAT(CostMatrix(request)->costs(), ElementsAre(10.0, -1.0, 8.0, -1.0));
  request = Matrix();
  request.mutable_agent()->mutable_profile()->set_footprint(2);
  EXPECT_THAT(CostMatrix(request)->costs(), ElementsAre(-1.0, -1.0, -1.0, -1.0));
}

TEST_F(FieldsTest, AnAnswerThatDoesNotFitIsRefused) {
  ASSERT_THAT(Create(Parsed<v1::CreateMapRequest>("map: 'plain' blank { width: 2048 height: 2048 }")),
              IsOk());
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

TEST_F(FieldsTest, MovesAreJudgedByTheirTimes) {
  const auto request = Parsed<v1::CheckMovesRequest>(R"(
    map: "yard" speed: 4 time_tolerance { nanos: 100000000 }
    moves { from { cell {} } to { cell { x: 4 } } elapsed { nanos: 950000000 } }
    moves { from { cell {} } to { cell { x: 4 } } elapsed { nanos: 850000000 } }
    moves { from { cell {} } to { cell { x: 4 } } elapsed { nanos: 850000000 } speed: 5 }
    moves { from { position { x: 2 y: 0.5 } } to { position { x: 2 y: 1.5 } } elapsed { seconds: 1 } })");
  const auto judged = Ask<v1::CheckMovesResponse>(request).value();
  EXPECT_EQ(judged.info().version().revision(), 1U);
  EXPECT_EQ(TextOf(judged.results(0)), "verdict: MOVE_VERDICT_OK nearest { cell { x: 4 } }");
  EXPECT_EQ(TextOf(judged.results(1)),
            "verdict: MOVE_VERDICT_TOO_FAST least_time { seconds: 1 } nearest { cell { } }");
  EXPECT_EQ(judged.results(2).verdict(), v1::MOVE_VERDICT_OK);
  EXPECT_EQ(TextOf(judged.results(3)),
            "verdict: MOVE_VERDICT_BLOCKED blocked_at { position { x: 2 y: 1.5 } } "
            "nearest { position { x: 2.5 y: 0.5 } }");
}

TEST_F(FieldsTest, BadMovesNameTheField) {
  const auto refused = [&](const std::string& fields) {
    const auto request = Parsed<v1::CheckMovesRequest>("map: 'yard' " + fields);
    const absl::Status status = Ask<v1::CheckMovesResponse>(request).status();
    return ErrorReasonOf(status) + " " + ErrorFieldOf(status);
  };
  const std::string ends = " from { cell {} } to { cell { x: 1 } } ";
  EXPECT_EQ(refused("speed: 1"), "MISSING_FIELD moves");
  EXPECT_EQ(refused("moves { " + ends + "}"), "BAD_VALUE speed");
  EXPECT_EQ(refused("speed: inf moves { " + ends + "}"), "BAD_VALUE speed");
  EXPECT_EQ(refused("speed: 1 moves { speed: 0 " + ends + "}"), "BAD_VALUE moves[0].speed");
  EXPECT_EQ(refused("speed: 1 moves {" + ends + "elapsed { nanos: -1 } }"), "BAD_VALUE moves[0].elapsed");
  EXPECT_EQ(refused("speed: 1 moves {" + ends + "} time_tolerance { seconds: -1 }"),
            "BAD_VALUE time_tolerance");
  EXPECT_EQ(refused("speed: 1 moves { from { cell {} } }"), "MISSING_FIELD moves[0].to");
  EXPECT_EQ(refused("speed: 1 moves { from { node: 'a' } to { cell {} } }"),
            "WRONG_MAP_KIND moves[0].from.node");
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
  for (const char* bad : {"-0.5", "11", "nan", "inf"}) {
    expect_refused(absl::StrCat("tolerance: ", bad), kInvalid, ErrorReason::kBadValue, "tolerance");
  }
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

constexpr int kSide = 300;

// Every RPC that asks something of a map, about a pair of far cells, for agents of a profile that has not
// been seen before.
class LanesTest : public HandlerTest {
 protected:
  using Handle = std::function<absl::Status(rpc::CallContext&)>;
  struct Handler {
    std::string name;
    Handle handle;
  };

  LanesTest() {
    Create("desert", std::vector<std::string>(kSide, std::string(kSide, '.')),
           Parsed<v1::GridOptions>("terrains { symbol: 's' name: 'sand' cost: 1 }"));
    const std::string from = "{ cell { x: 1 y: 2 } } ";
    const std::string to = "{ cell { x: 298 y: 210 } } ";
    Add(
        "FindPath", Ask<v1::FindPathRequest>("start " + from + "goals " + to),
        [this](const auto& request, auto& response, rpc::CallContext& context) {
          return rpc::AnswerFindPath(store_, kMaxBytes, request, response, context);
        },
        v1::FindPathResponse());
    Add(
        "FindPaths", Ask<v1::FindPathsRequest>("queries { start " + from + "goals " + to + "}"),
        [this](const auto& request, auto& response, rpc::CallContext& context) {
          return rpc::AnswerQueries(store_, kMaxBytes, request, response, context);
        },
        v1::FindPathsResponse());
    auto validated = Ask<v1::ValidatePathsRequest>("paths {}");
    for (int i = 0; i < 500; ++i) {
      *validated.mutable_paths(0)->add_points() = i % 2 == 0 ? CellAt(0, 0) : CellAt(kSide - 1, kSide - 1);
    }
    Add("ValidatePaths", validated, fields_, v1::ValidatePathsResponse());
    Add("ComputeCostMatrix", Ask<v1::ComputeCostMatrixRequest>("starts " + from + "goals " + to), fields_,
        v1::ComputeCostMatrixResponse());
    Add("FindReachable", Ask<v1::FindReachableRequest>("start " + from + "max_cost: 200"), fields_,
        v1::FindReachableResponse());
    Add("ComputeFlowField", Ask<v1::ComputeFlowFieldRequest>("goals " + to), fields_,
        v1::ComputeFlowFieldResponse());
    Add("CheckReachability", Ask<v1::CheckReachabilityRequest>("pairs { start " + from + "goal " + to + "}"),
        fields_, v1::CheckReachabilityResponse());
    Add("CheckMoves",
        Ask<v1::CheckMovesRequest>("speed: 1 moves { elapsed { seconds: 999 } from " + from + "to " + to +
                                   "}"),
        fields_, v1::CheckMovesResponse());
    Add("CastRay", Ask<v1::CastRayRequest>("from " + from + "to " + to), fields_, v1::CastRayResponse());
    Add("ExplainPath", Ask<v1::ExplainPathRequest>("start " + from + "goal " + to), fields_,
        v1::ExplainPathResponse());
    Add("SamplePlaces", Ask<v1::SamplePlacesRequest>("count: 1 reachable_from " + from), fields_,
        v1::SamplePlacesResponse());
  }

  // The profile is another for each kind of request.
  template <typename Request>
  Request Ask(const std::string& fields) {
    auto request = Parsed<Request>(fields);
    request.set_map("desert");
    v1::MovementProfile& profile = *request.mutable_agent()->mutable_profile();
    v1::TerrainCost& cost = *profile.add_terrain_costs();
    cost.set_terrain("s");
    cost.set_cost(2.0 + static_cast<double>(handlers_.size()));
    profile.set_footprint(2);
    return request;
  }

  template <typename Request, typename Answer, typename Response>
  void Add(const std::string& name, const Request& request, Answer answer, const Response& /*empty*/) {
    handlers_.push_back({name, [request, answer](rpc::CallContext& context) {
                           Response response;
                           return answer(request, response, context);
                         }});
  }

  // The names of those that `is_it` holds for, given what they return and their context.
  std::vector<std::string> Which(const std::function<bool(const absl::Status&, rpc::CallContext&)>& is_it,
                                 const core::Budget& budget, std::uint64_t expansions) {
    std::vector<std::string> names;
    for (const Handler& handler : handlers_) {
      core::Upkeep upkeep(0);
      rpc::CallContext context{
          .bench = bench_, .caller = caller_, .budget = budget, .max_expansions_here = expansions};
      if (expansions != kUnlimited) {
        context.budget.upkeep = &upkeep;
      }
      const absl::Status status = handler.handle(context);
      if (is_it(status, context)) {
        names.push_back(
            absl::StrCat(handler.name, status.ok() ? "" : " ", status.ok() ? "" : status.message()));
      }
    }
    return names;
  }

  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  const rpc::FieldAnswers fields_{store_, kMaxBytes};
  std::vector<Handler> handlers_;
};

TEST_F(LanesTest, NothingOfTheSizeOfTheMapIsMadeWhereItMayNot) {
  const auto stays = [](const absl::Status&, rpc::CallContext& context) {
    return !context.NeedsLargerLane();
  };
  EXPECT_THAT(Which(stays, {}, rpc::MaxExpansionsOn(rpc::Lane::kHere)), IsEmpty());
  EXPECT_FALSE(store_.Pin("desert").value()->grid().HasWalk(2));
}

TEST_F(LanesTest, AllAreAnsweredWhereEverythingIsMade) {
  const auto fails = [](const absl::Status& status, rpc::CallContext& context) {
    return !status.ok() || context.NeedsLargerLane();
  };
  EXPECT_THAT(Which(fails, {}, kUnlimited), IsEmpty());
  // From now on it is there.
  EXPECT_THAT(Which(fails, {}, rpc::MaxExpansionsOn(rpc::Lane::kSmall)), IsEmpty());
}

TEST_F(LanesTest, NobodyWorksForCallersThatAreGone) {
  const std::atomic<bool> cancelled = true;
  const auto goes_on = [](const absl::Status& status, rpc::CallContext&) {
    return !absl::IsCancelled(status);
  };
  EXPECT_THAT(Which(goes_on, {.cancelled = &cancelled}, kUnlimited), IsEmpty());
  EXPECT_FALSE(store_.Pin("desert").value()->grid().HasWalk(2));
  const auto is_not_late = [](const absl::Status& status, rpc::CallContext&) {
    return !absl::IsDeadlineExceeded(status);
  };
  EXPECT_THAT(Which(is_not_late, {.deadline = std::chrono::steady_clock::time_point::min()}, kUnlimited),
              IsEmpty());
}

}  // namespace
}  // namespace waystar
