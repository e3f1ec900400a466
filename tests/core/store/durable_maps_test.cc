// Maps that are created, deleted, replaced, stored and restored, in a store with a durable log.

#include <future>
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
using ::testing::SizeIs;

std::vector<std::string> RequestIdsOf(const std::vector<AppliedRequest>& requests) {
  std::vector<std::string> ids;
  for (const AppliedRequest& request : requests) {
    ids.push_back(request.request_id);
  }
  return ids;
}

// Calls that wait for the log run on threads of their own.
class DurableMapsTest : public HeldStoreTest {
 protected:
  auto Create(const std::string& id) {
    return std::async(std::launch::async,
                      [this, id] { return store_.Create(id, DrawMap({"...."}), clock_.Now()); });
  }
  auto Delete(const std::string& id) {
    return std::async(std::launch::async, [this, id] { return store_.Delete(id); });
  }
  auto Replace() {
    return std::async(std::launch::async, [this] {
      return store_.Replace("arena", DrawMap({"#..", "..."}), clock_.Now());
    });
  }
};

TEST_F(DurableMapsTest, MapIsThereOnceItHasLanded) {
  auto creation = Create("b");
  log_.WaitForAppends(1);
  EXPECT_THAT(store_.Pin("b"), IsGone());
  EXPECT_THAT(store_.List("", 9), SizeIs(1));
  EXPECT_EQ(store_.size(), 1U);
  log_.LandNext();
  const absl::StatusOr<PinnedSnapshot> created = creation.get();
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ(*store_.Pin("b"), *created);
  const std::vector<LogEntry> durable = log_.durable();
  ASSERT_THAT(durable, SizeIs(1));
  EXPECT_EQ(durable[0].version, (*created)->version());
  EXPECT_EQ(durable[0].first->create_time, clock_.Now());
  EXPECT_EQ(durable[0].first->digest(), (*created)->digest());
}

TEST_F(DurableMapsTest, MapIsGoneOnceItsDeletionHasLanded) {
  Update(0);
  auto deletion = Delete("arena");
  log_.WaitForAppends(2);
  EXPECT_THAT(store_.Pin("arena"), IsOk());
  // It waits for the deletion.
  Update(1);
  EXPECT_EQ(log_.appends(), 2U);
  EXPECT_THAT(store_.CheckCanCreate("arena"),
              IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map"));
  log_.LandNext();
  EXPECT_EQ(Revision(), 2U);
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2"));
  log_.LandNext();
  const absl::StatusOr<MapVersion> last = deletion.get();
  ASSERT_THAT(last, IsOk());
  EXPECT_EQ(*last, (MapVersion{.epoch = 7, .revision = 2}));
  EXPECT_THAT(TakeAnswers(), ElementsAre("1: MAP_NOT_FOUND"));
  EXPECT_THAT(store_.Pin("arena"), IsGone());
  ASSERT_THAT(listener_.heard(), SizeIs(2));
  EXPECT_TRUE(listener_.heard()[1].is_deletion);
  EXPECT_EQ(listener_.heard()[1].revision, 2U);
  EXPECT_EQ(log_.durable().back().version, *last);
}

TEST_F(DurableMapsTest, DeletionThatComesUponALossIsRefused) {
  Update(0);
  Update(1);
  log_.FailNext();
  Update(2);
  EXPECT_THAT(store_.Delete("arena"), IsLost());
  EXPECT_EQ(log_.appends(), 2U);
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: STORAGE_FAILED", "1: STORAGE_FAILED", "2: 2"));
  auto deletion = Delete("arena");
  log_.WaitForAppends(4);
  log_.LandAll();
  EXPECT_THAT(deletion.get(), IsOk());
}

TEST_F(DurableMapsTest, OneOfTwoDeletionsIsTheOne) {
  auto first = Delete("arena");
  log_.WaitForAppends(1);
  auto second = Delete("arena");
  log_.LandNext();
  EXPECT_THAT(first.get(), IsOk());
  EXPECT_THAT(second.get(), IsGone());
  EXPECT_EQ(log_.appends(), 1U);
}

TEST_F(DurableMapsTest, TheSecondDeletionDoesWhatTheFirstCouldNot) {
  auto first = Delete("arena");
  log_.WaitForAppends(1);
  auto second = Delete("arena");
  log_.FailNext();
  EXPECT_THAT(first.get(), IsLost());
  log_.WaitForAppends(2);
  log_.LandNext();
  EXPECT_THAT(second.get(), IsOk());
}

TEST_F(DurableMapsTest, AnUploadMayBeCheckedWhileAnotherMapIsOnItsWay) {
  auto creation = Create("b");
  log_.WaitForAppends(1);
  EXPECT_THAT(store_.CheckCanCreate("c"), IsOk());
  Update(0);
  log_.LandAll();
  EXPECT_THAT(creation.get(), IsOk());
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2"));
}

TEST_F(DurableMapsTest, ADeletionCountsWhatIsOnItsWayToTheLog) {
  Update(0);
  EXPECT_THAT(store_.Delete("arena", {.epoch = 7, .revision = 1}),
              IsError(absl::StatusCode::kAborted, ErrorReason::kStaleRevision, "expected_version"));
  log_.LandNext();
  EXPECT_EQ(Revision(), 2U);
  // The refusal has not held the map up.
  Update(1);
  log_.LandNext();
  EXPECT_EQ(Revision(), 3U);
  EXPECT_EQ(log_.waiting(), 0U);
}

TEST_F(DurableMapsTest, OldMapIsThereUntilTheNewOneHasLanded) {
  Update(0);
  auto replacing = Replace();
  log_.WaitForAppends(2);
  // It waits for the replacement.
  Update(1);
  EXPECT_EQ(log_.appends(), 2U);
  log_.LandNext();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2"));
  EXPECT_EQ(Drawn(), "#.......");
  log_.LandNext();
  const auto replaced = replacing.get();
  ASSERT_THAT(replaced, IsOk());
  EXPECT_THAT(TakeAnswers(), ElementsAre("1: MAP_NOT_FOUND"));
  EXPECT_EQ((*replaced)->revision, 1U);
  EXPECT_EQ(*store_.Pin("arena"), *replaced);
  const LogEntry entry = log_.durable().back();
  EXPECT_EQ(entry.kind, LogEntry::Kind::kReplacement);
  EXPECT_EQ(entry.replaced, (MapVersion{.epoch = 7, .revision = 2}));
  EXPECT_EQ(entry.version, (*replaced)->version());
  EXPECT_EQ(entry.first->digest(), (*replaced)->digest());
  Update(2);
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("2: 2"));
}

TEST_F(DurableMapsTest, MapThatCouldNotBeReplacedGoesOn) {
  store_.memory().Measure();
  const std::size_t taken = store_.memory().taken();
  auto replacing = Replace();
  log_.WaitForAppends(1);
  Update(0);
  log_.FailNext();
  EXPECT_THAT(replacing.get(), IsLost());
  store_.memory().Measure();
  EXPECT_LE(store_.memory().taken(), taken);
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2"));
  EXPECT_EQ(Drawn(), "#.......");
  for (const auto& heard : listener_.heard()) {
    EXPECT_FALSE(heard.is_deletion);
  }
}

TEST_F(DurableMapsTest, ReplacementUponALossIsLost) {
  Update(0);
  auto replacing = Replace();
  log_.WaitForAppends(2);
  Update(1);
  log_.FailNext();
  EXPECT_FALSE(log_.LandNext());
  EXPECT_THAT(replacing.get(), IsLost());
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: STORAGE_FAILED", "1: 2"));
  EXPECT_EQ(Drawn(), ".#......");
}

TEST_F(DurableMapsTest, ReplacementOfAMapThatIsBeingDeletedCreates) {
  auto deleting = Delete("arena");
  log_.WaitForAppends(1);
  auto replacing = Replace();
  log_.LandNext();
  EXPECT_THAT(deleting.get(), IsOk());
  log_.WaitForAppends(2);
  log_.LandNext();
  const auto created = replacing.get();
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ((*created)->revision, 1U);
  EXPECT_EQ(log_.durable().back().kind, LogEntry::Kind::kCreation);
}

TEST_F(DurableMapsTest, DeletionThatWaitsForAReplacementDeletesTheNewMap) {
  auto replacing = Replace();
  log_.WaitForAppends(1);
  auto deleting = Delete("arena");
  log_.LandNext();
  const auto replaced = replacing.get();
  ASSERT_THAT(replaced, IsOk());
  log_.WaitForAppends(2);
  log_.LandNext();
  const auto deleted = deleting.get();
  ASSERT_THAT(deleted, IsOk());
  EXPECT_EQ(*deleted, (*replaced)->version());
  EXPECT_THAT(store_.Pin("arena"), IsGone());
}

TEST_F(DurableMapsTest, RestoredMapIsAsItWas) {
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

TEST_F(DurableMapsTest, RestoreReturnsTheErrorsOfCreate) {
  EXPECT_THAT(store_.Restore({.snapshot = {.id = "arena", .epoch = 9, .map = DrawMap({"."})}}),
              IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map"));
  EXPECT_THAT(store_.Restore({.snapshot = {.id = "No!", .epoch = 9, .map = DrawMap({"."})}}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadMapId, "map"));
}

TEST_F(DurableMapsTest, StoredMapIsThatWhichIsDurable) {
  Update(0, "a");
  Update(1, "b");
  Update(2, "c");
  log_.LandNext();
  EXPECT_THAT(RequestIdsOf(store_.Store("arena")->requests), ElementsAre("a"));
  log_.LandNext();
  log_.FailNext();
  const StoredMap stored = *store_.Store("arena");
  EXPECT_EQ(stored.snapshot, *store_.Pin("arena"));
  EXPECT_THAT(RequestIdsOf(stored.requests), ElementsAre("a", "b"));
  EXPECT_EQ(stored.requests[1].result.revision, 3U);
  EXPECT_EQ(stored.request_horizon, RequestHorizon());
  EXPECT_THAT(store_.Store("b"), IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
}

TEST_F(DurableMapsTest, RequestsAreRememberedByAnotherStore) {
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

}  // namespace
}  // namespace waystar::core
