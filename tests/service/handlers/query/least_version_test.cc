// Queries that ask for a version that the map may not have yet.

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/batch.h"
#include "client/errors.h"
#include "client/streams.h"
#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_codes.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/picture_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar {
namespace {

using ::waystar::testing::About;
using ::waystar::testing::BlockRequest;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;
using ::waystar::testing::VersionOf;
using ::waystar::testing::WaitUntil;

constexpr auto kUnavailable = absl::StatusCode::kUnavailable;

// Returns what `ask` returns, which is asked again where the server's patience ends first.
template <typename Ask>
auto UntilAvailable(Ask ask) {
  auto answer = ask();
  while (absl::IsUnavailable(answer.status())) {
    answer = ask();
  }
  return answer;
}

class LeastVersionTest : public ::testing::Test {
 protected:
  LeastVersionTest() : server_({.workers = 1}) {
    server_.Create("room", {"....", "...."});
    first_ = VersionOf(server_, "room");
  }

  v1::FindPathRequest Query(std::uint64_t revision) const {
    v1::FindPathRequest query = PathRequest("room", CellAt(0, 0), CellAt(3, 1));
    v1::Version& least = *query.mutable_view()->mutable_least_version();
    least.set_epoch(first_.epoch());
    least.set_revision(revision);
    return query;
  }

  v1::CastRayRequest Ray(std::uint64_t revision) const {
    auto ray = About<v1::CastRayRequest>("room");
    *ray.mutable_view() = Query(revision).view();
    *ray.mutable_from() = testing::LocationAt(0, 0);
    *ray.mutable_to() = testing::LocationAt(3, 0);
    return ray;
  }

  void WaitForOpenCall(const std::string& method) {
    EXPECT_TRUE(WaitUntil([&] { return server_.CountsOf(method).open_calls > 0; }, "a call of " + method));
  }

  absl::Status Refusal(const v1::FindPathRequest& query, absl::Duration time) {
    BoundedContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + time));
    v1::FindPathResponse answer;
    return client::FromGrpc(
        v1::PathService::NewStub(server_.NewChannel())->FindPath(&context, query, &answer));
  }

  TestServer server_;
  v1::Version first_;
};

TEST_F(LeastVersionTest, AnswersAreNoOlder) {
  EXPECT_TRUE(server_.client().FindPath(Query(1)).ok());
  v1::FindPathRequest of_epoch = Query(0);
  EXPECT_TRUE(server_.client().FindPath(of_epoch).ok());
  ASSERT_TRUE(server_.client().UpdateMap(BlockRequest("room", {CellAt(1, 0)})).ok());
  EXPECT_EQ(server_.client().FindPath(Query(2))->info().version().revision(), 2U);
  EXPECT_EQ(server_.client().FindPath(Query(1))->info().version().revision(), 2U);
}

TEST_F(LeastVersionTest, QueriesWaitAndHoldNoWorker) {
  absl::StatusOr<v1::FindPathResponse> answer;
  std::thread waiting([&] { answer = UntilAvailable([&] { return server_.client().FindPath(Query(2)); }); });
  // The only worker answers others meanwhile.
  WaitForOpenCall("waystar.v1.PathService/FindPath");
  ASSERT_TRUE(server_.client().CastRay(Ray(1)).ok());
  ASSERT_TRUE(server_.client().UpdateMap(BlockRequest("room", {CellAt(1, 0)})).ok());
  waiting.join();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->info().version().revision(), 2U);
}

TEST_F(LeastVersionTest, QueriesEndWithTheirTime) {
  const absl::Status refusal = Refusal(Query(9), absl::Milliseconds(20));
  // The server's word may come just before the client's own end.
  EXPECT_TRUE(absl::IsDeadlineExceeded(refusal) || client::ReasonOf(refusal) == "REVISION_NOT_YET")
      << refusal;
  // The server has let go of it.
  EXPECT_TRUE(WaitUntil([&] { return server_.CountsOf("waystar.v1.PathService/FindPath").open_calls == 0; },
                        "the end of the call on the server"));
}

TEST_F(LeastVersionTest, AServerThatStopsEndsTheWait) {
  absl::Status status;
  std::thread waiting([&] { status = Refusal(Query(9), testing::kPatience); });
  WaitForOpenCall("waystar.v1.PathService/FindPath");
  server_.server().Stop(testing::kPatience);
  waiting.join();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

TEST_F(LeastVersionTest, TheEndOfTheMapEndsTheWait) {
  absl::Status status;
  std::thread waiting([&] { status = Refusal(Query(9), testing::kPatience); });
  WaitForOpenCall("waystar.v1.PathService/FindPath");
  auto request = About<v1::DeleteMapRequest>("room");
  ASSERT_TRUE(server_.client().DeleteMap(request).ok());
  waiting.join();
  // On a machine that stands still the server's patience may end first.
  EXPECT_TRUE(absl::IsNotFound(status) || absl::IsUnavailable(status)) << status;
}

TEST_F(LeastVersionTest, FieldsAndBatchesWaitToo) {
  auto batch = About<v1::FindPathsRequest>("room");
  *batch.mutable_view() = Query(2).view();
  client::AddEnds(PathRequest("room", CellAt(0, 0), CellAt(3, 1)), batch);
  absl::StatusOr<v1::FindPathsResponse> answers;
  std::thread waiting([&] { answers = UntilAvailable([&] { return server_.client().FindPaths(batch); }); });
  WaitForOpenCall("waystar.v1.PathService/FindPaths");
  auto flow = About<v1::ComputeFlowFieldRequest>("room");
  *flow.mutable_view() = batch.view();
  *flow.add_goals() = testing::LocationAt(0, 0);
  absl::StatusOr<v1::ComputeFlowFieldResponse> field;
  std::thread also_waiting(
      [&] { field = UntilAvailable([&] { return server_.client().ComputeFlowField(flow); }); });
  WaitForOpenCall("waystar.v1.PathService/ComputeFlowField");
  ASSERT_TRUE(server_.client().UpdateMap(BlockRequest("room", {CellAt(1, 0)})).ok());
  waiting.join();
  also_waiting.join();
  ASSERT_TRUE(answers.ok()) << answers.status();
  EXPECT_EQ(answers->info().version().revision(), 2U);
  ASSERT_TRUE(field.ok()) << field.status();
  EXPECT_EQ(field->info().version().revision(), 2U);
}

TEST_F(LeastVersionTest, AnotherEpochIsNeverWaitedFor) {
  v1::FindPathRequest query = Query(1);
  query.mutable_view()->mutable_least_version()->set_epoch(first_.epoch() + 1);
  EXPECT_THAT(server_.client().FindPath(query),
              IsRefused(absl::StatusCode::kFailedPrecondition, "MAP_REPLACED", "view.least_version.epoch"));
  query.mutable_view()->mutable_least_version()->clear_epoch();
  EXPECT_THAT(server_.client().FindPath(query), IsRefused(kInvalid, "BAD_VALUE", "view.least_version.epoch"));
}

TEST_F(LeastVersionTest, StreamsDoNotWait) {
  const std::unique_ptr<client::PathStream> stream = server_.client().StreamFindPath();
  v1::StreamFindPathRequest queries;
  *queries.add_queries()->mutable_query() = Query(9);
  ASSERT_TRUE(stream->Send(queries));
  v1::StreamFindPathResponse answers;
  ASSERT_TRUE(stream->Receive(answers));
  EXPECT_EQ(answers.answers(0).problem().code(), static_cast<int>(kUnavailable));

  v1::WatchPathRequest watch;
  *watch.mutable_query() = Query(9);
  const std::unique_ptr<client::PathWatch> watched = server_.client().WatchPath(watch);
  v1::WatchPathResponse none;
  EXPECT_FALSE(watched->Next(none));

  v1::TraceSearchRequest trace;
  *trace.mutable_query() = Query(9);
  EXPECT_THAT(server_.client().TraceSearch(trace, [](const v1::SearchEvent& /*event*/) {}),
              IsRefused(kUnavailable, "REVISION_NOT_YET", "query.view.least_version"));
}

}  // namespace
}  // namespace waystar
