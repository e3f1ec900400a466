#include "server/rpc/executor.h"

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using ::waystar::testing::IsOk;

class WorkerSeen final : public Executor::Job {
 public:
  explicit WorkerSeen(std::atomic<int>& worker) : worker_(worker) {}
  void Run(int worker) override { worker_ = worker; }
  void Refuse(const absl::Status& /*status*/) override {}

 private:
  std::atomic<int>& worker_;
};

TEST(ExecutorTest, EveryWorkerOfBothPoolsHasABench) {
  std::atomic<int> small = -1;
  std::atomic<int> large = -1;
  WorkerSeen small_job(small);
  WorkerSeen large_job(large);
  {
    Executor executor({.workers = 1});
    EXPECT_THAT(executor.Submit(Place::kSmall, &small_job, {}), IsOk());
    EXPECT_THAT(executor.Submit(Place::kLarge, &large_job, {}), IsOk());
    EXPECT_NE(&executor.bench(0), &executor.bench(1));
  }
  EXPECT_EQ(small, 0);
  EXPECT_EQ(large, 1);
}

TEST(ExecutorTest, LendsNoBenchTwice) {
  Executor executor({.workers = 1});
  std::vector<Executor::Lease> leases;
  std::vector<const Workbench*> benches;
  for (;;) {
    Executor::Lease lease = executor.LeaseHere();
    if (!lease) {
      break;
    }
    EXPECT_THAT(benches, ::testing::Not(::testing::Contains(&*lease)));
    benches.push_back(&*lease);
    leases.push_back(std::move(lease));
  }
  EXPECT_GE(benches.size(), 2U);
  leases.pop_back();
  EXPECT_TRUE(executor.LeaseHere());
}

TEST(ExecutorTest, LendsNothingWhereNothingRunsHere) {
  Executor executor({.workers = 1, .runs_here = false});
  EXPECT_FALSE(executor.LeaseHere());
}

}  // namespace
}  // namespace waystar::rpc
