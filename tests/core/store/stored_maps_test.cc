// Maps that are stored and restored.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/store/applied_requests.h"
#include "tests/core/store/held_store.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::waystar::testing::Block;
using ::waystar::testing::DrawMap;
using ::waystar::testing::FakeClock;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;

std::vector<std::string> IdsOf(const std::vector<AppliedRequest>& requests) {
  std::vector<std::string> ids;
  for (const AppliedRequest& request : requests) {
    ids.push_back(request.request_id);
  }
  return ids;
}

class StoredMapsTest : public HeldStoreTest {};

TEST_F(StoredMapsTest, RestoredMapIsAsItWas) {
  clock_.Advance(absl::Hours(1));
  const GridMap map =
      ApplyEdits(DrawMap({"....."}),
                 std::vector<Edit>{PutObstacle{.obstacle = {.id = "a", .shape = {.cells = {{1, 0}}}},
                                               .lifetime = absl::Seconds(10)}},
                 clock_.Now())
          ->map;
  EXPECT_THAT(store_.Restore(
                  {.snapshot = {.id = "b", .epoch = 9, .revision = 41, .create_time = kBegin, .map = map}}),
              IsOk());
  EXPECT_EQ(log_.appends(), 0U);
  const PinnedSnapshot restored = *store_.Pin("b");
  EXPECT_EQ(restored->version(), (MapVersion{.epoch = 9, .revision = 41}));
  EXPECT_EQ(restored->create_time, kBegin);
  EXPECT_EQ(restored->digest(), map.digest());
  EXPECT_THAT(told_, ElementsAre(absl::Hours(1) + absl::Seconds(10)));
  EXPECT_EQ(store_.ReadHistory("b", 41, 9)->kind, History::Kind::kGone);
  EXPECT_EQ(store_.ReadHistory("b", 42, 9)->latest_revision, 41U);
  log_.Begin("b", restored->version());
  clock_.Advance(absl::Seconds(10));
  store_.ExpireDue(clock_.Now());
  log_.LandAll();
  EXPECT_EQ((*store_.Pin("b"))->revision, 42U);
  EXPECT_EQ((*store_.Pin("b"))->obstacles().size(), 0U);
}

TEST_F(StoredMapsTest, RestoreReturnsTheErrorsOfCreate) {
  EXPECT_THAT(store_.Restore({.snapshot = {.id = "arena", .epoch = 9, .map = DrawMap({"."})}}),
              IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map"));
  EXPECT_THAT(store_.Restore({.snapshot = {.id = "No!", .epoch = 9, .map = DrawMap({"."})}}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadMapId, "map"));
}

TEST_F(StoredMapsTest, StoredMapIsThatWhichIsDurable) {
  Update(0, "a");
  Update(1, "b");
  Update(2, "c");
  log_.LandNext();
  EXPECT_THAT(IdsOf(store_.Store("arena")->requests), ElementsAre("a"));
  log_.LandNext();
  log_.FailNext();
  const StoredMap stored = *store_.Store("arena");
  EXPECT_EQ(stored.snapshot, *store_.Pin("arena"));
  EXPECT_THAT(IdsOf(stored.requests), ElementsAre("a", "b"));
  EXPECT_EQ(stored.requests[1].result.revision, 3U);
  EXPECT_EQ(stored.request_horizon, RequestHorizon());
  EXPECT_THAT(store_.Store("b"), IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
}

TEST_F(StoredMapsTest, RequestsAreRememberedByAnotherStore) {
  Update(0, "a");
  Update(1, "b");
  log_.LandAll();
  StoredMap stored = *store_.Store("arena");
  MapStore other({.clock = &clock_});
  ASSERT_THAT(other.Restore({.snapshot = *stored.snapshot,
                             .requests = std::move(stored.requests),
                             .request_horizon = {.request_time = clock_.Now() - absl::Seconds(5)}}),
              IsOk());
  const auto again = other.UpdateAndWait("arena", {.edits = {Block({1, 0})}, .request_id = "b"});
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->already_applied);
  EXPECT_EQ(again->revision, 3U);
  EXPECT_THAT(other.UpdateAndWait("arena", {.edits = {Block({2, 0})}, .request_id = "a"}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kRequestIdReused, "request_id"));
  // It may be one that was forgotten.
  EXPECT_THAT(other.UpdateAndWait("arena", {.edits = {Block({2, 0})},
                                            .request_id = "c",
                                            .request_time = clock_.Now() - absl::Seconds(5)}),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kRequestIdExpired, "request_time"));
  EXPECT_EQ(other.UpdateAndWait("arena", {.edits = {Block({2, 0})}, .request_id = "c"})->revision, 4U);
  EXPECT_EQ(other.MeasureMemory().requests, [&] { return 3 * store_.MeasureMemory().requests / 2; }());
}

class StoredRequestsTest : public ::testing::Test {
 protected:
  static constexpr RequestRetention kRetention = {.time = absl::Minutes(10), .count = 2};

  void Add(const std::string& id, std::uint64_t revision) {
    clock_.Advance(absl::Seconds(1));
    requests_.Add(id, Fingerprint(), clock_.Now(), {.revision = revision}, clock_.Now());
  }
  static std::vector<std::string> IdsIn(const AppliedRequests& requests) { return IdsOf(requests.UpTo(100)); }

  FakeClock clock_;
  AppliedRequests requests_{kRetention};
};

TEST_F(StoredRequestsTest, AreTakenBackFromTheEnd) {
  for (const auto& [id, revision] : {std::pair("a", 2), {"b", 3}, {"c", 4}}) {
    Add(id, static_cast<std::uint64_t>(revision));
  }
  EXPECT_THAT(IdsOf(requests_.UpTo(3)), ElementsAre("a", "b"));
  requests_.TakeBackAfter(4);
  EXPECT_THAT(IdsIn(requests_), ElementsAre("a", "b", "c"));
  requests_.TakeBackAfter(2);
  EXPECT_THAT(IdsIn(requests_), ElementsAre("a"));
  Add("c", 3);
  EXPECT_THAT(IdsIn(requests_), ElementsAre("a", "c"));
  requests_.TakeBackAfter(1);
  EXPECT_THAT(IdsIn(requests_), IsEmpty());
  EXPECT_EQ(requests_.bytes(), 0U);
  EXPECT_EQ(requests_.horizon(), RequestHorizon());
}

TEST_F(StoredRequestsTest, SomeOfThemMayHaveBeenForgottenMeanwhile) {
  for (std::uint64_t revision = 2; revision <= 6; ++revision) {
    Add(std::string(1, static_cast<char>('a' + revision)), revision);
  }
  requests_.ForgetMost();
  EXPECT_THAT(IdsIn(requests_), ElementsAre("f", "g"));
  requests_.TakeBackAfter(3);
  EXPECT_THAT(IdsIn(requests_), IsEmpty());
  EXPECT_EQ(requests_.bytes(), 0U);
  // The last that was forgotten stays so, and when retries of it may come.
  EXPECT_EQ(requests_.horizon(),
            (RequestHorizon{.request_time = clock_.Now() - absl::Seconds(2),
                            .retries_until = clock_.Now() - absl::Seconds(2) + kRetention.time}));
}

TEST_F(StoredRequestsTest, AreTheSameAgain) {
  Add("a", 2);
  clock_.Advance(absl::Minutes(20));
  Add("b", 3);
  Add("c", 4);
  AppliedRequests restored(kRetention);
  restored.Restore(requests_.UpTo(4), requests_.horizon());
  EXPECT_THAT(IdsIn(restored), ElementsAre("b", "c"));
  EXPECT_EQ(restored.horizon(), requests_.horizon());
  EXPECT_EQ(restored.bytes(), requests_.bytes());
  // For as long as before.
  clock_.Advance(absl::Minutes(10));
  restored.Add("d", Fingerprint(), std::nullopt, {.revision = 5}, clock_.Now());
  EXPECT_THAT(IdsIn(restored), ElementsAre("c", "d"));
}

TEST_F(StoredRequestsTest, RefuseTheTimelessAsLongAsBefore) {
  Add("a", 2);
  Add("b", 3);
  Add("c", 4);
  requests_.ForgetMost();
  AppliedRequests restored(kRetention);
  restored.Restore(requests_.UpTo(4), requests_.horizon());
  const absl::Time end = clock_.Now() - absl::Seconds(2) + kRetention.time;
  EXPECT_THAT(restored.Find("a", Fingerprint(), std::nullopt, end - absl::Nanoseconds(1)),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kRequestIdExpired, "request_time"));
  EXPECT_THAT(restored.Find("a", Fingerprint(), std::nullopt, end), IsOk());
}

// A server that is started with less memory for ids forgets some of them at once.
TEST_F(StoredRequestsTest, AreForgottenEarlyIfThereIsLessMemory) {
  Add("a", 2);
  Add("b", 3);
  AppliedRequests restored({.max_bytes = requests_.bytes() - 1});
  restored.Restore(requests_.UpTo(3), requests_.horizon());
  EXPECT_THAT(IdsIn(restored), ElementsAre("b"));
  EXPECT_THAT(restored.Find("a", Fingerprint(), std::nullopt, clock_.Now()),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kRequestIdExpired, "request_time"));
  restored.Add("c", Fingerprint(), std::nullopt, {.revision = 4}, clock_.Now());
}

TEST_F(StoredRequestsTest, TheLastOfAnIdCounts) {
  const absl::Time now = clock_.Now();
  requests_.Restore({{.request_id = "a", .result = {.revision = 2}, .time = now},
                     {.request_id = "b", .result = {.revision = 3}, .time = now},
                     {.request_id = "a", .result = {.revision = 4}, .time = now}},
                    RequestHorizon());
  EXPECT_THAT(IdsIn(requests_), ElementsAre("b", "a"));
  EXPECT_EQ((*requests_.Find("a", Fingerprint(), std::nullopt, now))->revision, 4U);
  requests_.TakeBackAfter(1);
  EXPECT_EQ(requests_.bytes(), 0U);
}

}  // namespace
}  // namespace waystar::core
