// Watches whose clients do not read: they cost little, miss nothing that matters, and hold up nobody.

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::ExpectReturns;
using ::waystar::testing::LargeBatch;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;
using ::waystar::testing::UnblockRequest;
using ::waystar::testing::Update;
using ::waystar::testing::WatchOfMap;
using ::waystar::testing::WatchOfPath;
using ::waystar::testing::WatchRequest;

constexpr int kChanges = 40;
constexpr std::uint64_t kLastRevision = kChanges + 1;
// What the transport holds, what is being written, and what is to be written next; and as many to spare.
constexpr int kMostMessages = 8;

// A map so long that an answer takes nearly all of what the transport holds for a client that does not read.
class UnreadPathWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    v1::CreateMapRequest create;
    create.set_map("long");
    create.mutable_blank()->set_width(8000);
    create.mutable_blank()->set_height(3);
    ASSERT_TRUE(server_.client().CreateMap(create).ok());
    const v1::FindPathRequest query = PathRequest("long", CellAt(0, 1), CellAt(7999, 1));
    unread_.emplace(server_.NewNarrowChannel(), query);
    read_.emplace(server_, query);
    EXPECT_EQ(unread_->Next().version().revision(), 1U);
    EXPECT_EQ(read_->Next().version().revision(), 1U);
  }

  // Each change is one of the answer, and made when those who read have been told of the one before.
  void ChangeOften() {
    for (int i = 0; i < kChanges; ++i) {
      Update(server_, i % 2 == 0 ? BlockRequest("long", {CellAt(4000, 1)})
                                 : UnblockRequest("long", {CellAt(4000, 1)}));
      EXPECT_EQ(read_->Next().version().revision(), static_cast<std::uint64_t>(i) + 2);
    }
  }

  TestServer server_;
  std::optional<WatchOfPath> unread_;
  std::optional<WatchOfPath> read_;
};

TEST_F(UnreadPathWatchTest, OnlyTheLatestAnswerIsKeptForIt) {
  ChangeOften();
  int messages = 1;
  while (unread_->Next().version().revision() < kLastRevision && !HasFailure()) {
    ++messages;
  }
  EXPECT_LT(messages, kMostMessages);
}

TEST_F(UnreadPathWatchTest, StopDoesNotWaitForIt) {
  ChangeOften();
  ExpectReturns([&] { server_.server().Stop(absl::Hours(1), absl::ZeroDuration()); }, "Stop");
  EXPECT_LT(unread_->EventsToEnd(), kMostMessages);
  EXPECT_FALSE((*unread_)->Finish().ok());
}

TEST(UnreadMapWatchTest, StopDoesNotWaitForIt) {
  TestServer server;
  server.Create("room", {"....", "...."});
  WatchOfMap unread(server.NewNarrowChannel(), WatchRequest("room", /*with_edits=*/true));
  WatchOfMap read(server, WatchRequest("room"));
  EXPECT_EQ(unread.Next(), "watching 1");
  EXPECT_EQ(read.Next(), "watching 1");
  for (int i = 0; i < kChanges; ++i) {
    ASSERT_TRUE(server.client().UpdateObstacles(LargeBatch()).ok());
    read.NextEvent();
  }
  ExpectReturns([&] { server.server().Stop(absl::Hours(1), absl::ZeroDuration()); }, "Stop");
  EXPECT_LT(unread.EventsToEnd(), kMostMessages);
  EXPECT_FALSE(unread->Finish().ok());
}

}  // namespace
}  // namespace waystar
