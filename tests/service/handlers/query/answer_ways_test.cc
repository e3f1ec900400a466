// Answers are the same whichever way they go: alone, in batches, in streams, and in messages of their own,
// where nothing of them is written by hand.

#include <memory>
#include <string>

#include "client/batch.h"
#include "client/client.h"
#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"

namespace waystar {
namespace {

using ::testing::SizeIs;

constexpr auto kTooMuch = absl::StatusCode::kResourceExhausted;

// All of an answer but how long it took.
std::string Timeless(v1::FindPathResponse answer) {
  answer.mutable_info()->mutable_statistics()->clear_queue_time();
  answer.mutable_info()->mutable_statistics()->clear_search_time();
  return answer.DebugString();
}

class AnswerWaysTest : public ::testing::Test {
 protected:
  // One server does for all: queries change nothing.
  static void SetUpTestSuite() {
    server_ = std::make_unique<TestServer>();
    server_->Create("yard",
                    {"........#.",  //
                     ".####...#.",  //
                     "....#...#.",  //
                     "##..#...#."},
                    Parsed<v1::GridOptions>("origin { x: -2.5 z: 7 } cell_size: 2.5"));
    server_->Create("upper", {"..#..",  //
                              "..#.."});
    server_->Create("lower", {".....",  //
                              "....."});
    server_->Create("board",
                    {".....",  //
                     ".###.",  //
                     ".....",  //
                     "..#.."},
                    Parsed<v1::GridOptions>("hexagons { layout: HEX_LAYOUT_ODD_ROWS }"));
    LayPortal("upper", CellAt(1, 0), "lower");
    LayPortal("lower", CellAt(4, 1), "upper");
  }

  static void TearDownTestSuite() { server_ = nullptr; }

  static void LayPortal(const std::string& from_map, const v1::Cell& cell, const std::string& to_map) {
    auto request = About<v1::UpdateMapRequest>(from_map);
    v1::Portal& portal = *request.add_edits()->mutable_add_portal();
    portal = Parsed<v1::Portal>("id: 'stairs' cost: 1");
    *portal.mutable_from() = cell;
    *portal.mutable_to() = cell;
    portal.set_to_map(to_map);
    const auto updated = client().UpdateMap(request).value();
  }

  static const client::Client& client() { return server_->client(); }

  v1::FindPathResponse InAPicture(const v1::FindPathRequest& query) {
    auto request = About<v1::RenderMapRequest>(query.map());
    *request.mutable_query() = query;
    const auto rendered = client().RenderMap(request);
    EXPECT_TRUE(rendered.ok()) << rendered.status();
    return rendered.ok() ? rendered->answer() : v1::FindPathResponse();
  }

  v1::FindPathsResult InABatch(const v1::FindPathRequest& query) {
    v1::FindPathsRequest request;
    client::ShareFields(query, request);
    client::AddEnds(query, request);
    const auto answers = client().FindPaths(request);
    EXPECT_TRUE(answers.ok()) << answers.status();
    return answers.ok() && answers->results_size() == 1 ? answers->results(0) : v1::FindPathsResult();
  }

  v1::StreamedAnswer InAStream(const v1::FindPathRequest& query) {
    const std::unique_ptr<client::PathStream> stream = client().StreamFindPath();
    v1::StreamFindPathRequest request;
    v1::StreamedQuery& asked = *request.add_queries();
    asked.set_id(300);
    *asked.mutable_query() = query;
    EXPECT_TRUE(stream->Send(request));
    stream->EndSending();
    v1::StreamFindPathResponse response;
    EXPECT_TRUE(stream->Receive(response));
    EXPECT_EQ(response.answers_size(), 1);
    EXPECT_TRUE(stream->Finish().ok());
    return response.answers_size() == 1 ? response.answers(0) : v1::StreamedAnswer();
  }

  // Returns the answer.
  v1::FindPathResponse ExpectTheSame(const v1::FindPathRequest& query) {
    SCOPED_TRACE(query.ShortDebugString());
    const v1::FindPathResponse answer = InAPicture(query);
    const std::string expected = Timeless(answer);
    EXPECT_EQ(Timeless(server_->Find(query)), expected);
    EXPECT_EQ(Timeless(InABatch(query).answer()), expected);
    const v1::StreamedAnswer streamed = InAStream(query);
    EXPECT_EQ(streamed.id(), 300U);
    EXPECT_EQ(Timeless(streamed.answer()), expected);
    return answer;
  }

  inline static std::unique_ptr<TestServer> server_;
};

TEST_F(AnswerWaysTest, PathsOfNoneOneAndManyPoints) {
  EXPECT_THAT(ExpectTheSame(PathRequest("yard", CellAt(0, 0), CellAt(9, 3))).path().points(), SizeIs(0));
  EXPECT_THAT(ExpectTheSame(PathRequest("yard", CellAt(3, 0), CellAt(3, 0))).path().points(), SizeIs(1));
  EXPECT_THAT(ExpectTheSame(PathRequest("yard", CellAt(0, 0), CellAt(7, 3))).path().points(), SizeIs(9));
  server_->CreateBlank("vast", 1000, 300);
  EXPECT_THAT(ExpectTheSame(PathRequest("vast", CellAt(0, 0), CellAt(999, 299))).path().points(),
              SizeIs(1000));
}

TEST_F(AnswerWaysTest, EveryForm) {
  for (int form = 0; form < v1::PathForm_ARRAYSIZE; ++form) {
    v1::FindPathRequest query = PathRequest("yard", CellAt(2, 2), CellAt(7, 3));
    query.set_path_form(static_cast<v1::PathForm>(form));
    const v1::FindPathResponse answer = ExpectTheSame(query);
    EXPECT_EQ(answer.path().points().empty(), form == v1::PATH_FORM_DIRECTIONS);
    EXPECT_EQ(answer.path().directions().empty(), form != v1::PATH_FORM_DIRECTIONS);
  }
  v1::FindPathRequest any_angle = PathRequest("yard", CellAt(0, 0), CellAt(7, 3));
  any_angle.set_algorithm(v1::ALGORITHM_LAZY_THETA_STAR);
  ExpectTheSame(any_angle);
}

TEST_F(AnswerWaysTest, WhatIsToldBesideThePath) {
  v1::FindPathRequest query = PathRequest("yard", CellAt(0, 0), CellAt(7, 3));
  query.set_with_positions(true);
  query.set_with_summary(true);
  const v1::FindPathResponse answer = ExpectTheSame(query);
  EXPECT_EQ(answer.path().positions_size(), answer.path().points_size());
  EXPECT_TRUE(answer.has_summary());
  query.clear_start();
  query.mutable_start()->mutable_position()->set_x(4);
  query.mutable_start()->mutable_position()->set_y(1);
  EXPECT_GT(ExpectTheSame(query).path().positions_size(), 0);
  query.clear_goals();
  *query.add_goals() = LocationAt(9, 3);
  *query.add_goals() = LocationAt(7, 1);
  EXPECT_EQ(ExpectTheSame(query).goal_index(), 1);
}

TEST_F(AnswerWaysTest, PathsThatDoNotGetThere) {
  v1::FindPathRequest query = PathRequest("yard", CellAt(0, 0), CellAt(9, 3));
  query.set_unreachable_policy(v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE);
  EXPECT_EQ(ExpectTheSame(query).outcome(), v1::OUTCOME_PARTIAL);
  query.clear_goals();
  query.clear_unreachable_policy();
  *query.add_goals() = LocationAt(9, 3);
  *query.add_goals() = LocationAt(9, 0);
  const v1::FindPathResponse to_neither = ExpectTheSame(query);
  EXPECT_EQ(to_neither.outcome(), v1::OUTCOME_UNREACHABLE);
  EXPECT_EQ(to_neither.goal_index(), 0);
  EXPECT_FALSE(to_neither.path().has_end());
  query = PathRequest("yard", CellAt(0, 2), CellAt(7, 3));
  query.set_algorithm(v1::ALGORITHM_ASTAR);
  query.set_max_expansions(3);
  EXPECT_EQ(ExpectTheSame(query).outcome(), v1::OUTCOME_BUDGET_EXHAUSTED);
}

TEST_F(AnswerWaysTest, OwnViewsOfTheMap) {
  v1::FindPathRequest query = PathRequest("yard", CellAt(0, 0), CellAt(7, 3));
  *query.mutable_view()->mutable_overlay()->mutable_blocked()->add_cells() = CellAt(6, 1);
  query.mutable_agent()->mutable_profile()->set_corner_rule(v1::CORNER_RULE_ALWAYS);
  EXPECT_GT(ExpectTheSame(query).path().points_size(), 0);
  query.set_algorithm(v1::ALGORITHM_ASTAR);
  EXPECT_GT(ExpectTheSame(Merged(query, "tolerance: 1 turn_budget: 2 clip_cost: 3.5")).rest().cost(), 0);
  EXPECT_EQ(ExpectTheSame(Merged(query, "max_cost: 3")).outcome(), v1::OUTCOME_TOO_COSTLY);
}

TEST_F(AnswerWaysTest, ThroughPortals) {
  v1::FindPathRequest query = PathRequest("upper", CellAt(0, 0), CellAt(4, 0));
  query.set_with_positions(true);
  query.set_with_summary(true);
  EXPECT_THAT(ExpectTheSame(query).path().crossings(), SizeIs(2));
  query.set_path_form(v1::PATH_FORM_DIRECTIONS);
  EXPECT_THAT(ExpectTheSame(query).path().crossings(), SizeIs(2));
}

TEST_F(AnswerWaysTest, AmongHexagons) {
  v1::FindPathRequest query = PathRequest("board", CellAt(0, 0), CellAt(4, 3));
  query.set_with_positions(true);
  const v1::FindPathResponse answer = ExpectTheSame(query);
  EXPECT_EQ(answer.path().points(0).x(), 0);
  EXPECT_EQ(answer.path().points(answer.path().points_size() - 1).x(), 4);
}

TEST_F(AnswerWaysTest, BatchesOfAnswersAndProblemsKeepTheirOrder) {
  auto request = About<v1::FindPathsRequest>("yard");
  std::vector<v1::FindPathRequest> queries;
  // Enough that several workers make them.
  for (int i = 0; i < 300; ++i) {
    queries.push_back(PathRequest("yard", CellAt(i % 10, i / 10 % 4), CellAt(i * 7 % 10, i % 3)));
    client::AddEnds(queries.back(), request);
  }
  const auto answers = client().FindPaths(request).value();
  EXPECT_EQ(answers.info().version().revision(), 1U);
  ASSERT_EQ(answers.results_size(), request.queries_size());
  int problems = 0;
  for (int i = 0; i < request.queries_size(); ++i) {
    const v1::FindPathRequest& query = queries[static_cast<std::size_t>(i)];
    const auto alone = client().FindPath(query);
    const v1::FindPathsResult& result = answers.results(i);
    ASSERT_EQ(result.has_answer(), alone.ok()) << i;
    if (alone.ok()) {
      EXPECT_EQ(result.answer().cost(), alone->cost()) << i;
      EXPECT_EQ(result.answer().path().points_size(), alone->path().points_size()) << i;
    } else {
      EXPECT_EQ(result.problem().message(), alone.status().message()) << i;
      EXPECT_EQ(InAStream(query).problem().message(), alone.status().message()) << i;
      ++problems;
    }
  }
  EXPECT_GT(problems, 0);
  EXPECT_LT(problems, request.queries_size() / 2);
}

TEST_F(AnswerWaysTest, WhatTakesMoreThanAMessageIsRefused) {
  TestServer small({.max_message_bytes = 4096});
  small.CreateBlank("long", 2000, 1);
  const auto along = [](int first, int last) {
    v1::FindPathRequest query = PathRequest("long", CellAt(first, 0), CellAt(last, 0));
    query.set_algorithm(v1::ALGORITHM_ASTAR);
    return query;
  };
  // Points of five bytes each.
  v1::FindPathRequest fits = along(1000, 1000 + 785);
  EXPECT_TRUE(small.client().FindPath(fits).ok());
  v1::FindPathRequest too_long = along(1000, 1000 + 825);
  EXPECT_THAT(small.client().FindPath(too_long), IsRefused(kTooMuch, "RESPONSE_TOO_LARGE", "path_form"));
  too_long.set_path_form(v1::PATH_FORM_DIRECTIONS);
  EXPECT_EQ(small.client().FindPath(too_long)->path().directions_size(), 825);

  auto batch = About<v1::FindPathsRequest>("long");
  client::AddEnds(along(1000, 1000 + 370), batch);
  client::AddEnds(along(1000, 1000 + 375), batch);
  EXPECT_TRUE(small.client().FindPaths(batch).ok());
  batch.mutable_queries()->RemoveLast();
  client::AddEnds(along(1000, 1000 + 460), batch);
  EXPECT_THAT(small.client().FindPaths(batch), IsRefused(kTooMuch, "RESPONSE_TOO_LARGE", "queries"));
  *batch.mutable_view()->mutable_overlay()->mutable_blocked()->add_cells() = CellAt(0, 0);
  EXPECT_THAT(small.client().FindPaths(batch), IsRefused(kTooMuch, "RESPONSE_TOO_LARGE", "queries"));
}

}  // namespace
}  // namespace waystar
