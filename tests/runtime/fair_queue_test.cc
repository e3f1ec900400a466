#include "server/runtime/fair_queue.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/testing/random.h"

namespace waystar::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsNull;

class Named final : public Job {
 public:
  explicit Named(std::string name) : name_(std::move(name)) {}
  void Run(int /*worker*/) override {}
  void Refuse(const absl::Status& /*status*/) override {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

class FairQueueTest : public ::testing::Test {
 protected:
  // Of client 1 about map 2, the first is "1/2:0".
  void Push(std::uint64_t client, std::uint64_t map, int count = 1) {
    for (int i = 0; i < count; ++i) {
      const std::string line = absl::StrCat(client, "/", map);
      jobs_.push_back(std::make_unique<Named>(absl::StrCat(line, ":", sent_[line]++)));
      queue_.Push({.client = client, .map = map}, {.job = jobs_.back().get(), .since = {}});
    }
  }

  static std::string NameOf(const Job* job) { return static_cast<const Named*>(job)->name(); }

  std::vector<std::string> PopAll() {
    std::vector<std::string> names;
    while (!queue_.empty()) {
      names.push_back(NameOf(queue_.Pop().entry.job));
    }
    return names;
  }

  FairQueue queue_;
  std::map<std::string, int> sent_;
  std::vector<std::unique_ptr<Named>> jobs_;
};

TEST_F(FairQueueTest, ClientsTakeTurns) {
  Push(1, 1, 4);
  Push(2, 1, 2);
  Push(3, 1);
  EXPECT_THAT(PopAll(), ElementsAre("1/1:0", "2/1:0", "3/1:0", "1/1:1", "2/1:1", "1/1:2", "1/1:3"));
}

TEST_F(FairQueueTest, MapsOfAClientTakeTurnsWithinItsTurns) {
  Push(1, 1, 3);
  Push(1, 2);
  Push(2, 1, 2);
  EXPECT_THAT(PopAll(), ElementsAre("1/1:0", "2/1:0", "1/2:0", "2/1:1", "1/1:1", "1/1:2"));
}

TEST_F(FairQueueTest, WhoeverComesBackStandsLast) {
  Push(1, 1);
  Push(2, 1, 2);
  EXPECT_EQ(NameOf(queue_.Pop().entry.job), "1/1:0");
  Push(1, 1);
  EXPECT_THAT(PopAll(), ElementsAre("2/1:0", "1/1:1", "2/1:1"));
}

TEST_F(FairQueueTest, KnowsHowManyMayLeaveFirst) {
  const auto ahead_of = [this](std::uint64_t client, std::uint64_t map) {
    return queue_.AheadOf({.client = client, .map = map});
  };
  EXPECT_EQ(ahead_of(1, 1), 0U);
  Push(1, 1, 10);
  Push(2, 1, 2);
  // Ten of its own, and the two of the other.
  EXPECT_EQ(ahead_of(1, 1), 12U);
  // Two of its own, and three of the first, though there are ten.
  EXPECT_EQ(ahead_of(2, 1), 5U);
  EXPECT_EQ(ahead_of(3, 1), 2U);
  // Another map's turn comes after one job of the first.
  EXPECT_EQ(ahead_of(1, 2), 3U);
}

TEST_F(FairQueueTest, NoMoreLeaveFirstThanItSays) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    for (int pushes = random.Between(0, 12); pushes > 0; --pushes) {
      Push(static_cast<std::uint64_t>(random.Between(0, 3)), static_cast<std::uint64_t>(random.Between(0, 2)),
           random.Between(1, 4));
    }
    const Flow flow{.client = static_cast<std::uint64_t>(random.Between(0, 3)),
                    .map = static_cast<std::uint64_t>(random.Between(0, 2))};
    const std::size_t most = queue_.AheadOf(flow);
    Named last("last");
    queue_.Push(flow, {.job = &last, .since = {}});
    std::size_t left = 0;
    while (queue_.Pop().entry.job != &last) {
      ++left;
    }
    EXPECT_LE(left, most);
    PopAll();
  }
}

TEST_F(FairQueueTest, MakesRoomAtTheCostOfTheLongestLine) {
  Push(1, 1, 2);
  Push(1, 2, 3);
  Push(2, 1);
  EXPECT_EQ(NameOf(queue_.DropFromGreediest(2)), "1/2:2");
  EXPECT_EQ(NameOf(queue_.DropFromGreediest(3)), "1/1:1");
  EXPECT_THAT(PopAll(), ElementsAre("1/1:0", "2/1:0", "1/2:0", "1/2:1"));
}

TEST_F(FairQueueTest, NobodyReplacesOneWhoHadNoMore) {
  Push(1, 1);
  EXPECT_THAT(queue_.DropFromGreediest(2), IsNull());
  Push(1, 1);
  Push(2, 1, 2);
  EXPECT_THAT(queue_.DropFromGreediest(1), IsNull());
  EXPECT_EQ(queue_.size(), 4U);
}

TEST_F(FairQueueTest, DroppingTheLastOfAClientEndsItsTurns) {
  Push(1, 1);
  queue_.Pop();
  Push(1, 1);
  EXPECT_EQ(NameOf(queue_.DropFromGreediest(2)), "1/1:1");
  EXPECT_TRUE(queue_.empty());
  Push(1, 1);
  EXPECT_THAT(PopAll(), ElementsAre("1/1:2"));
}

// One worker, and room for three. Sixteen clients ask for far more than there is; what one asks for is less
// than its share.
TEST_F(FairQueueTest, WhoAsksForLessThanItsShareIsServedBesideManyWhoAskForMore) {
  constexpr std::uint64_t kPolite = 17;
  Random random(11);
  std::map<std::uint64_t, int> served;
  int asked = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    for (int calls = 0; calls < 8; ++calls) {
      const bool is_polite = calls == 3 && turn % 50 == 49;
      asked += is_polite ? 1 : 0;
      const std::uint64_t client = is_polite ? kPolite : static_cast<std::uint64_t>(random.Between(1, 16));
      if (queue_.size() < 3 || queue_.DropFromGreediest(client) != nullptr) {
        Push(client, 1);
      }
    }
    const FairQueue::Popped popped = queue_.Pop();
    queue_.Settle(popped, std::chrono::microseconds(random.Between(500, 1500)));
    ++served[popped.client];
  }
  EXPECT_EQ(served[kPolite], asked);
  for (std::uint64_t greedy = 1; greedy <= 16; ++greedy) {
    EXPECT_NEAR(served[greedy], (20'000 - asked) / 16, 60);
  }
}

TEST_F(FairQueueTest, TimeIsSharedAndNotTurns) {
  std::map<std::uint64_t, int> served;
  Push(1, 1, 2);
  Push(2, 1, 2);
  for (int i = 0; i < 11'000; ++i) {
    const FairQueue::Popped popped = queue_.Pop();
    queue_.Settle(popped, std::chrono::microseconds(popped.client == 1 ? 1000 : 100));
    ++served[popped.client];
    Push(popped.client, 1);
  }
  EXPECT_NEAR(served[1], 1000, 10);
  EXPECT_NEAR(served[2], 10'000, 10);
}

TEST_F(FairQueueTest, WhatIsForgivenCountsForNothing) {
  Push(1, 1, 3);
  queue_.Forgive(queue_.Pop());
  queue_.Forgive(queue_.Pop());
  Push(2, 1, 2);
  EXPECT_THAT(PopAll(), ElementsAre("1/1:2", "2/1:0", "2/1:1"));
}

TEST_F(FairQueueTest, WhatRunsIsChargedBeforeItEnds) {
  Push(1, 1, 2);
  Push(2, 1, 3);
  FairQueue::Popped popped = queue_.Pop();
  queue_.ChargeSoFar(popped, std::chrono::milliseconds(5));
  queue_.Settle(queue_.Pop(), std::chrono::milliseconds(1));
  EXPECT_EQ(NameOf(queue_.Pop().entry.job), "2/1:1");
  // It used a processor for less than it took.
  queue_.Settle(popped, std::chrono::microseconds(1));
  EXPECT_THAT(PopAll(), ElementsAre("1/1:1", "2/1:2"));
}

TEST_F(FairQueueTest, WhatIsOverLeavesAndKeepsTheTurnsOfTheOthers) {
  Push(1, 1, 2);
  Push(1, 2);
  Push(2, 1);
  Push(3, 1);
  std::vector<std::string> next;
  queue_.RemoveIf([&](const FairQueue::Entry& entry, double /*due*/, bool is_next) {
    const std::string name = NameOf(entry.job);
    if (is_next) {
      next.push_back(name);
    }
    return name == "1/1:0" || name == "1/2:0" || name == "2/1:0";
  });
  EXPECT_THAT(next, ElementsAre("1/1:0", "2/1:0", "3/1:0"));
  EXPECT_EQ(queue_.size(), 2U);
  EXPECT_FALSE(queue_.HasJobs(2));
  Push(2, 1);
  EXPECT_THAT(PopAll(), ElementsAre("1/1:1", "3/1:0", "2/1:1"));
}

// Whatever comes and goes: no client that waits is passed over while another is served twice.
TEST_F(FairQueueTest, NobodyIsServedTwiceWhileAnotherWaits) {
  Random random(7);
  std::map<std::uint64_t, int> waiting;
  std::map<std::uint64_t, std::map<std::uint64_t, int>> served_while_waiting;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t client = static_cast<std::uint64_t>(random.Between(0, 4));
    if (random.Chance(0.5) || queue_.empty()) {
      if (waiting[client]++ == 0) {
        served_while_waiting[client].clear();
      }
      Push(client, static_cast<std::uint64_t>(random.Between(0, 2)));
      continue;
    }
    const std::string name = NameOf(queue_.Pop().entry.job);
    const std::uint64_t served = static_cast<std::uint64_t>(name[0] - '0');
    --waiting[served];
    served_while_waiting[served].clear();
    for (const auto& [other, count] : waiting) {
      if (other != served && count > 0) {
        ASSERT_LE(++served_while_waiting[other][served], 1) << "client " << other << " at step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace waystar::runtime
