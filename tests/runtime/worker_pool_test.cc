#include "server/runtime/worker_pool.h"

#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"

namespace waystar::runtime {
namespace {

using ::testing::ElementsAre;

class Function final : public WorkerPool::Job {
 public:
  explicit Function(std::function<void(int)> run) : run_(std::move(run)) {}
  void Run(int worker) override { run_(worker); }

 private:
  std::function<void(int)> run_;
};

TEST(WorkerPoolTest, RunsEveryJobBeforeItEnds) {
  std::atomic<int> runs = 0;
  Function job([&](int) { ++runs; });
  {
    WorkerPool pool(3, 1000);
    for (int i = 0; i < 500; ++i) {
      EXPECT_TRUE(pool.TrySubmit(&job));
    }
  }
  EXPECT_EQ(runs, 500);
}

TEST(WorkerPoolTest, OneWorkerRunsJobsInOrder) {
  std::vector<int> order;
  std::vector<std::unique_ptr<Function>> jobs;
  for (int i = 0; i < 5; ++i) {
    jobs.push_back(std::make_unique<Function>([&order, i](int) { order.push_back(i); }));
  }
  {
    WorkerPool pool(1, 5);
    for (const auto& job : jobs) {
      EXPECT_TRUE(pool.TrySubmit(job.get()));
    }
  }
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4));
}

TEST(WorkerPoolTest, RefusesWhatDoesNotFitTheQueue) {
  std::latch running(1);
  std::latch release(1);
  Function blocker([&](int) {
    running.count_down();
    release.wait();
  });
  std::atomic<int> runs = 0;
  Function job([&](int) { ++runs; });
  {
    WorkerPool pool(1, 2);
    ASSERT_TRUE(pool.TrySubmit(&blocker));
    running.wait();
    EXPECT_TRUE(pool.TrySubmit(&job));
    EXPECT_TRUE(pool.TrySubmit(&job));
    EXPECT_FALSE(pool.TrySubmit(&job));
    release.count_down();
  }
  EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace waystar::runtime
