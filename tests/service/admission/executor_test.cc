#include "server/service/admission/executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/batch.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/base/mutex.h"
#include "server/service/admission/query_costs.h"
#include "server/service/call/call_context.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Refuses no job, however long the machine lets it wait.
ExecutorOptions Patient(absl::Duration tidy_period) {
  return {.workers = 1,
          .max_queue_time = absl::Hours(1),
          .queue_target = absl::Hours(1),
          .tidy_period = tidy_period};
}

const ExecutorOptions kPatient = Patient(absl::Hours(1));
// Tidies all the time.
const ExecutorOptions kTidying = Patient(absl::Milliseconds(1));

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
    Executor executor(kPatient);
    EXPECT_THAT(executor.Submit(Lane::kSmall, &small_job, {}), IsOk());
    EXPECT_THAT(executor.Submit(Lane::kLarge, &large_job, {}), IsOk());
    EXPECT_NE(&executor.bench(0), &executor.bench(1));
  }
  EXPECT_EQ(small, 0);
  EXPECT_EQ(large, 1);
}

TEST(ExecutorTest, LendsNoBenchTwice) {
  Executor executor(kPatient);
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

class Blocker final : public Executor::Job {
 public:
  void Run(int /*worker*/) override {
    running.Happen();
    release.Wait();
  }
  void Refuse(const absl::Status& /*status*/) override {}

  Event running{"the job to begin"};
  Event release{"the release of the job"};
};

TEST(ExecutorTest, ImportsOfOneClientLeaveWorkersToOthers) {
  Blocker imports[2];
  Blocker search;
  Blocker import_of_another;
  Executor executor(kPatient);
  for (Blocker& import : imports) {
    executor.SubmitOwed(Lane::kImports, &import, {.client = 1});
  }
  EXPECT_TRUE(imports[0].running.Wait());
  executor.SubmitOwed(Lane::kLarge, &search, {.client = 2});
  EXPECT_TRUE(search.running.Wait());
  executor.SubmitOwed(Lane::kImports, &import_of_another, {.client = 2});
  EXPECT_TRUE(import_of_another.running.Wait());
  for (Blocker* job : {&imports[0], &imports[1], &search, &import_of_another}) {
    job->release.Happen();
  }
}

// Makes the bench's scratch as large as a wide search does.
void SearchWidely(Workbench& bench) {
  bench.scratch.Start(1024, 1024);
  for (int y = 0; y < 1024; y += 32) {
    for (int x = 0; x < 1024; x += 32) {
      ASSERT_NE(bench.scratch.Find({x, y}), nullptr);
    }
  }
}

class BenchJob final : public Executor::Job {
 public:
  BenchJob(Executor& executor, std::function<void(Workbench&)> run)
      : executor_(executor), run_(std::move(run)) {}
  void Run(int worker) override {
    run_(executor_.bench(worker));
    done.Happen();
  }
  void Refuse(const absl::Status& status) override { FAIL() << status; }

  Event done{"the end of the job"};

 private:
  Executor& executor_;
  const std::function<void(Workbench&)> run_;
};

TEST(ExecutorTest, BenchesGiveBackWhatAWideSearchTook) {
  Executor executor(kTidying);
  const auto run_on = [&](Lane lane, std::function<void(Workbench&)> run) {
    BenchJob job(executor, std::move(run));
    ASSERT_THAT(executor.Submit(lane, &job, {}), IsOk());
    ASSERT_TRUE(job.done.Wait());
  };
  const auto is_small_on = [&](Lane lane) {
    bool is_small = false;
    run_on(lane, [&](Workbench& bench) { is_small = bench.kept_bytes() <= Workbench::kSmallBytes; });
    return is_small;
  };
  for (const Lane lane : {Lane::kSmall, Lane::kLarge}) {
    run_on(lane, SearchWidely);
    EXPECT_TRUE(WaitUntil([&] { return is_small_on(lane); }, "the worker to tidy"));
  }
}

TEST(ExecutorTest, IdleBenchesForCallsWhereTheyArriveGiveBackToo) {
  Executor executor(kTidying);
  Workbench* bench = nullptr;
  WaitUntil(
      [&] {
        const Executor::Lease lease = executor.LeaseHere();
        if (lease) {
          bench = &*lease;
          SearchWidely(*bench);
        }
        return bench != nullptr;
      },
      "a free bench");
  EXPECT_TRUE(WaitUntil(
      [&] {
        // All that are free, so that it is among them unless the worker has it.
        std::vector<Executor::Lease> leases;
        for (;;) {
          Executor::Lease lease = executor.LeaseHere();
          if (!lease) {
            return false;
          }
          if (&*lease == bench) {
            return bench->kept_bytes() <= Workbench::kSmallBytes;
          }
          leases.push_back(std::move(lease));
        }
      },
      "the bench to be tidied"));
}

TEST(WorkerCrewTest, TellsWhatTheOthersHaveUsedOfProcessors) {
  Executor executor({.workers = 2});
  Workbench bench(1 << 20);
  WorkerCrew crew(executor, Lane::kLarge, {}, bench);
  EXPECT_EQ(crew.helpers_time(), std::chrono::nanoseconds(0));
  Mutex mutex;
  CondVar changed;
  int begun = 0;
  const Patience patience("the other unit to begin");
  // Neither unit ends before the other has begun: they are on two threads.
  crew.Run(2, [&](std::size_t /*unit*/, core::Scratch& /*scratch*/, core::FieldScratch& /*field_scratch*/) {
    MutexLock lock(mutex);
    ++begun;
    changed.NotifyAll();
    while (begun < 2 && patience.Wait(changed, mutex)) {
    }
  });
  EXPECT_GT(crew.helpers_time(), std::chrono::nanoseconds(0));
}

TEST(WorkerCrewTest, EndsBeforeItTellsThatAWorkerFoundNoMemory) {
  Executor executor({.workers = 2});
  Workbench bench(1 << 20);
  WorkerCrew crew(executor, Lane::kLarge, {}, bench);
  std::atomic<int> running = 0;
  EXPECT_THROW(
      crew.Run(100,
               [&](std::size_t unit, core::Scratch& /*scratch*/, core::FieldScratch& /*field_scratch*/) {
                 ++running;
                 if (unit == 50) {
                   --running;
                   throw std::bad_alloc();
                 }
                 --running;
               }),
      std::bad_alloc);
  EXPECT_EQ(running, 0);
}

TEST(WithinMemoryTest, WhatFindsMemoryAnswersForItself) {
  Workbench bench(1 << 20);
  EXPECT_EQ(RunWithinMemory(bench, [] { return absl::NotFoundError("no such map"); }),
            absl::NotFoundError("no such map"));
  EXPECT_EQ(RunWithinMemory(bench, []() -> absl::StatusOr<int> { return 7; }).value(), 7);
}

TEST(WithinMemoryTest, WhatFindsNoneIsAnErrorAndItsBenchIsReplaced) {
  Workbench bench(1 << 20);
  const auto query = [&]() -> absl::StatusOr<int> {
    bench.scratch.corners().resize(1000);
    throw std::bad_alloc();
  };
  const std::size_t fresh = bench.scratch.memory_bytes();
  EXPECT_THAT(RunWithinMemory(bench, query).status(),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kMapsMemoryFull, ""));
  EXPECT_EQ(bench.scratch.memory_bytes(), fresh);
  EXPECT_TRUE(bench.scratch.corners().empty());
}

v1::FindPathRequest Query(const std::string& map, int distance) {
  return PathRequest(map, CellAt(0, 0), CellAt(distance, 0));
}

v1::FindPathRequest WithProfile(v1::FindPathRequest query) {
  query.mutable_agent()->set_profile_name("tank");
  return query;
}

v1::FindPathRequest WithFootprint(v1::FindPathRequest query) {
  query.mutable_agent()->set_footprint(3);
  return query;
}

// Returns whether no two of the kinds of queries below share a slot on that map.
bool HasKindsApart(const std::string& map) {
  const std::vector<v1::FindPathRequest> kinds = {Query(map, 10), Query(map, 100), Query(map, 1000),
                                                  WithProfile(Query(map, 10)), WithFootprint(Query(map, 10))};
  for (const v1::FindPathRequest& known : kinds) {
    const auto costs = std::make_unique<QueryCosts>();
    costs->Note(known, microseconds(1));
    if (std::ranges::count_if(kinds, [&](const auto& kind) { return costs->LaneOf(kind) == Lane::kHere; }) >
        1) {
      return false;
    }
  }
  return true;
}

class QueryCostsTest : public ::testing::Test {
 protected:
  // Which kinds share a slot differs from process to process, as absl::Hash does.
  QueryCostsTest() {
    for (int i = 0; !HasKindsApart(map_); ++i) {
      map_ = absl::StrCat("arena-", i);
    }
  }

  std::string map_ = "arena";
  const std::unique_ptr<QueryCosts> costs_ = std::make_unique<QueryCosts>();
};

TEST_F(QueryCostsTest, WhatIsUnknownBeginsWithSmallWorkers) {
  EXPECT_EQ(costs_->LaneOf(Query(map_, 10)), Lane::kSmall);
}

TEST_F(QueryCostsTest, GoesByWhatTheKindTook) {
  costs_->Note(Query(map_, 10), microseconds(20));
  costs_->Note(Query(map_, 100), milliseconds(1));
  costs_->Note(Query(map_, 1000), milliseconds(50));
  EXPECT_EQ(costs_->LaneOf(Query(map_, 12)), Lane::kHere);
  EXPECT_EQ(costs_->LaneOf(Query(map_, 120)), Lane::kSmall);
  EXPECT_EQ(costs_->LaneOf(Query(map_, 900)), Lane::kLarge);
}

TEST_F(QueryCostsTest, DrawsThatWalkTheMapMakeWayForSmallCalls) {
  auto near_home = About<v1::SamplePlacesRequest>(map_);
  near_home.mutable_region()->set_width(8);
  near_home.mutable_region()->set_height(8);
  auto anywhere = About<v1::SamplePlacesRequest>(map_);
  *anywhere.mutable_reachable_from() = LocationAt(0, 0);
  EXPECT_EQ(costs_->LaneOf(anywhere), Lane::kSmall);
  costs_->Note(near_home, microseconds(5));
  costs_->Note(anywhere, milliseconds(300));
  EXPECT_EQ(costs_->LaneOf(anywhere), Lane::kLarge);
  EXPECT_EQ(costs_->LaneOf(near_home), Lane::kSmall);
}

TEST_F(QueryCostsTest, ARareLongSearchDoesNotDriveTheSmallOnesOut) {
  for (int i = 0; i < 100; ++i) {
    costs_->Note(Query(map_, 10), microseconds(10));
  }
  costs_->Note(Query(map_, 10), milliseconds(50));
  EXPECT_EQ(costs_->LaneOf(Query(map_, 10)), Lane::kHere);
}

TEST_F(QueryCostsTest, FollowsAKindThatBecomesDear) {
  costs_->Note(Query(map_, 10), microseconds(10));
  for (int i = 0; i < 30; ++i) {
    costs_->Note(Query(map_, 10), milliseconds(50));
  }
  EXPECT_EQ(costs_->LaneOf(Query(map_, 10)), Lane::kLarge);
}

TEST_F(QueryCostsTest, ProfilesAndOverlaysAreKindsOfTheirOwn) {
  costs_->Note(Query(map_, 10), microseconds(10));
  EXPECT_EQ(costs_->LaneOf(WithProfile(Query(map_, 10))), Lane::kSmall);
  EXPECT_EQ(costs_->LaneOf(WithFootprint(Query(map_, 10))), Lane::kSmall);
}

TEST_F(QueryCostsTest, ABatchGoesByTheSumOfItsQueries) {
  costs_->Note(Query(map_, 10), microseconds(20));
  auto batch = About<v1::FindPathsRequest>(map_);
  for (int i = 0; i < 50; ++i) {
    client::AddEnds(Query(map_, 10), batch);
  }
  EXPECT_EQ(costs_->LaneOf(batch), Lane::kSmall);
  for (int i = 0; i < 100; ++i) {
    client::AddEnds(Query(map_, 10), batch);
  }
  EXPECT_EQ(costs_->LaneOf(batch), Lane::kLarge);
}

TEST_F(QueryCostsTest, FarCornersOfTheRangeAreNoTrouble) {
  v1::FindPathRequest query = PathRequest(map_, CellAt(-2147483647 - 1, 0), CellAt(2147483647, 0));
  costs_->Note(query, std::chrono::nanoseconds(0));
  EXPECT_EQ(costs_->LaneOf(query), Lane::kHere);
}

}  // namespace
}  // namespace waystar::rpc
