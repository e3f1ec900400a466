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
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;

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

  // Runs a job of the client on a worker that is free.
  void Pass(JobSchedule& schedule, std::uint64_t client, Duration took) {
    Silent job;
    EXPECT_THAT(Submit(schedule, job, client), IsOk());
    EXPECT_EQ(schedule.Take(0, now_, true).job, &job);
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
  ASSERT_THAT(Submit(schedule, first_, kHeavy), IsOk());
  ASSERT_EQ(schedule.Take(0, now_, true).job, &first_);
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
  ASSERT_THAT(Submit(schedule, first_, kHeavy), IsOk());
  ASSERT_EQ(schedule.Take(0, now_, true).job, &first_);
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
      Silent& job = running[static_cast<std::size_t>(worker)];
      ASSERT_THAT(Submit(schedule, job, kHeavy), IsOk());
      ASSERT_EQ(schedule.Take(worker, now_, true).job, &job);
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
  ASSERT_THAT(Submit(schedule, first_, kHeavy), IsOk());
  ASSERT_EQ(schedule.Take(0, now_, true).job, &first_);
  schedule.SubmitOwed(&second_, {.client = kLight, .map = 1}, now_);
  schedule.SubmitOwn(&third_, now_);
  EXPECT_THAT(schedule.TakeLate(now_ + std::chrono::hours(1)), IsEmpty());
  EXPECT_EQ(schedule.counts().queued, 2U);
}

TEST_F(JobScheduleTest, ServesWhoWaitedBeforeWhoWasJustServed) {
  JobSchedule schedule({.workers = 1});
  ASSERT_THAT(Submit(schedule, first_, kHeavy), IsOk());
  ASSERT_EQ(schedule.Take(0, now_, true).job, &first_);
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
  ASSERT_THAT(Submit(schedule, first_, kHeavy), IsOk());
  ASSERT_EQ(schedule.Take(0, now_, true).job, &first_);
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
  ASSERT_THAT(Submit(schedule, first_, kHeavy), IsOk());
  ASSERT_EQ(schedule.Take(0, now_, true).job, &first_);
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
  ASSERT_THAT(Submit(schedule, first_, kHeavy), IsOk());
  ASSERT_EQ(schedule.Take(0, now_, true).job, &first_);
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

TEST_F(JobScheduleTest, DoesNotWaitForOneWhoHadAsMuch) {
  JobSchedule schedule({.workers = 1});
  Pass(schedule, kHeavy, milliseconds(160));
  for (int i = 0; i < 17; ++i) {
    Pass(schedule, kLight, milliseconds(10));
  }
  ASSERT_THAT(Submit(schedule, first_, kHeavy), IsOk());
  EXPECT_EQ(schedule.Take(0, now_, true).job, &first_);
}

TEST_F(JobScheduleTest, DoesNotWaitWhereAnotherWorkerIsFree) {
  JobSchedule schedule({.workers = 2});
  Pass(schedule, kHeavy, milliseconds(160));
  Pass(schedule, kLight, milliseconds(1));
  ASSERT_THAT(Submit(schedule, first_, kHeavy), IsOk());
  EXPECT_EQ(schedule.Take(0, now_, true).job, &first_);
}

TEST_F(JobScheduleTest, DoesNotWaitForJobsThatAreAsLong) {
  JobSchedule schedule({.workers = 1});
  Pass(schedule, kHeavy, milliseconds(160));
  Pass(schedule, kLight, milliseconds(80));
  ASSERT_THAT(Submit(schedule, first_, kHeavy), IsOk());
  EXPECT_EQ(schedule.Take(0, now_, true).job, &first_);
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

}  // namespace
}  // namespace waystar::runtime
