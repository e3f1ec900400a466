#include "server/core/store/applied_requests.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/edit_digest.h"
#include "tests/core/store/held_store.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/random.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const auto kIsExpired =
    IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kRequestIdExpired, "request_time");

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
  EXPECT_THAT(requests.Find("first", kBatch, At(5), At(100)), kIsExpired);
  // It cannot be known of this one.
  EXPECT_THAT(requests.Find("never sent before", kBatch, At(4), At(100)), kIsExpired);
  for (const auto& time : {std::optional(At(6)), std::optional<absl::Time>()}) {
    const auto unknown = requests.Find("never sent before", kBatch, time, At(100));
    ASSERT_THAT(unknown, IsOk());
    EXPECT_FALSE(unknown->has_value());
  }
  // A remembered request is found, however late the query for it is.
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
  // "0" is forgotten, which would have been remembered until second 100.
  for (const std::string& id : {std::string("0"), std::string("never sent before")}) {
    for (const int now : {added, 99}) {
      const auto refused = requests.Find(id, kBatch, std::nullopt, At(now));
      EXPECT_THAT(refused, kIsExpired);
      EXPECT_THAT(refused.status().message(), ::testing::HasSubstr("--max_request_ids_mib"));
    }
    const auto found = requests.Find(id, kBatch, std::nullopt, At(100));
    ASSERT_THAT(found, IsOk());
    EXPECT_FALSE(found->has_value());
  }
  // A remembered request is found. An unknown one with a time is judged by its time.
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

// Whatever is forgotten, and whatever the clocks of the clients say, no batch is applied twice. A client that
// gives no times retries for as long as the map is to remember.
TEST(AppliedRequestsTest, RetriesAreNeverTakenForNewBatches) {
  constexpr int kSeconds = 30;
  for (const bool gives_times : {true, false}) {
    Random random(7);
    int refused = 0;
    AppliedRequests requests({.time = absl::Seconds(kSeconds), .count = 5, .max_bytes = 4000});
    struct Sent {
      std::string id;
      std::optional<absl::Time> request_time;
      int time = 0;
    };
    std::vector<Sent> applied;
    for (int now = 1000; now < 3000; now += random.Between(0, 4)) {
      Sent sent{.id = absl::StrCat("batch ", now, " ", random.Between(0, 1'000'000)), .time = now};
      if (gives_times) {
        sent.request_time = At(now + random.Between(-60, 59));
      }
      if (const auto found = requests.Find(sent.id, kBatch, sent.request_time, At(now)); found.ok()) {
        ASSERT_FALSE(found->has_value());
        requests.Add(sent.id, kBatch, sent.request_time, {.revision = 2U + applied.size()}, At(now));
        applied.push_back(sent);
      } else {
        ++refused;
      }
      ASSERT_LE(requests.bytes(), 4000U);
      if (random.Between(0, 99) == 0) {
        requests.ForgetMost();
      }
      const Sent& retried =
          applied[static_cast<std::size_t>(random.Between(0, static_cast<int>(applied.size()) - 1))];
      if (gives_times || now < retried.time + kSeconds) {
        const auto again = requests.Find(retried.id, kBatch, retried.request_time, At(now));
        ASSERT_TRUE(!again.ok() || again->has_value()) << retried.id;
      }
    }
    EXPECT_GT(applied.size(), 100U);
    EXPECT_GT(refused, 100);
  }
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

std::vector<std::string> AppliedIdsOf(const std::vector<AppliedRequest>& requests) {
  std::vector<std::string> ids;
  for (const AppliedRequest& request : requests) {
    ids.push_back(request.request_id);
  }
  return ids;
}

class StoredRequestsTest : public ::testing::Test {
 protected:
  static constexpr RequestRetention kRetention = {.time = absl::Minutes(10), .count = 2};

  void Add(const std::string& id, std::uint64_t revision) {
    clock_.Advance(absl::Seconds(1));
    requests_.Add(id, Fingerprint(), clock_.Now(), {.revision = revision}, clock_.Now());
  }
  static std::vector<std::string> IdsIn(const AppliedRequests& requests) {
    return AppliedIdsOf(requests.UpTo(100));
  }

  FakeClock clock_;
  AppliedRequests requests_{kRetention};
};

TEST_F(StoredRequestsTest, AreTakenBackFromTheEnd) {
  for (const auto& [id, revision] : {std::pair("a", 2), {"b", 3}, {"c", 4}}) {
    Add(id, static_cast<std::uint64_t>(revision));
  }
  EXPECT_THAT(AppliedIdsOf(requests_.UpTo(3)), ElementsAre("a", "b"));
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
  EXPECT_THAT(restored.Find("a", Fingerprint(), std::nullopt, end - absl::Nanoseconds(1)), kIsExpired);
  EXPECT_THAT(restored.Find("a", Fingerprint(), std::nullopt, end), IsOk());
}

// A server that is started with less memory for ids forgets some of them at once.
TEST_F(StoredRequestsTest, AreForgottenEarlyIfThereIsLessMemory) {
  Add("a", 2);
  Add("b", 3);
  AppliedRequests restored({.max_bytes = requests_.bytes() - 1});
  restored.Restore(requests_.UpTo(3), requests_.horizon());
  EXPECT_THAT(IdsIn(restored), ElementsAre("b"));
  EXPECT_THAT(restored.Find("a", Fingerprint(), std::nullopt, clock_.Now()), kIsExpired);
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
