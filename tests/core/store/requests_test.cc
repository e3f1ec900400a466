// What a store does with the request_id of a batch.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/store/applied_requests.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Block;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;

class RequestsTest : public ::testing::Test {
 protected:
  RequestsTest() { EXPECT_THAT(store_.Create("arena", DrawMap({"........"}), absl::UnixEpoch()), IsOk()); }

  absl::StatusOr<UpdateResult> Update(Cell cell, const std::string& request_id,
                                      std::optional<std::uint64_t> expected = std::nullopt) {
    return store_.UpdateAndWait(
        "arena", {.edits = {Block(cell)}, .expected_revision = expected, .request_id = request_id});
  }

  MapStore store_{1};
};

TEST_F(RequestsTest, RetryIsAnsweredAsTheFirstTime) {
  ASSERT_THAT(Update({3, 0}, "a"), IsOk());
  ASSERT_THAT(Update({4, 0}, "b"), IsOk());
  const auto again = Update({3, 0}, "a");
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->already_applied);
  EXPECT_EQ(again->revision, 2U);
  EXPECT_EQ(again->summary.changed_cells, 1);
  EXPECT_EQ(again->summary.changed_bounds, (Rectangle{3, 0, 1, 1}));
  EXPECT_EQ((*store_.Pin("arena"))->revision, 3U);
}

TEST_F(RequestsTest, RetryOfACompareAndSetIsNoStaleOne) {
  ASSERT_THAT(Update({3, 0}, "a", 1), IsOk());
  EXPECT_THAT(Update({3, 0}, "a", 1), IsOk());
}

TEST_F(RequestsTest, AnotherBatchOfTheSameIdIsRefused) {
  ASSERT_THAT(Update({3, 0}, "a"), IsOk());
  EXPECT_THAT(Update({4, 0}, "a"), IsError(kInvalid, ErrorReason::kRequestIdReused, "request_id"));
  EXPECT_THAT(Update({3, 0}, "a", 1), IsError(kInvalid, ErrorReason::kRequestIdReused, "request_id"));
  EXPECT_EQ((*store_.Pin("arena"))->revision, 2U);
}

TEST_F(RequestsTest, RefusedBatchIsNotRemembered) {
  EXPECT_FALSE(Update({8, 0}, "a").ok());
  EXPECT_FALSE(Update({3, 0}, "a", 7).ok());
  const auto applied = Update({3, 0}, "a");
  ASSERT_THAT(applied, IsOk());
  EXPECT_FALSE(applied->already_applied);
}

TEST_F(RequestsTest, IdsArePrintableAndNotTooLong) {
  for (const std::string& good : {std::string(128, 'x'), std::string("~ !")}) {
    EXPECT_THAT(Update({0, 0}, good), IsOk()) << good;
  }
  for (const std::string& bad :
       {std::string(129, 'x'), std::string("a\n"), std::string("ä"), std::string(1, '\0')}) {
    EXPECT_THAT(Update({0, 0}, bad), IsError(kInvalid, ErrorReason::kBadValue, "request_id")) << bad;
  }
}

TEST_F(RequestsTest, MapsRememberOnTheirOwnAndANewMapNothing) {
  ASSERT_THAT(Update({3, 0}, "a"), IsOk());
  ASSERT_THAT(store_.Delete("arena"), IsOk());
  ASSERT_THAT(store_.Create("arena", DrawMap({"........"}), absl::UnixEpoch()), IsOk());
  const auto applied = Update({4, 0}, "a");
  ASSERT_THAT(applied, IsOk());
  EXPECT_FALSE(applied->already_applied);
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
        const auto result = Update({i % 8, 0}, absl::StrCat("batch ", i));
        ASSERT_THAT(result, IsOk());
        applied += result->already_applied ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(applied, kTogether);
  EXPECT_EQ((*store_.Pin("arena"))->revision, kTogether + 1U);
}

TEST(AppliedRequestsTest, ForgetsTheOldest) {
  AppliedRequests requests(3);
  for (int i = 0; i < 5; ++i) {
    requests.Add(absl::StrCat("id", i), {.high = 1, .low = 2}, {.revision = 10U + i});
  }
  for (int i = 0; i < 5; ++i) {
    const auto found = requests.Find(absl::StrCat("id", i), {.high = 1, .low = 2});
    ASSERT_THAT(found, IsOk());
    ASSERT_EQ(found->has_value(), i >= 2) << i;
    if (i >= 2) {
      EXPECT_EQ((*found)->revision, 10U + i);
    }
  }
}

}  // namespace
}  // namespace waystar::core
