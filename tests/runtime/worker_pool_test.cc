#include "server/runtime/worker_pool.h"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::runtime {
namespace {

using ::testing::ElementsAre;

constexpr Flow kFlow{.client = 1, .map = 1};

// Calls one function or the other.
class Function final : public Job {
 public:
  explicit Function(std::function<void(int)> run, std::function<void(const absl::Status&)> refuse = nullptr)
      : run_(std::move(run)), refuse_(std::move(refuse)) {}
  void Run(int worker) override { run_(worker); }
  void Refuse(const absl::Status& status) override { refuse_(status); }

 private:
  std::function<void(int)> run_;
  std::function<void(const absl::Status&)> refuse_;
};

// Keeps a worker busy until it is released.
class Blocker final : public Job {
 public:
  void Run(int /*worker*/) override {
    running.Happen();
    release.Wait();
  }
  void Refuse(const absl::Status& /*status*/) override { FAIL() << "it is owed"; }

  Event running{"the job to begin"};
  Event release{"the release of the job"};
};

// Never late, however slow the machine.
WorkerPoolOptions Patient(int workers, std::size_t max_queued) {
  return {.workers = workers,
          .max_queued = max_queued,
          .max_wait = std::chrono::hours(1),
          .target_wait = std::chrono::hours(1)};
}

class WorkerPoolTest : public ::testing::Test {
 protected:
  // Keeps the only worker busy until blocker_ is released.
  void Hold(WorkerPool& pool) {
    pool.SubmitOwed(&blocker_, kFlow);
    ASSERT_TRUE(blocker_.running.Wait());
  }

  Blocker blocker_;
  // A job that comes too late.
  Event refused_{"the refusal"};
  absl::Status why_;
  Function late_{[](int) { FAIL() << "it is late"; },
                 [this](const absl::Status& why) {
                   why_ = why;
                   refused_.Happen();
                 }};
};

TEST_F(WorkerPoolTest, RunsEveryJobBeforeItEnds) {
  std::atomic<int> runs = 0;
  Function job([&](int) { ++runs; });
  {
    WorkerPool pool(Patient(3, 1000));
    for (int i = 0; i < 500; ++i) {
      EXPECT_THAT(pool.TrySubmit(&job, kFlow), IsOk());
    }
  }
  EXPECT_EQ(runs, 500);
}

TEST_F(WorkerPoolTest, WorkersAreCountedFromTheFirstIndex) {
  std::atomic<int> seen = 0;
  Function job([&](int worker) { seen = worker; });
  {
    WorkerPool pool({.workers = 1, .first_index = 3, .niceness = 10});
    EXPECT_THAT(pool.TrySubmit(&job, kFlow), IsOk());
  }
  EXPECT_EQ(seen, 3);
}

TEST_F(WorkerPoolTest, RunsWhatIsOwedHoweverLongItWaitsAndHoweverFullItIs) {
  std::atomic<int> runs = 0;
  Function owed([&](int) { ++runs; });
  Function other([](int) {}, [](const absl::Status&) {});
  {
    WorkerPool pool({.workers = 1, .max_queued = 1, .max_wait = std::chrono::nanoseconds(1)});
    Hold(pool);
    for (int i = 0; i < 5; ++i) {
      pool.SubmitOwed(&owed, kFlow);
    }
    EXPECT_FALSE(pool.TrySubmit(&other, {.client = 2, .map = 1}).ok()) << "nothing is dropped for it";
    blocker_.release.Happen();
  }
  EXPECT_EQ(runs, 5);
}

TEST_F(WorkerPoolTest, AFullQueueTakesAnotherClientAtTheCostOfTheGreediest) {
  std::vector<absl::Status> refused;
  std::atomic<int> greedy_runs = 0;
  std::atomic<int> other_runs = 0;
  const auto refuse = [&](const absl::Status& status) { refused.push_back(status); };
  Function greedy([&](int) { ++greedy_runs; }, refuse);
  Function other([&](int) { ++other_runs; }, refuse);
  {
    WorkerPool pool(Patient(1, 3));
    Hold(pool);
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(pool.TrySubmit(&greedy, kFlow), IsOk());
    }
    const absl::Status full = pool.TrySubmit(&greedy, kFlow);
    EXPECT_THAT(full, IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kQueueFull, ""));
    EXPECT_GT(RetryDelayOf(full), absl::ZeroDuration());
    EXPECT_EQ(pool.counts().refused_full, 1U);
    EXPECT_EQ(pool.counts().queued, 3U);
    EXPECT_THAT(pool.TrySubmit(&other, {.client = 2, .map = 1}), IsOk());
    ASSERT_EQ(refused.size(), 1U);
    EXPECT_THAT(refused[0], IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kQueueFull, ""));
    blocker_.release.Happen();
  }
  EXPECT_EQ(greedy_runs, 2);
  EXPECT_EQ(other_runs, 1);
}

TEST_F(WorkerPoolTest, RefusesWhatCannotBeDoneByItsDeadline) {
  Function job([](int) {});
  WorkerPool pool(Patient(1, 100));
  Hold(pool);
  const auto past = FairQueue::Clock::now() - std::chrono::hours(1);
  EXPECT_THAT(pool.TrySubmit(&late_, kFlow, past), IsOk()) << "no job waits before it";
  EXPECT_TRUE(refused_.Wait());
  EXPECT_THAT(why_, IsError(absl::StatusCode::kDeadlineExceeded, ErrorReason::kDeadlineExceeded, ""));
  EXPECT_THAT(pool.TrySubmit(&job, kFlow), IsOk());
  EXPECT_THAT(pool.TrySubmit(&late_, kFlow, past),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kQueueFull, ""));
  blocker_.release.Happen();
}

TEST_F(WorkerPoolTest, JobsThatWaitedForTooLongAreRefusedWhileAllWorkersAreBusy) {
  WorkerPool pool(
      {.workers = 1, .max_wait = std::chrono::nanoseconds(0), .target_wait = std::chrono::nanoseconds(0)});
  Hold(pool);
  ASSERT_THAT(pool.TrySubmit(&late_, kFlow), IsOk());
  EXPECT_TRUE(refused_.Wait());
  blocker_.release.Happen();
  EXPECT_THAT(why_, IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kQueueTimeout, ""));
  EXPECT_GT(RetryDelayOf(why_), absl::ZeroDuration());
}

TEST_F(WorkerPoolTest, TheServersOwnJobsAreAlwaysTakenAndTakeTurns) {
  std::vector<char> order;
  Function call([&](int) { order.push_back('c'); });
  Function own([&](int) { order.push_back('o'); });
  {
    WorkerPool pool(Patient(1, 2));
    Hold(pool);
    EXPECT_THAT(pool.TrySubmit(&call, kFlow), IsOk());
    EXPECT_THAT(pool.TrySubmit(&call, kFlow), IsOk());
    for (int i = 0; i < 3; ++i) {
      pool.SubmitOwn(&own);
    }
    blocker_.release.Happen();
  }
  EXPECT_THAT(order, ElementsAre('o', 'c', 'o', 'c', 'o'));
}

TEST_F(WorkerPoolTest, IdleWorkersTidyAgainAndAgain) {
  std::array<std::atomic<int>, 2> tidied{};
  WorkerPoolOptions options = Patient(2, 10);
  options.first_index = 5;
  options.tidy_period = std::chrono::milliseconds(1);
  options.tidy = [&](int worker, bool had_jobs) {
    EXPECT_FALSE(had_jobs);
    ++tidied[static_cast<std::size_t>(worker - 5)];
  };
  const WorkerPool pool(options);
  EXPECT_TRUE(WaitUntil([&] { return tidied[0] >= 2 && tidied[1] >= 2; }, "both workers to tidy"));
}

TEST_F(WorkerPoolTest, ABusyWorkerTidiesBetweenJobs) {
  std::vector<bool> calls;
  bool is_running = false;
  WorkerPoolOptions options = Patient(1, 100);
  options.tidy_period = std::chrono::nanoseconds(0);
  options.tidy = [&](int /*worker*/, bool had_jobs) {
    EXPECT_FALSE(is_running);
    calls.push_back(had_jobs);
  };
  std::vector<bool> calls_before;
  Function job([&](int) {
    is_running = true;
    calls_before.push_back(calls.back());
    is_running = false;
  });
  Event all_done{"all jobs"};
  Function last([&](int) { all_done.Happen(); });
  {
    WorkerPool pool(options);
    Hold(pool);
    for (int i = 0; i < 10; ++i) {
      EXPECT_THAT(pool.TrySubmit(&job, kFlow), IsOk());
    }
    EXPECT_THAT(pool.TrySubmit(&last, kFlow), IsOk());
    blocker_.release.Happen();
    ASSERT_TRUE(all_done.Wait());
  }
  EXPECT_EQ(calls_before.size(), 10U);
  // A job was run before each of them.
  EXPECT_THAT(calls_before, ::testing::Each(true));
}

}  // namespace
}  // namespace waystar::runtime
