// Maps that several servers create, replace and delete through a log that they share.

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/core/store/fleet.h"

namespace waystar::core {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::waystar::testing::Block;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::RecordingListener;

// Makes calls that wait for the log, each on a thread of its own.
template <typename... Call>
void CallAtOnce(Call... call) {
  std::vector<std::thread> threads;
  (threads.emplace_back(std::move(call)), ...);
  for (std::thread& thread : threads) {
    thread.join();
  }
}

std::vector<std::string> DeletionsHeard(const FleetServer& server) {
  std::vector<std::string> deletions;
  for (const RecordingListener::Heard& heard : server.listener.heard()) {
    if (heard.is_deletion) {
      deletions.push_back(absl::StrCat(heard.map, " ", heard.revision));
    }
  }
  return deletions;
}

using FleetMapsTest = FleetTest;

TEST_F(FleetMapsTest, MapsAreCreatedReplacedAndDeletedForAll) {
  fleet_.Start();
  ASSERT_THAT(a_.store.Create("lobby", DrawMap({"..#"}), a_.clock.Now()), IsOk());
  fleet_.Settle();
  EXPECT_EQ(b_.Pin("lobby")->version(), a_.Pin("lobby")->version());
  EXPECT_EQ(b_.Pin("lobby")->digest(), a_.Pin("lobby")->digest());
  EXPECT_EQ(b_.Pin("lobby")->create_time, a_.Pin("lobby")->create_time);
  ASSERT_THAT(b_.store.UpdateAndWait("lobby", BlockAt(0)), IsOk());
  const absl::StatusOr<PinnedSnapshot> second = b_.store.Replace("lobby", DrawMap({"...."}), b_.clock.Now());
  ASSERT_THAT(second, IsOk());
  fleet_.Settle();
  EXPECT_EQ(a_.Pin("lobby")->version(), (*second)->version());
  ASSERT_THAT(a_.store.Delete("lobby"), IsOk());
  fleet_.Settle();
  for (const FleetServer* const server : {&a_, &b_}) {
    EXPECT_THAT(server->store.Pin("lobby"), IsGone());
    EXPECT_EQ(server->store.size(), 1U);
    EXPECT_THAT(DeletionsHeard(*server), ElementsAre("lobby 2", "lobby 1"));
  }
}

TEST_F(FleetMapsTest, CreatesOneMapOfAnId) {
  fleet_.Start();
  for (int i = 0; i < 20; ++i) {
    const std::string id = absl::StrCat("lobby-", i);
    absl::StatusOr<PinnedSnapshot> from_a;
    absl::StatusOr<PinnedSnapshot> from_b;
    CallAtOnce([&] { from_a = a_.store.Create(id, DrawMap({"."}), a_.clock.Now()); },
               [&] { from_b = b_.store.Create(id, DrawMap({".."}), b_.clock.Now()); });
    fleet_.Settle();
    ASSERT_NE(from_a.ok(), from_b.ok());
    EXPECT_THAT(from_a.ok() ? from_b : from_a,
                IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map"));
    const PinnedSnapshot& created = from_a.ok() ? *from_a : *from_b;
    EXPECT_EQ(a_.Pin(id)->version(), created->version());
    EXPECT_EQ(b_.Pin(id)->version(), created->version());
    EXPECT_EQ(a_.Pin(id)->digest(), created->digest());
    EXPECT_EQ(b_.Pin(id)->digest(), created->digest());
  }
}

TEST_F(FleetMapsTest, RemembersTheRequestOfACreationElsewhere) {
  fleet_.Start();
  const CreationRequest request = {.request_id = "x", .fingerprint = {.high = 1, .low = 2}};
  ASSERT_THAT(a_.store.Create("lobby", DrawMap({"."}), a_.clock.Now(), request), IsOk());
  fleet_.Settle();
  const absl::StatusOr<PinnedSnapshot> found = b_.store.FindCreated("lobby", request);
  ASSERT_THAT(found, IsOk());
  ASSERT_NE(*found, nullptr);
  EXPECT_EQ((*found)->version(), a_.Pin("lobby")->version());
}

TEST_F(FleetMapsTest, EndsWhatWaitsAtADeletionElsewhere) {
  fleet_.Update(b_, BlockAt(0));
  fleet_.Update(b_, BlockAt(1));
  fleet_.Update(b_, BlockAt(2));
  std::thread deletion([this] { EXPECT_THAT(a_.store.Delete("arena"), IsOk()); });
  a_.client.AwaitAppends(1);
  a_.client.Step();
  fleet_.Settle();
  deletion.join();
  EXPECT_THAT(b_.answers, ElementsAre("0: MAP_NOT_FOUND", "1: MAP_NOT_FOUND", "2: MAP_NOT_FOUND"));
  EXPECT_EQ(b_.store.size(), 0U);
  EXPECT_THAT(DeletionsHeard(b_), ElementsAre("arena 1"));
}

TEST_F(FleetMapsTest, JudgesADeletionAgain) {
  fleet_.Update(b_, BlockAt(0));
  b_.client.Step();
  ASSERT_THAT(fleet_.log().entries("arena"), SizeIs(1));
  absl::StatusOr<MapVersion> refused;
  std::thread deletion([&] { refused = a_.store.Delete("arena", {.revision = 1}); });
  a_.client.AwaitAppends(1);
  fleet_.Settle();
  deletion.join();
  EXPECT_THAT(refused, IsError(absl::StatusCode::kAborted, ErrorReason::kStaleRevision, "expected_version"));
  EXPECT_THAT(b_.answers, ElementsAre("0: 2"));
  // The map goes on.
  fleet_.Update(a_, BlockAt(1));
  fleet_.ExpectAgreement();
  EXPECT_THAT(a_.answers, ElementsAre("0: 3"));
}

TEST_F(FleetMapsTest, DeletesTheVersionThatIsThereInTheEnd) {
  fleet_.Update(b_, BlockAt(0));
  b_.client.Step();
  absl::StatusOr<MapVersion> last;
  std::thread deletion([&] { last = a_.store.Delete("arena"); });
  a_.client.AwaitAppends(1);
  fleet_.Start();
  deletion.join();
  EXPECT_THAT(last, IsOk());
  EXPECT_EQ(last->revision, 2U);
  EXPECT_EQ(a_.client.conflicts(), 1);
  fleet_.Settle();
  EXPECT_THAT(DeletionsHeard(a_), ElementsAre("arena 2"));
  EXPECT_THAT(DeletionsHeard(b_), ElementsAre("arena 2"));
}

// A map comes and goes on both servers while both change it: every call and batch is answered, and in the end
// both have the same.
TEST_F(FleetMapsTest, MapsComeAndGo) {
  fleet_.Start();
  const int rounds = static_cast<int>(testing::Rounds(60));
  std::atomic<int> answered = 0;
  const auto manage = [&](FleetServer& server) {
    return [&] {
      for (int i = 0; i < rounds; ++i) {
        EXPECT_THAT(
            ErrorReasonOf(server.store.Create("lobby", DrawMap({"..."}), server.clock.Now()).status()),
            AnyOf("", "MAP_EXISTS"));
        if (i % 3 == 0) {
          EXPECT_THAT(server.store.Replace("lobby", DrawMap({"...."}), server.clock.Now()), IsOk());
        }
        EXPECT_THAT(ErrorReasonOf(server.store.Delete("lobby").status()), AnyOf("", "MAP_NOT_FOUND"));
      }
    };
  };
  const auto change = [&](FleetServer& server) {
    return [&] {
      for (int i = 0; i < rounds * 4; ++i) {
        server.store.Update("lobby", {.edits = {Block({i % 3, 0})}},
                            [&](const absl::StatusOr<UpdateResult>& result) {
                              EXPECT_THAT(TextOf(result).find_first_not_of("0123456789") == std::string::npos
                                              ? "applied"
                                              : TextOf(result),
                                          AnyOf("applied", "MAP_NOT_FOUND"));
                              ++answered;
                            });
      }
    };
  };
  CallAtOnce(manage(a_), manage(b_), change(a_), change(b_));
  fleet_.Settle();
  EXPECT_EQ(answered, 2 * rounds * 4);
  EXPECT_EQ(a_.store.size(), b_.store.size());
  EXPECT_EQ(DeletionsHeard(a_), DeletionsHeard(b_));
  if (a_.store.size() == 2) {
    EXPECT_EQ(a_.Pin("lobby")->version(), b_.Pin("lobby")->version());
    EXPECT_EQ(a_.Pin("lobby")->digest(), b_.Pin("lobby")->digest());
  }
}

}  // namespace
}  // namespace waystar::core
