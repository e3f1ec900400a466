// Servers that share a log, in orders that a seed decides, and on threads.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/core/store/fleet.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

constexpr int kWidth = 400;

// Each batch blocks a cell of its own, so that a commit tells of which batch it is.
struct Sent {
  Cell cell;
  std::optional<std::uint64_t> expected;
  bool has_request = false;
  std::optional<absl::StatusOr<UpdateResult>> answer;
};

// Checks the answers against the commits.
void ExpectOneCommitForEachAcknowledged(Fleet& fleet, const std::vector<Sent>& all) {
  std::map<std::uint64_t, Edit> commits;
  for (const SharedLog::SharedEntry& entry : fleet.log().entries("arena")) {
    for (const LoggedCommit& logged : entry->commits) {
      ASSERT_EQ(logged.commit->edits.size(), 1U);
      commits.emplace(logged.commit->revision, logged.commit->edits[0]);
    }
  }
  std::set<std::uint64_t> acknowledged;
  for (const Sent& sent : all) {
    ASSERT_TRUE(sent.answer.has_value());
    const absl::StatusOr<UpdateResult>& answer = *sent.answer;
    if (!answer.ok()) {
      const std::string text = TextOf(answer);
      EXPECT_TRUE(text == "STORAGE_FAILED" || (sent.expected && text == "STALE_REVISION")) << text;
      continue;
    }
    ASSERT_TRUE(commits.contains(answer->revision));
    EXPECT_EQ(commits.at(answer->revision), Block(sent.cell));
    EXPECT_TRUE(!sent.expected || *sent.expected + 1 == answer->revision || answer->already_applied);
    EXPECT_TRUE(sent.has_request || !answer->already_applied);
    if (!answer->already_applied) {
      EXPECT_TRUE(acknowledged.insert(answer->revision).second);
    }
  }
  EXPECT_EQ(acknowledged.size(), commits.size());
  EXPECT_EQ(fleet[0].Pin()->grid().obstacle_cells(), static_cast<std::int64_t>(commits.size()));
}

// Returns how often a server has taken an image of another instead of the entries up to there.
int RunRandom(std::uint64_t seed, bool may_skip) {
  int skips = 0;
  Random random(seed);
  Fleet fleet(3, seed, {std::string(kWidth, '.')}, {.max_fold_batches = 3});
  const int batches = random.Between(1, 60);
  std::vector<Sent> all;
  all.reserve(2 * static_cast<std::size_t>(batches));
  const auto send = [&](FleetServer& server, const std::string& request_id) {
    Sent& sent = all.back();
    UpdateBatch batch{
        .edits = {Block(sent.cell)}, .expected = {.revision = sent.expected}, .request_id = request_id};
    server.store.Update("arena", std::move(batch),
                        [&server, &sent](const absl::StatusOr<UpdateResult>& answer) {
                          ASSERT_FALSE(sent.answer.has_value());
                          sent.answer = answer;
                          if (answer.ok()) {
                            EXPECT_GE(server.Pin()->revision, answer->revision);
                          }
                        });
  };
  const auto any_server = [&]() -> FleetServer& {
    return fleet[static_cast<std::size_t>(random.Between(0, static_cast<int>(fleet.size()) - 1))];
  };
  for (int i = 0; i < batches;) {
    FleetServer& server = any_server();
    if (random.Chance(0.3)) {
      Sent sent{.cell = {i, 0}};
      if (random.Chance(0.3)) {
        sent.expected = server.Pin()->revision + static_cast<std::uint64_t>(random.Between(0, 2));
      }
      sent.has_request = random.Chance(0.3);
      const std::string request_id = sent.has_request ? absl::StrCat("r", i) : "";
      all.push_back(sent);
      send(server, request_id);
      // A retry goes to another server.
      if (sent.has_request) {
        sent.answer.reset();
        all.push_back(sent);
        send(any_server(), request_id);
      }
      ++i;
    } else if (may_skip && random.Chance(0.2)) {
      skips += server.client.Skip(*any_server().store.Store("arena")) ? 1 : 0;
    } else if (random.Chance(0.05)) {
      server.client.FailUnsent("arena");
    } else if (random.Chance(0.1)) {
      server.clock.Advance(absl::Milliseconds(random.Between(1, 1000)));
    } else {
      server.client.Step();
    }
  }
  fleet.ExpectAgreement(may_skip);
  ExpectOneCommitForEachAcknowledged(fleet, all);
  return skips;
}

TEST(FleetRandomTest, NoBatchIsLostOrAppliedTwice) {
  int skips = 0;
  for (std::uint64_t seed = 0; seed < Rounds(600); ++seed) {
    SCOPED_TRACE(seed);
    skips += RunRandom(seed, seed % 3 == 0);
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
  EXPECT_GT(skips, static_cast<int>(Rounds(100)));
}

// Obstacles that come, are put again and expire, at clocks that differ.
TEST(FleetRandomTest, LifetimesEndTheSameEverywhere) {
  for (std::uint64_t seed = 0; seed < Rounds(200); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Fleet fleet(2, seed);
    for (int i = 0; i < 100; ++i) {
      FleetServer& server = fleet[static_cast<std::size_t>(random.Between(0, 1))];
      const int x = random.Between(0, 7);
      switch (random.Between(0, 5)) {
        case 0:
          fleet.Update(server, PutBatch(absl::StrCat(x), x, absl::Seconds(random.Between(1, 5))));
          break;
        case 1:
          server.clock.Advance(absl::Seconds(1));
          break;
        case 2:
          server.store.ExpireDue(server.clock.Now());
          break;
        default:
          server.client.Step();
      }
    }
    fleet.ExpectAgreement();
    // Each removal has found its obstacle, or the batch would have been refused; none is left in the end.
    for (int i = 0; i < 2; ++i) {
      FleetServer& server = fleet[static_cast<std::size_t>(i)];
      server.clock.Advance(absl::Seconds(1000));
      server.store.ExpireDue(server.clock.Now());
    }
    fleet.ExpectAgreement();
    EXPECT_EQ(fleet[0].Drawn(), "........");
    EXPECT_EQ(fleet[0].store.ExpireDue(fleet[0].clock.Now()), absl::InfiniteFuture());
    EXPECT_EQ(fleet[1].store.ExpireDue(fleet[1].clock.Now()), absl::InfiniteFuture());
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
}

TEST(FleetRandomTest, ManyThreadsUpdateOnTwoServers) {
  constexpr int kWriters = 4;
  const int batches = static_cast<int>(Rounds(80));
  Fleet fleet(2, 1, {std::string(kWidth, '.')}, {.max_fold_batches = 5});
  fleet.Start();
  std::vector<std::vector<Sent>> sent(kWriters);
  std::vector<std::thread> writers;
  writers.reserve(kWriters);
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      FleetServer& server = fleet[static_cast<std::size_t>(writer % 2)];
      std::vector<Sent>& own = sent[static_cast<std::size_t>(writer)];
      own.reserve(static_cast<std::size_t>(batches));
      for (int i = 0; i < batches; ++i) {
        Sent& next = own.emplace_back(Sent{.cell = {writer * batches + i, 0}});
        UpdateBatch batch{.edits = {Block(next.cell)}};
        if (writer < 2) {
          next.answer = server.store.UpdateAndWait("arena", std::move(batch));
        } else {
          server.store.Update("arena", std::move(batch), [&server, &next](const auto& answer) {
            if (answer.ok()) {
              EXPECT_GE(server.Pin()->revision, answer->revision);
            }
            next.answer = answer;
          });
        }
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  fleet.Stop();
  fleet.ExpectAgreement();
  std::vector<Sent> all;
  for (const std::vector<Sent>& own : sent) {
    all.insert(all.end(), own.begin(), own.end());
  }
  ExpectOneCommitForEachAcknowledged(fleet, all);
  for (const Sent& each : all) {
    EXPECT_TRUE(each.answer->ok());
  }
}

}  // namespace
}  // namespace waystar::core
