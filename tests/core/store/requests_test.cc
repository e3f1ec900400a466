// What a store does with the request_id of a batch or a creation.

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/edit_digest.h"
#include "tests/core/store/held_store.h"
#include "tests/testing/status_codes.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Block;
using ::waystar::testing::BlockBatch;
using ::waystar::testing::DrawMap;
using ::waystar::testing::FakeClock;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;

class RequestsTest : public StoreTest {
 protected:
  absl::StatusOr<UpdateResult> Send(Cell cell, const std::string& request_id,
                                    std::optional<std::uint64_t> expected = std::nullopt) {
    return store_.UpdateAndWait(
        "arena", {.edits = {Block(cell)}, .expected = {.revision = expected}, .request_id = request_id});
  }
};

TEST_F(RequestsTest, RetryIsAnsweredAsTheFirstTime) {
  ASSERT_THAT(Send({3, 0}, "a"), IsOk());
  ASSERT_THAT(Send({4, 0}, "b"), IsOk());
  const auto again = Send({3, 0}, "a");
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->already_applied);
  EXPECT_EQ(again->revision, 2U);
  EXPECT_EQ(again->summary.changed_cells, 1);
  EXPECT_EQ(again->summary.changed_bounds, (Rectangle{3, 0, 1, 1}));
  EXPECT_EQ(again->digest, store_.ReadHistory("arena", 2, 1)->commits[0]->digest);
  EXPECT_EQ(Revision(), 3U);
}

TEST_F(RequestsTest, AnotherBatchOfTheSameIdIsRefused) {
  ASSERT_THAT(Send({3, 0}, "a"), IsOk());
  EXPECT_THAT(Send({4, 0}, "a"), IsError(kInvalid, ErrorReason::kRequestIdReused, "request_id"));
  EXPECT_THAT(Send({3, 0}, "a", 1), IsError(kInvalid, ErrorReason::kRequestIdReused, "request_id"));
  EXPECT_EQ(Revision(), 2U);
}

TEST_F(RequestsTest, RefusedBatchIsNotRemembered) {
  EXPECT_FALSE(Send({8, 0}, "a").ok());
  EXPECT_FALSE(Send({3, 0}, "a", 7).ok());
  const auto applied = Send({3, 0}, "a");
  ASSERT_THAT(applied, IsOk());
  EXPECT_FALSE(applied->already_applied);
}

TEST_F(RequestsTest, IdsArePrintableAndNotTooLong) {
  for (const std::string& good : {std::string(128, 'x'), std::string("~ !")}) {
    EXPECT_THAT(Send({0, 0}, good), IsOk()) << good;
  }
  for (const std::string& bad :
       {std::string(129, 'x'), std::string("a\n"), std::string("ä"), std::string(1, '\0')}) {
    EXPECT_THAT(Send({0, 0}, bad), IsError(kInvalid, ErrorReason::kBadValue, "request_id")) << bad;
  }
}

// Several threads send the same batches; each is applied by one of them.
TEST_F(RequestsTest, RetriesThatRaceAreAppliedOnce) {
  constexpr int kThreads = 4;
  constexpr int kTogether = 100;
  std::atomic<int> applied = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < kTogether; ++i) {
        const auto result = Send({i % 8, 0}, absl::StrCat("batch ", i));
        ASSERT_THAT(result, IsOk());
        applied += result->already_applied ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(applied, kTogether);
  EXPECT_EQ(Revision(), kTogether + 1U);
}

// Which ends where the first try is no longer known, by number or by time.
TEST(LateRetryTest, IsRefusedAndNotAppliedTwice) {
  FakeClock clock;
  MapStore store({.request_ids = {.time = absl::Minutes(10), .count = 1}, .clock = &clock});
  ASSERT_THAT(store.Create("arena", DrawMap({"..."}), clock.Now()), IsOk());
  const UpdateBatch batch{.edits = {Block({0, 0})}, .request_id = "a", .request_time = clock.Now()};
  ASSERT_THAT(store.UpdateAndWait("arena", batch), IsOk());
  const auto send_other = [&](const std::string& id) {
    return store.UpdateAndWait(
        "arena",
        {.edits = {UnblockCells{{.cells = {{0, 0}}}}}, .request_id = id, .request_time = clock.Now()});
  };
  clock.Advance(absl::Minutes(9));
  ASSERT_THAT(send_other("b"), IsOk());
  const auto known = store.UpdateAndWait("arena", batch);
  ASSERT_THAT(known, IsOk());
  EXPECT_TRUE(known->already_applied);
  clock.Advance(absl::Minutes(2));
  ASSERT_THAT(send_other("c"), IsOk());
  EXPECT_THAT(store.UpdateAndWait("arena", batch),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kRequestIdExpired, "request_time"));
  EXPECT_EQ((*store.Pin("arena"))->revision, 4U);
  EXPECT_THAT(send_other("d"), IsOk());
}

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

}  // namespace
}  // namespace waystar::core
