#include "server/runtime/wait_limit.h"

#include "gmock/gmock.h"

namespace waystar::runtime {
namespace {

using std::chrono::milliseconds;

constexpr WaitLimit::Duration kLongest = milliseconds(500);
constexpr WaitLimit::Duration kTarget = milliseconds(5);

class WaitLimitTest : public ::testing::Test {
 protected:
  // Jobs that each waited so long leave the queue, one a millisecond.
  void Pass(milliseconds time, milliseconds waited) {
    for (milliseconds passed{0}; passed < time; passed += milliseconds(1)) {
      now_ += milliseconds(1);
      limit_.NoteWait(now_, waited);
    }
  }

  // Many jobs end that each took so long.
  void Run(milliseconds took, milliseconds processor) {
    for (int i = 0; i < 100; ++i) {
      limit_.NoteRun(took, processor);
    }
  }

  WaitLimit limit_{kLongest, kTarget, 2};
  WaitLimit::Clock::time_point now_{milliseconds(1'000'000)};
};

TEST_F(WaitLimitTest, BurstsMayWaitForLong) {
  EXPECT_EQ(limit_.allowed(), kLongest);
  EXPECT_EQ(limit_.MaxQueued(256), 256U);
  for (int burst = 0; burst < 5; ++burst) {
    Pass(milliseconds(60), milliseconds(50));
    Pass(milliseconds(1), milliseconds(0));
  }
  EXPECT_EQ(limit_.allowed(), kLongest);
}

TEST_F(WaitLimitTest, AStandingQueueIsCutShort) {
  Pass(milliseconds(250), milliseconds(50));
  EXPECT_EQ(limit_.allowed(), 2 * kTarget);
}

TEST_F(WaitLimitTest, GrowsToWhatItWasOnceTheQueueHasBeenShort) {
  Pass(milliseconds(250), milliseconds(50));
  Pass(milliseconds(150), milliseconds(1));
  EXPECT_EQ(limit_.allowed(), 4 * kTarget);
  Pass(milliseconds(100), milliseconds(1));
  EXPECT_EQ(limit_.allowed(), 8 * kTarget);
  Pass(milliseconds(500), milliseconds(1));
  EXPECT_EQ(limit_.allowed(), kLongest);
}

// It is short because it is kept short.
TEST_F(WaitLimitTest, StaysAsItIsWhereTheQueueIsShortButDoesNotEmpty) {
  Pass(milliseconds(250), milliseconds(50));
  Pass(milliseconds(1000), milliseconds(4));
  EXPECT_EQ(limit_.allowed(), 2 * kTarget);
}

TEST_F(WaitLimitTest, KnowsHowLongJobsTake) {
  EXPECT_EQ(limit_.TimeFor(100), milliseconds(0));
  Run(milliseconds(3), milliseconds(1));
  EXPECT_NEAR(static_cast<double>(limit_.TimeFor(10).count()), 15e6, 1e3);
  // One that is very long makes little of a difference.
  limit_.NoteRun(milliseconds(8000), milliseconds(1));
  EXPECT_LT(limit_.TimeFor(10), milliseconds(30));
}

TEST_F(WaitLimitTest, IsAsBeforeAfterAPause) {
  Pass(milliseconds(250), milliseconds(50));
  now_ += milliseconds(300);
  limit_.NoteWait(now_, milliseconds(0));
  EXPECT_EQ(limit_.allowed(), kLongest);
}

TEST_F(WaitLimitTest, LetsInWhatCanBeDoneInTime) {
  Run(milliseconds(1), milliseconds(1));
  EXPECT_EQ(limit_.MaxQueued(256), 256U);
  Pass(milliseconds(250), milliseconds(50));
  // Two workers do twenty jobs of a millisecond in ten.
  EXPECT_EQ(limit_.MaxQueued(256), 20U);
  EXPECT_EQ(limit_.MaxQueued(8), 8U);
  Pass(milliseconds(150), milliseconds(1));
  EXPECT_EQ(limit_.MaxQueued(256), 40U);
}

TEST_F(WaitLimitTest, AVeryLongJobLeavesRoomForTheShortOnes) {
  Run(milliseconds(1), milliseconds(1));
  limit_.NoteRun(milliseconds(2000), milliseconds(0));
  Pass(milliseconds(250), milliseconds(50));
  EXPECT_GE(limit_.MaxQueued(256), 10U);
}

TEST_F(WaitLimitTest, LongJobsMayWaitForSomeOfTheirKind) {
  Run(milliseconds(50), milliseconds(50));
  Pass(milliseconds(250), milliseconds(140));
  EXPECT_EQ(limit_.allowed(), kLongest);
  Pass(milliseconds(250), milliseconds(160));
  EXPECT_EQ(limit_.allowed(), milliseconds(300));
  EXPECT_EQ(limit_.MaxQueued(256), 12U);
}

// Of so long jobs fewer than one leaves the queue in an interval.
TEST_F(WaitLimitTest, AStandingQueueOfVeryLongJobsIsCutShort) {
  constexpr milliseconds kJob(300);
  WaitLimit limit(milliseconds(10'000), kTarget, 1);
  limit.NoteRun(kJob, kJob);
  for (int i = 0; i < 3; ++i) {
    now_ += kJob;
    limit.NoteWait(now_, 4 * kJob);
  }
  EXPECT_EQ(limit.allowed(), 6 * kJob);
  EXPECT_EQ(limit.MaxQueued(256), 6U);
}

// Where jobs take long because too much is going on, waiting longer makes nothing better.
TEST_F(WaitLimitTest, JobsThatWaitForAProcessorAreNotLong) {
  Run(milliseconds(10), milliseconds(1));
  Pass(milliseconds(250), milliseconds(50));
  EXPECT_EQ(limit_.allowed(), 2 * kTarget);
  EXPECT_EQ(limit_.MaxQueued(256), 2U);
}

TEST_F(WaitLimitTest, NeverAllowsMoreThanTheLongest) {
  WaitLimit limit(milliseconds(3), kTarget, 1);
  for (int i = 1; i < 300; ++i) {
    limit.NoteWait(now_ + milliseconds(i), milliseconds(20));
  }
  EXPECT_EQ(limit.allowed(), milliseconds(3));
}

}  // namespace
}  // namespace waystar::runtime
