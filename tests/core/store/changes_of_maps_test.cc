// Creations of maps under a request_id, and deletions of maps at a version.

#include <string>

#include "gmock/gmock.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/store/map_store.h"
#include "server/core/store/update_batch.h"
#include "tests/core/store/held_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Block;
using ::waystar::testing::BlockBatch;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;

CreationRequest Request(const std::string& id, const std::string& content) {
  return {.request_id = id, .fingerprint = FingerprintOf(content)};
}

class CreationsTest : public ::testing::Test {
 protected:
  absl::StatusOr<PinnedSnapshot> Create(CreationRequest request) {
    return store_.Create("arena", DrawMap({"...."}), absl::UnixEpoch(), std::move(request));
  }

  MapStore store_{1};
};

TEST_F(CreationsTest, AMapKnowsTheRequestThatItWasCreatedBy) {
  ASSERT_THAT(store_.FindCreated("arena", Request("a", "rows")), IsOk());
  EXPECT_EQ(*store_.FindCreated("arena", Request("a", "rows")), nullptr);
  ASSERT_THAT(Create(Request("a", "rows")), IsOk());
  ASSERT_THAT(store_.UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
  const auto found = store_.FindCreated("arena", Request("a", "rows"));
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(*found, *store_.Pin("arena"));
  EXPECT_EQ(*store_.FindCreated("arena", Request("b", "rows")), nullptr);
  EXPECT_EQ(*store_.FindCreated("other", Request("a", "rows")), nullptr);
}

TEST_F(CreationsTest, AnotherRequestOfTheSameIdIsNone) {
  ASSERT_THAT(Create(Request("a", "rows")), IsOk());
  const auto is_reused = IsError(kInvalid, ErrorReason::kRequestIdReused, "request_id");
  EXPECT_THAT(store_.FindCreated("arena", Request("a", "other rows")), is_reused);
  EXPECT_THAT(store_.UpdateAndWait("arena", {.edits = {Block({0, 0})}, .request_id = "a"}), is_reused);
  ASSERT_THAT(store_.UpdateAndWait("arena", {.edits = {Block({0, 0})}, .request_id = "b"}), IsOk());
  EXPECT_THAT(store_.FindCreated("arena", Request("b", "rows")), is_reused);
}

TEST_F(CreationsTest, EndWithTheMap) {
  ASSERT_THAT(Create(Request("a", "rows")), IsOk());
  ASSERT_THAT(store_.Delete("arena"), IsOk());
  EXPECT_EQ(*store_.FindCreated("arena", Request("a", "rows")), nullptr);
  ASSERT_THAT(Create(Request("a", "rows")), IsOk());
  ASSERT_THAT(store_.Replace("arena", DrawMap({".."}), absl::UnixEpoch()), IsOk());
  EXPECT_EQ(*store_.FindCreated("arena", Request("a", "rows")), nullptr);
}

TEST_F(CreationsTest, AnIdIsCheckedAsThoseOfBatchesAre) {
  EXPECT_THAT(store_.FindCreated("arena", Request("", "rows")),
              IsError(kInvalid, ErrorReason::kBadValue, "request_id"));
  EXPECT_THAT(store_.FindCreated("Arena", Request("a", "rows")),
              IsError(kInvalid, ErrorReason::kBadMapId, "map"));
}

TEST_F(CreationsTest, OnlyAMapAsExpectedIsDeleted) {
  const auto created = Create({});
  ASSERT_THAT(created, IsOk());
  const std::uint64_t epoch = (*created)->epoch;
  ASSERT_THAT(store_.UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
  EXPECT_THAT(
      store_.Delete("arena", {.epoch = epoch + 1, .revision = 2}),
      IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kMapReplaced, "expected_version.epoch"));
  EXPECT_THAT(store_.Delete("arena", {.epoch = epoch, .revision = 1}),
              IsError(absl::StatusCode::kAborted, ErrorReason::kStaleRevision, "expected_version"));
  // The map goes on.
  ASSERT_THAT(store_.UpdateAndWait("arena", BlockBatch({2, 0})), IsOk());
  EXPECT_THAT(store_.Delete("arena", {.epoch = epoch, .revision = 3}), IsOk());
}

class HeldDeletionsTest : public HeldStoreTest {
 protected:
  absl::Status Delete(std::uint64_t revision) {
    return store_.Delete("arena", {.epoch = 7, .revision = revision}).status();
  }
};

TEST_F(HeldDeletionsTest, WhatIsOnItsWayToTheLogCounts) {
  Update(0);
  EXPECT_THAT(Delete(1),
              IsError(absl::StatusCode::kAborted, ErrorReason::kStaleRevision, "expected_version"));
  log_.LandNext();
  EXPECT_EQ(Revision(), 2U);
  // The refusal has not held the map up.
  Update(1);
  log_.LandNext();
  EXPECT_EQ(Revision(), 3U);
  EXPECT_EQ(log_.waiting(), 0U);
}

}  // namespace
}  // namespace waystar::core
