// What a store does with the request_id of a batch.

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/store/applied_requests.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/random.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Block;
using ::waystar::testing::DrawMap;
using ::waystar::testing::FakeClock;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;
using ::waystar::testing::Random;

class RequestsTest : public ::testing::Test {
 protected:
  RequestsTest() { EXPECT_THAT(store_.Create("arena", DrawMap({"........"}), absl::UnixEpoch()), IsOk()); }

  absl::StatusOr<UpdateResult> Update(Cell cell, const std::string& request_id,
                                      std::optional<std::uint64_t> expected = std::nullopt) {
    return store_.UpdateAndWait(
        "arena", {.edits = {Block(cell)}, .expected = {.revision = expected}, .request_id = request_id});
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

constexpr Fingerprint kBatch = {.high = 1, .low = 2};

absl::Time At(int seconds) { return absl::FromUnixSeconds(seconds); }

bool IsRemembered(const AppliedRequests& requests, const std::string& id, absl::Time now) {
  const auto found = requests.Find(id, kBatch, std::nullopt, now);
  EXPECT_THAT(found, IsOk());
  return found->has_value();
}

TEST(AppliedRequestsTest, ForgetsTheOldest) {
  AppliedRequests requests({.time = absl::ZeroDuration(), .count = 3});
  for (int i = 0; i < 5; ++i) {
    requests.Add(absl::StrCat("id", i), kBatch, std::nullopt, {.revision = 10U + i}, At(0));
  }
  for (int i = 0; i < 5; ++i) {
    const auto found = requests.Find(absl::StrCat("id", i), kBatch, std::nullopt, At(0));
    ASSERT_THAT(found, IsOk());
    ASSERT_EQ(found->has_value(), i >= 2) << i;
    if (i >= 2) {
      EXPECT_EQ((*found)->revision, 10U + i);
    }
  }
}

TEST(AppliedRequestsTest, RemembersAsLongAsItIsToldAndTheLastOnesLonger) {
  AppliedRequests requests({.time = absl::Seconds(10), .count = 2});
  for (int i = 0; i < 5; ++i) {
    requests.Add(absl::StrCat("id", i), kBatch, std::nullopt, {}, At(i));
  }
  EXPECT_TRUE(IsRemembered(requests, "id0", At(4)));
  requests.Add("late", kBatch, std::nullopt, {}, At(11));
  EXPECT_FALSE(IsRemembered(requests, "id0", At(11)));
  EXPECT_FALSE(IsRemembered(requests, "id1", At(11)));
  EXPECT_TRUE(IsRemembered(requests, "id2", At(11)));
  requests.Add("later", kBatch, std::nullopt, {}, At(1000));
  EXPECT_FALSE(IsRemembered(requests, "id4", At(1000)));
  EXPECT_TRUE(IsRemembered(requests, "late", At(1000)));
}

TEST(AppliedRequestsTest, WhatIsForgottenOrMayBeIsRefused) {
  AppliedRequests requests({.time = absl::Seconds(10), .count = 1});
  requests.Add("first", kBatch, At(5), {}, At(6));
  requests.Add("timeless", kBatch, std::nullopt, {}, At(7));
  requests.Add("last", kBatch, At(100), {}, At(100));
  const auto is_expired =
      IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kRequestIdExpired, "request_time");
  EXPECT_THAT(requests.Find("first", kBatch, At(5), At(100)), is_expired);
  // It cannot be known of this one.
  EXPECT_THAT(requests.Find("never sent before", kBatch, At(4), At(100)), is_expired);
  for (const auto& time : {std::optional(At(6)), std::optional<absl::Time>()}) {
    const auto unknown = requests.Find("never sent before", kBatch, time, At(100));
    ASSERT_THAT(unknown, IsOk());
    EXPECT_FALSE(unknown->has_value());
  }
  // What is remembered is told, however late it is.
  const auto last = requests.Find("last", kBatch, At(1), At(200));
  ASSERT_THAT(last, IsOk());
  EXPECT_TRUE(last->has_value());
}

TEST(AppliedRequestsTest, TimesAheadOfTheClockAreKeptUntilTheyArePast) {
  AppliedRequests requests({.time = absl::Seconds(10), .count = 1});
  EXPECT_THAT(requests.Find("ahead", kBatch, At(61), At(0)),
              IsError(kInvalid, ErrorReason::kBadValue, "request_time"));
  EXPECT_THAT(requests.Find("ahead", kBatch, At(60), At(0)), IsOk());
  requests.Add("ahead", kBatch, At(60), {}, At(0));
  requests.Add("b", kBatch, At(50), {}, At(50));
  EXPECT_TRUE(IsRemembered(requests, "ahead", At(50)));
  requests.Add("c", kBatch, At(70), {}, At(70));
  EXPECT_FALSE(IsRemembered(requests, "ahead", At(70)));
}

// Remembers batches of the ids "0", "1" and so on, without a request_time, one a second, until the first of
// them is forgotten for want of memory. Returns how many they are.
int FillMemory(AppliedRequests& requests) {
  int added = 0;
  while (requests.horizon() == RequestHorizon()) {
    requests.Add(absl::StrCat(added), kBatch, std::nullopt, {.revision = 2U + added}, At(added));
    ++added;
  }
  return added;
}

TEST(AppliedRequestsTest, TimelessBatchesAreRefusedWhileOneIsForgottenEarly) {
  AppliedRequests requests({.time = absl::Seconds(100), .count = 1, .max_bytes = 4000});
  const int added = FillMemory(requests);
  ASSERT_GT(added, 2);
  ASSERT_LT(added, 50);
  const auto is_expired =
      IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kRequestIdExpired, "request_time");
  // "0" is forgotten, which would have been remembered until second 100.
  for (const std::string& id : {std::string("0"), std::string("never sent before")}) {
    for (const int now : {added, 99}) {
      const auto refused = requests.Find(id, kBatch, std::nullopt, At(now));
      EXPECT_THAT(refused, is_expired);
      EXPECT_THAT(refused.status().message(), ::testing::HasSubstr("--max_request_ids_mib"));
    }
    const auto found = requests.Find(id, kBatch, std::nullopt, At(100));
    ASSERT_THAT(found, IsOk());
    EXPECT_FALSE(found->has_value());
  }
  // What is remembered is told, and what has a time is judged by that.
  EXPECT_TRUE(IsRemembered(requests, "1", At(99)));
  const auto timed = requests.Find("never sent before", kBatch, At(1), At(99));
  ASSERT_THAT(timed, IsOk());
  EXPECT_FALSE(timed->has_value());
}

TEST(AppliedRequestsTest, TimelessBatchesAreNewIfNoneIsForgottenEarly) {
  AppliedRequests requests({.time = absl::Seconds(2), .count = 3, .max_bytes = 4000});
  // One of the last `count`, and older than `time`, is not forgotten early.
  FillMemory(requests);
  for (int now = 100; now < 200; now += 10) {
    const std::string id = absl::StrCat(std::string(100, 'x'), now);
    EXPECT_FALSE(IsRemembered(requests, id, At(now)));
    requests.Add(id, kBatch, std::nullopt, {.revision = 1U + now}, At(now));
  }
}

// Whatever is forgotten, and whatever the clocks of the clients say, no batch is applied twice.
TEST(AppliedRequestsTest, RetriesAreNeverTakenForNewBatches) {
  AppliedRequests requests({.time = absl::Seconds(30), .count = 5, .max_bytes = 4000});
  std::vector<std::pair<std::string, absl::Time>> applied;
  Random random(7);
  for (int now = 1000; now < 2000; ++now) {
    const absl::Time time = At(now + random.Between(-60, 59));
    const std::string id = absl::StrCat("batch ", now);
    const auto found = requests.Find(id, kBatch, time, At(now));
    if (found.ok()) {
      ASSERT_FALSE(found->has_value());
      requests.Add(id, kBatch, time, {}, At(now));
      applied.emplace_back(id, time);
    }
    ASSERT_LE(requests.bytes(), 4000U);
    const auto& [retried, first_sent] = applied[random.Between(0, static_cast<int>(applied.size()) - 1)];
    const auto again = requests.Find(retried, kBatch, first_sent, At(now));
    ASSERT_TRUE(!again.ok() || again->has_value()) << retried;
  }
  EXPECT_GT(applied.size(), 100U);
}

TEST(AppliedRequestsTest, MemoryIsALimit) {
  AppliedRequests requests({.max_bytes = 10'000});
  for (int i = 0; i < 1000; ++i) {
    requests.Add(absl::StrCat(std::string(100, 'x'), i), kBatch, At(i), {}, At(i));
    ASSERT_LE(requests.bytes(), 10'000U);
  }
  EXPECT_GT(requests.bytes(), 9'000U);
  EXPECT_FALSE(requests.Find(absl::StrCat(std::string(100, 'x'), 0), kBatch, At(0), At(1000)).ok());
}

// A client that gives no times, and retries for as long as the map is to remember.
TEST(AppliedRequestsTest, TimelessRetriesInTimeAreNeverTakenForNewBatches) {
  constexpr int kSeconds = 30;
  Random random(7);
  int applied = 0;
  int refused = 0;
  AppliedRequests requests({.time = absl::Seconds(kSeconds), .count = 5, .max_bytes = 4000});
  std::vector<std::pair<std::string, int>> sent;
  for (int now = 1000; now < 3000; now += random.Between(0, 4)) {
    const std::string id = absl::StrCat("batch ", now, " ", random.Between(0, 1'000'000));
    if (requests.Find(id, kBatch, std::nullopt, At(now)).ok()) {
      requests.Add(id, kBatch, std::nullopt, {.revision = 2U + sent.size()}, At(now));
      sent.emplace_back(id, now);
      ++applied;
    } else {
      ++refused;
    }
    if (random.Between(0, 99) == 0) {
      requests.ForgetMost();
    }
    const auto& [retried, time] = sent[random.Between(0, static_cast<int>(sent.size()) - 1)];
    if (now < time + kSeconds) {
      const auto again = requests.Find(retried, kBatch, std::nullopt, At(now));
      ASSERT_TRUE(!again.ok() || again->has_value()) << retried;
    }
  }
  EXPECT_GT(applied, 100);
  EXPECT_GT(refused, 100);
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

}  // namespace
}  // namespace waystar::core
