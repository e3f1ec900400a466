#include "server/runtime/job_schedule.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "gmock/gmock.h"
#include "tests/testing/status_matchers.h"

namespace waystar::runtime {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::IsNull;
using ::testing::SizeIs;

using Time = JobSchedule::Clock::time_point;
using Duration = JobSchedule::Duration;

class Silent final : public Job {
 public:
  void Run(int /*worker*/) override {}
  void Refuse(const absl::Status& /*status*/) override {}
};

class JobScheduleTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kHeavy = 1;
  static constexpr std::uint64_t kLight = 2;

  absl::Status Submit(JobSchedule& schedule, Job& job, std::uint64_t client, Time deadline = Time::max()) {
    JobSchedule::Refused dropped;
    absl::Status status = schedule.TrySubmit(&job, {.client = client, .map = 1}, deadline, now_, dropped);
    EXPECT_THAT(dropped.job, IsNull());
    return status;
  }

  // Begins a job of the client on a worker that is free.
  void Begin(JobSchedule& schedule, Job& job, std::uint64_t client, int worker = 0) {
    ASSERT_THAT(Submit(schedule, job, client), IsOk());
    ASSERT_EQ(schedule.Take(worker, now_, true).job, &job);
  }

  // Runs such a job.
  void Pass(JobSchedule& schedule, std::uint64_t client, Duration took) {
    Silent job;
    Begin(schedule, job, client);
    now_ += took;
    schedule.End(0, now_, took);
  }

  Time now_{seconds(1000)};
  Silent first_;
  Silent second_;
  Silent third_;
};

TEST_F(JobScheduleTest, RefusesOnTimeWhileAllWorkersAreBusy) {
  JobSchedule schedule({.workers = 1});
  Begin(schedule, first_, kHeavy);
  EXPECT_EQ(schedule.next_late(), Time::max()) << "nothing waits";
  ASSERT_THAT(Submit(schedule, second_, kLight), IsOk());
  const Time end = now_ + milliseconds(500);
  EXPECT_EQ(schedule.next_late(), end);
  EXPECT_THAT(schedule.TakeLate(end - microseconds(1)), IsEmpty());
  const std::vector<JobSchedule::Refused> refused = schedule.TakeLate(end);
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_EQ(refused[0].job, &second_);
  EXPECT_THAT(refused[0].why, IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kQueueTimeout, ""));
  EXPECT_EQ(schedule.counts().refused_late, 1U);
  EXPECT_EQ(schedule.counts().queued, 0U);
  EXPECT_EQ(schedule.next_late(), Time::max());
}

TEST_F(JobScheduleTest, RefusesAtTheDeadlineWhileAllWorkersAreBusy) {
  JobSchedule schedule({.workers = 1});
  Begin(schedule, first_, kHeavy);
  ASSERT_THAT(Submit(schedule, second_, kLight), IsOk());
  const Time deadline = now_ + milliseconds(20);
  ASSERT_THAT(Submit(schedule, third_, kLight, deadline), IsOk());
  EXPECT_EQ(schedule.next_late(), deadline);
  const std::vector<JobSchedule::Refused> refused = schedule.TakeLate(deadline);
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_EQ(refused[0].job, &third_);
  EXPECT_THAT(refused[0].why,
              IsError(absl::StatusCode::kDeadlineExceeded, ErrorReason::kDeadlineExceeded, ""));
  EXPECT_EQ(schedule.counts().queued, 1U);
}

// Jobs ahead are shared among all workers; one worker does the job itself. A fifth of the time is a reserve.
TEST_F(JobScheduleTest, RefusesWhatCannotBeDoneByItsDeadline) {
  constexpr Duration kJob = milliseconds(8);
  for (const int workers : {1, 4}) {
    JobSchedule schedule({.workers = workers});
    Pass(schedule, kHeavy, kJob);
    std::vector<Silent> running(static_cast<std::size_t>(workers));
    for (int worker = 0; worker < workers; ++worker) {
      Begin(schedule, running[static_cast<std::size_t>(worker)], kHeavy, worker);
    }
    EXPECT_THAT(Submit(schedule, first_, kHeavy, now_ + kJob), IsOk()) << "no job waits before it";
    const Duration needed = (kJob / workers + kJob) * 5 / 4;
    EXPECT_THAT(Submit(schedule, second_, kHeavy, now_ + needed - microseconds(100)),
                IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kQueueFull, ""));
    EXPECT_THAT(Submit(schedule, second_, kHeavy, now_ + needed + microseconds(100)), IsOk());
    EXPECT_EQ(schedule.counts().refused_full, 1U);
  }
}

TEST_F(JobScheduleTest, NeverRefusesWhatIsOwedOrItsOwn) {
  JobSchedule schedule({.workers = 1});
  Begin(schedule, first_, kHeavy);
  schedule.SubmitOwed(&second_, {.client = kLight, .map = 1}, now_);
  schedule.SubmitOwn(&third_);
  EXPECT_THAT(schedule.TakeLate(now_ + std::chrono::hours(1)), IsEmpty());
  EXPECT_EQ(schedule.counts().queued, 2U);
}

TEST_F(JobScheduleTest, ServesWhoWaitedBeforeWhoWasJustServed) {
  JobSchedule schedule({.workers = 1});
  Begin(schedule, first_, kHeavy);
  now_ += milliseconds(1);
  ASSERT_THAT(Submit(schedule, second_, kHeavy), IsOk());
  now_ += milliseconds(200);
  ASSERT_THAT(Submit(schedule, third_, kLight), IsOk());
  now_ += milliseconds(200);
  schedule.End(0, now_, milliseconds(400));
  EXPECT_EQ(schedule.Take(0, now_, true).job, &third_);
}

// What a job has taken so far counts while it runs, though nothing was known of its client.
TEST_F(JobScheduleTest, CountsWhatRuns) {
  JobSchedule schedule({.workers = 2});
  Begin(schedule, first_, kHeavy);
  Silent short_jobs[3];
  for (Silent& job : short_jobs) {
    ASSERT_THAT(Submit(schedule, job, kLight), IsOk());
  }
  ASSERT_THAT(Submit(schedule, second_, kHeavy), IsOk());
  for (Silent& job : short_jobs) {
    EXPECT_EQ(schedule.Take(1, now_, true).job, &job);
    now_ += milliseconds(100);
    schedule.End(1, now_, milliseconds(10));
  }
  EXPECT_EQ(schedule.Take(1, now_, true).job, &second_);
}

TEST_F(JobScheduleTest, KeepsTheLastWorkerForOthers) {
  JobSchedule schedule({.workers = 2, .keeps_last_for_others = true});
  Silent late;
  Begin(schedule, first_, kHeavy);
  schedule.SubmitOwed(&second_, {.client = kHeavy, .map = 1}, now_);
  ASSERT_THAT(Submit(schedule, late, kHeavy), IsOk());
  EXPECT_THAT(schedule.Take(1, now_, true).job, IsNull());
  now_ += milliseconds(500);
  ASSERT_EQ(schedule.next_late(), now_) << "no free worker refuses it";
  const std::vector<JobSchedule::Refused> refused = schedule.TakeLate(now_);
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_EQ(refused[0].job, &late);
  ASSERT_THAT(Submit(schedule, third_, kLight), IsOk());
  EXPECT_EQ(schedule.Take(1, now_, true).job, &third_);
  schedule.End(1, now_, milliseconds(1));
  EXPECT_THAT(schedule.Take(1, now_, true).job, IsNull());
  schedule.End(0, now_, seconds(1));
  EXPECT_EQ(schedule.Take(0, now_, true).job, &second_);
  EXPECT_EQ(schedule.counts().queued, 0U);
}

TEST_F(JobScheduleTest, TheWorkerKeptForOthersIsTheirsThoughTheQueueIsFull) {
  JobSchedule schedule({.workers = 2, .max_queued = 1, .keeps_last_for_others = true});
  Begin(schedule, first_, kHeavy);
  schedule.SubmitOwed(&second_, {.client = kHeavy, .map = 1}, now_);
  ASSERT_THAT(Submit(schedule, third_, kLight), IsOk());
  EXPECT_EQ(schedule.Take(1, now_, true).job, &third_);
}

TEST_F(JobScheduleTest, TheLastFreeWorkerWaitsForTheNextShortJobOfWhoHadLess) {
  JobSchedule schedule({.workers = 1});
  Pass(schedule, kHeavy, milliseconds(160));
  Pass(schedule, kLight, milliseconds(1));
  ASSERT_THAT(Submit(schedule, first_, kHeavy), IsOk());
  const JobSchedule::Taken none = schedule.Take(0, now_, true);
  EXPECT_THAT(none.job, IsNull());
  EXPECT_EQ(none.look_again, now_ + milliseconds(160) / JobSchedule::kPauseShare);
  ASSERT_THAT(Submit(schedule, second_, kLight), IsOk());
  EXPECT_EQ(schedule.Take(0, now_, true).job, &second_);
  schedule.End(0, now_, milliseconds(1));
  now_ += JobSchedule::kMaxPause;
  EXPECT_EQ(schedule.Take(0, now_, true).job, &first_) << "for a moment only";
}

TEST_F(JobScheduleTest, DoesNotWaitWithoutNeed) {
  struct Case {
    const char* why;
    int workers = 1;
    int light_jobs = 1;
    Duration light_job;
  };
  for (const auto& [why, workers, light_jobs, light_job] :
       {Case{"it had as much", 1, 17, milliseconds(10)},
        Case{"another worker is free", 2, 1, milliseconds(1)},
        Case{"its jobs are as long", 1, 1, milliseconds(80)}}) {
    JobSchedule schedule({.workers = workers});
    Pass(schedule, kHeavy, milliseconds(160));
    for (int i = 0; i < light_jobs; ++i) {
      Pass(schedule, kLight, light_job);
    }
    ASSERT_THAT(Submit(schedule, first_, kHeavy), IsOk());
    EXPECT_EQ(schedule.Take(0, now_, true).job, &first_) << why;
  }
}

// A client that asks again as soon as it has its answer, or some time after a refusal.
struct Client {
  Duration cost;
  // Of the last request.
  Silent job;
  Time next;
  Time asked;
  bool is_waiting = false;
  int answers = 0;
  int refusals = 0;
  Duration longest_wait{0};
  // Refusals before the job had waited for the longest time.
  int early_refusals = 0;
};

// Plays clients and workers in steps.
class Scene {
 public:
  static constexpr Duration kStep = microseconds(100);
  static constexpr Duration kRoundTrip = microseconds(300);
  static constexpr Duration kRetryDelay = milliseconds(50);

  Scene(int workers, const std::vector<Duration>& costs)
      : schedule_({.workers = workers}), running_(static_cast<std::size_t>(workers)) {
    for (const Duration cost : costs) {
      clients_.push_back({.cost = cost, .next = now_});
    }
  }

  void Play(Duration time) {
    for (const Time end = now_ + time; now_ < end; now_ += kStep) {
      for (std::size_t worker = 0; worker < running_.size(); ++worker) {
        EndJob(static_cast<int>(worker));
      }
      for (std::size_t i = 0; i < clients_.size(); ++i) {
        Ask(i);
      }
      for (const JobSchedule::Refused& refused : schedule_.TakeLate(now_)) {
        Refuse(Of(refused.job));
      }
      for (std::size_t worker = 0; worker < running_.size(); ++worker) {
        Begin(static_cast<int>(worker));
      }
    }
  }

  const Client& client(std::size_t i) const { return clients_[i]; }

 private:
  struct Running {
    Client* client = nullptr;
    Time end;
  };

  Client& Of(const Job* job) {
    for (Client& client : clients_) {
      if (&client.job == job) {
        return client;
      }
    }
    return clients_.front();
  }

  void Refuse(Client& client) {
    client.is_waiting = false;
    client.next = now_ + kRetryDelay;
    ++client.refusals;
    client.early_refusals += now_ - client.asked < milliseconds(500) ? 1 : 0;
  }

  void EndJob(int worker) {
    Running& running = running_[static_cast<std::size_t>(worker)];
    if (running.client != nullptr && now_ >= running.end) {
      schedule_.End(worker, now_, running.client->cost);
      ++running.client->answers;
      running.client->is_waiting = false;
      running.client->next = now_ + kRoundTrip;
      running.client = nullptr;
    }
  }

  void Ask(std::size_t index) {
    Client& client = clients_[index];
    if (client.is_waiting || now_ < client.next) {
      return;
    }
    client.is_waiting = true;
    client.asked = now_;
    JobSchedule::Refused dropped;
    if (!schedule_.TrySubmit(&client.job, {.client = index + 1, .map = 1}, now_ + seconds(10), now_, dropped)
             .ok()) {
      Refuse(client);
    }
    if (dropped.job != nullptr) {
      Refuse(Of(dropped.job));
    }
  }

  void Begin(int worker) {
    Running& running = running_[static_cast<std::size_t>(worker)];
    while (running.client == nullptr) {
      const JobSchedule::Taken taken = schedule_.Take(worker, now_, true);
      if (taken.job == nullptr) {
        return;
      }
      Client& client = Of(taken.job);
      client.longest_wait = std::max<Duration>(client.longest_wait, now_ - client.asked);
      if (taken.late.ok()) {
        running = {.client = &client, .end = now_ + client.cost};
      } else {
        schedule_.End(worker, now_, Duration(0));
        Refuse(client);
      }
    }
  }

  Time now_{seconds(1000)};
  JobSchedule schedule_;
  std::vector<Running> running_;
  std::deque<Client> clients_;
};

class LongJobsTest : public ::testing::TestWithParam<milliseconds> {};

TEST_P(LongJobsTest, LeaveOthersTheirShare) {
  constexpr Duration kTime = seconds(60);
  constexpr Duration kShort = milliseconds(15);
  const Duration cost = GetParam();
  Scene scene(2, {cost, cost, kShort, kShort});
  scene.Play(kTime);
  const auto heavy = static_cast<double>(scene.client(0).answers + scene.client(1).answers);
  for (const std::size_t i : {2, 3}) {
    const Client& light = scene.client(i);
    // A quarter of the time of two workers is kTime / 2. Some is lost while both are held.
    EXPECT_GE(light.answers * kShort, 0.4 * kTime);
    EXPECT_EQ(light.early_refusals, 0);
    EXPECT_LE(light.longest_wait, milliseconds(501));
  }
  EXPECT_GE(heavy * cost, 0.9 * kTime) << "of the same share";
}

TEST_P(LongJobsTest, LeaveManyOthersTheirShare) {
  constexpr Duration kTime = seconds(60);
  constexpr std::size_t kLights = 10;
  std::vector<Duration> costs(kLights + 2, milliseconds(5));
  costs[0] = costs[1] = GetParam();
  Scene scene(2, costs);
  scene.Play(kTime);
  for (std::size_t i = 2; i < costs.size(); ++i) {
    const Client& light = scene.client(i);
    EXPECT_GE(light.answers * costs[i], 0.14 * kTime) << "of a sixth";
    EXPECT_EQ(light.early_refusals, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, LongJobsTest,
                         ::testing::Values(milliseconds(140), milliseconds(600), milliseconds(2700)));

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

// Jobs so long that less than one leaves the queue in an interval.
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
