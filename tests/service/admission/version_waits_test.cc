#include "server/service/admission/version_waits.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "client/batch.h"
#include "client/client.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/store/map_store.h"
#include "tests/service/about_map.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/service/test_server.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/picture_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {
namespace {

// Notes how its wait ended.
class Waiter final : public VersionWaits::Waiter {
 public:
  void OnVersion() override { End("version"); }
  void OnNoVersion() override { End("no version"); }

  // Returns "" while it waits.
  std::string how() { return over_.HasHappened() ? how_ : ""; }
  // Waits for the end, and returns how it was.
  std::string WaitForEnd() { return over_.Wait() ? how_ : ""; }

 private:
  void End(const char* how) {
    EXPECT_FALSE(over_.HasHappened());
    how_ = how;
    over_.Happen();
  }

  std::string how_;
  Event over_{"the end of the wait"};
};

class VersionWaitsTest : public ::testing::Test {
 protected:
  VersionWaitsTest() {
    store_.AddListener(&waits_);
    for (const char* const map : {"arena", "yard"}) {
      EXPECT_THAT(store_.Create(map, DrawMap({"...."}), absl::UnixEpoch()), IsOk());
    }
  }

  core::MapVersion VersionOf(const std::string& map, std::uint64_t revision) {
    return {.epoch = (*store_.Pin(map))->epoch, .revision = revision};
  }
  void Begin(Waiter& waiter, const core::MapVersion& version, VersionWaits::Clock::time_point until = kNever,
             std::uint64_t client = 1) {
    ASSERT_THAT(waits_.Begin(waiter, client, "arena", version, until, gone_), IsOk());
  }
  void Begin(Waiter& waiter, std::uint64_t revision) { Begin(waiter, VersionOf("arena", revision)); }
  void Update(const std::string& map, int x) {
    ASSERT_THAT(store_.UpdateAndWait(map, BlockBatch({x, 0})), IsOk());
  }

  static constexpr VersionWaits::Clock::time_point kNever = VersionWaits::Clock::time_point::max();

  core::MapStore store_{2};
  VersionWaits waits_{store_, 4};
  std::atomic<bool> gone_ = false;
};

TEST_F(VersionWaitsTest, EndWithTheRevisionOfTheirMap) {
  Waiter second;
  Waiter third;
  Begin(second, 2);
  Begin(third, 3);
  EXPECT_EQ(waits_.count(), 2U);
  Update("yard", 0);
  Update("yard", 1);
  EXPECT_EQ(second.how(), "");
  Update("arena", 0);
  EXPECT_EQ(second.WaitForEnd(), "version");
  EXPECT_EQ(third.how(), "");
  Update("arena", 1);
  EXPECT_EQ(third.WaitForEnd(), "version");
  EXPECT_EQ(waits_.count(), 0U);
}

TEST_F(VersionWaitsTest, AreOverAtOnceIfTheRevisionIsThereOrTheMapIsNot) {
  Waiter there;
  Begin(there, 1);
  EXPECT_EQ(there.how(), "version");
  const core::MapVersion before = VersionOf("arena", 7);
  ASSERT_THAT(store_.Delete("arena"), IsOk());
  Waiter gone;
  Begin(gone, before);
  EXPECT_EQ(gone.how(), "version");
  // Another map is no reason to wait, whatever its revisions.
  ASSERT_THAT(store_.Create("arena", DrawMap({"...."}), absl::UnixEpoch()), IsOk());
  Waiter replaced;
  Begin(replaced, before);
  EXPECT_EQ(replaced.how(), "version");
  EXPECT_EQ(waits_.count(), 0U);
}

TEST_F(VersionWaitsTest, EndWithTheMap) {
  Waiter waiter;
  Begin(waiter, 9);
  ASSERT_THAT(store_.Replace("arena", DrawMap({"...."}), absl::UnixEpoch()), IsOk());
  EXPECT_EQ(waiter.WaitForEnd(), "version");
  Waiter next;
  Begin(next, 9);
  ASSERT_THAT(store_.Delete("arena"), IsOk());
  EXPECT_EQ(next.WaitForEnd(), "version");
}

TEST_F(VersionWaitsTest, AreFewAndShared) {
  std::array<Waiter, 4> waiters;
  for (int i = 0; i < 3; ++i) {
    Begin(waiters[static_cast<std::size_t>(i)], 2);
  }
  const auto begin = [&](std::uint64_t client) {
    return waits_.Begin(waiters[3], client, "arena", VersionOf("arena", 2), kNever, gone_);
  };
  const auto is_busy = IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kClientBusy, "");
  EXPECT_THAT(begin(1), is_busy);
  EXPECT_THAT(begin(2), IsOk());
  EXPECT_EQ(waits_.count(), 4U);
  Update("arena", 0);
  for (Waiter& waiter : waiters) {
    EXPECT_EQ(waiter.WaitForEnd(), "version");
  }
  Waiter later;
  Begin(later, 3);
  waits_.Stop();
}

// Whoever ends a wait first, it ends once.
TEST_F(VersionWaitsTest, EndOnceWhateverComesTogether) {
  for (int x = 0; x < 200; ++x) {
    Waiter waiter;
    std::thread canceller;
    Begin(waiter, VersionOf("arena", static_cast<std::uint64_t>(x) + 2),
          VersionWaits::Clock::now() + std::chrono::microseconds(50));
    canceller = std::thread([&] { waits_.Cancel(waiter); });
    ASSERT_THAT(store_.UpdateAndWait("arena", {.edits = {Block({x % 4, 0})}}), IsOk());
    EXPECT_NE(waiter.WaitForEnd(), "");
    canceller.join();
  }
  EXPECT_EQ(waits_.count(), 0U);
}

TEST_F(VersionWaitsTest, EndWhenTheyAreCancelledOrWereBefore) {
  Waiter waiter;
  waits_.Cancel(waiter);
  EXPECT_EQ(waiter.how(), "");
  Begin(waiter, 2);
  waits_.Cancel(waiter);
  EXPECT_EQ(waiter.how(), "no version");
  waits_.Cancel(waiter);
  Waiter late;
  gone_ = true;
  Begin(late, 2);
  EXPECT_EQ(late.how(), "no version");
  Update("arena", 0);
  EXPECT_EQ(waits_.count(), 0U);
}

TEST_F(VersionWaitsTest, EndInTimeInAnyOrder) {
  Waiter never;
  Waiter later;
  Waiter sooner;
  Begin(never, 2);
  const auto now = VersionWaits::Clock::now();
  Begin(later, VersionOf("arena", 2), now + std::chrono::milliseconds(2));
  Begin(sooner, VersionOf("arena", 2), now);
  EXPECT_EQ(later.WaitForEnd(), "no version");
  EXPECT_EQ(sooner.WaitForEnd(), "no version");
  EXPECT_EQ(never.how(), "");
  waits_.Stop();
  EXPECT_EQ(never.how(), "no version");
  Waiter after;
  Begin(after, 2);
  EXPECT_EQ(after.how(), "no version");
}

TEST_F(VersionWaitsTest, EndWhenTheServerHasFollowedTheFleet) {
  const auto begin = [&](Waiter& waiter, std::int64_t revision, VersionWaits::Clock::time_point until) {
    ASSERT_THAT(waits_.BeginFollowing(waiter, 1, revision, until, gone_), IsOk());
  };
  waits_.OnFollowed(10);
  Waiter there;
  begin(there, 10, kNever);
  EXPECT_EQ(there.how(), "version");
  Waiter next;
  Waiter later;
  begin(next, 11, kNever);
  begin(later, 14, kNever);
  // What becomes of maps is another matter.
  Update("arena", 0);
  ASSERT_THAT(store_.Delete("arena"), IsOk());
  EXPECT_EQ(next.how(), "");
  waits_.OnFollowed(13);
  EXPECT_EQ(next.WaitForEnd(), "version");
  EXPECT_EQ(later.how(), "");
  waits_.Cancel(later);
  EXPECT_EQ(later.how(), "no version");
  Waiter late;
  begin(late, 14, VersionWaits::Clock::now());
  EXPECT_EQ(late.WaitForEnd(), "no version");
  EXPECT_EQ(waits_.count(), 0U);
}

// Queries that ask for a version that the map may not have yet.

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
    *ray.mutable_from() = LocationAt(0, 0);
    *ray.mutable_to() = LocationAt(3, 0);
    return ray;
  }

  void WaitForOpenCall(const std::string& method) {
    EXPECT_TRUE(WaitUntil([&] { return server_.CountsOf(method).open_calls > 0; }, "a call of " + method));
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
  auto answer = std::async(std::launch::async, [&] {
    return UntilAvailable([&] { return server_.client().FindPath(Query(2)); });
  });
  // The only worker answers others meanwhile.
  WaitForOpenCall("waystar.v1.PathService/FindPath");
  ASSERT_TRUE(server_.client().CastRay(Ray(1)).ok());
  ASSERT_TRUE(server_.client().UpdateMap(BlockRequest("room", {CellAt(1, 0)})).ok());
  EXPECT_EQ(answer.get().value().info().version().revision(), 2U);
}

TEST_F(LeastVersionTest, AServerThatStopsEndsTheWait) {
  auto answer = std::async(std::launch::async, [&] { return server_.client().FindPath(Query(9)); });
  WaitForOpenCall("waystar.v1.PathService/FindPath");
  server_.server().Stop(kPatience);
  const absl::Status status = answer.get().status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

TEST_F(LeastVersionTest, FieldsAndBatchesWaitToo) {
  auto batch = About<v1::FindPathsRequest>("room");
  *batch.mutable_view() = Query(2).view();
  client::AddEnds(PathRequest("room", CellAt(0, 0), CellAt(3, 1)), batch);
  auto answers = std::async(
      std::launch::async, [&] { return UntilAvailable([&] { return server_.client().FindPaths(batch); }); });
  WaitForOpenCall("waystar.v1.PathService/FindPaths");
  auto flow = About<v1::ComputeFlowFieldRequest>("room");
  *flow.mutable_view() = batch.view();
  *flow.add_goals() = LocationAt(0, 0);
  auto field = std::async(std::launch::async, [&] {
    return UntilAvailable([&] { return server_.client().ComputeFlowField(flow); });
  });
  WaitForOpenCall("waystar.v1.PathService/ComputeFlowField");
  ASSERT_TRUE(server_.client().UpdateMap(BlockRequest("room", {CellAt(1, 0)})).ok());
  EXPECT_EQ(answers.get().value().info().version().revision(), 2U);
  EXPECT_EQ(field.get().value().info().version().revision(), 2U);
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

  EXPECT_EQ(FollowedPath(server_, Query(9)).Next().problem().code(), static_cast<int>(kUnavailable));

  v1::TraceSearchRequest trace;
  *trace.mutable_query() = Query(9);
  EXPECT_THAT(server_.client().TraceSearch(trace, [](const v1::SearchEvent& /*event*/) {}),
              IsRefused(kUnavailable, "REVISION_NOT_YET", "query.view.least_version"));
}

}  // namespace
}  // namespace waystar::rpc
