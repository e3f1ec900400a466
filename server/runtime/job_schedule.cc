#include "server/runtime/job_schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::runtime {
namespace {

// Suggested retry delay: long enough for the queue to progress, short enough for a game's frame or two.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(50);

// 1/kLeftForErrors of the time left is kept in reserve for jobs that take longer than typical: an answer that
// is slightly late is wasted.
constexpr int kLeftForErrors = 5;

}  // namespace

JobSchedule::JobSchedule(const WorkerPoolOptions& limits)
    : limits_(limits),
      full_(Refusal(ErrorReason::kQueueFull, kRetryDelay,
                    "more calls wait than the server can answer in time")),
      limit_(limits.max_wait, limits.target_wait, limits.workers),
      places_(static_cast<std::size_t>(limits.workers)) {}

absl::Status JobSchedule::TrySubmit(Job* job, const Flow& flow, Clock::time_point deadline,
                                    Clock::time_point now, Refused& dropped) {
  const bool begins_at_once = BeginsAtOnce(flow.client);
  if (begins_at_once) {
    // The job counts as not waiting, however long a thread takes to wake.
    NoteWait(now, Duration(0));
  } else if (WouldBeLate(flow, deadline - now)) {
    ++counts_.refused_full;
    return full_;
  }
  if (!begins_at_once && queue_.size() >= limit_.MaxQueued(limits_.max_queued)) {
    NoteBlocked(now);
    const bool is_let_in = queue_.size() < limits_.max_queued && !queue_.HasJobs(flow.client) &&
                           now - blocked_until_ < limit_.allowed() && IsBehind(queue_.DueOf(flow.client));
    if (!is_let_in) {
      ++counts_.refused_full;
      dropped = {.job = queue_.DropFromGreediest(flow.client), .why = full_};
      if (dropped.job == nullptr) {
        return full_;
      }
    }
  }
  if (queue_.empty()) {
    next_late_ = Clock::time_point::max();
  }
  const FairQueue::Entry entry{.job = job, .since = now, .deadline = deadline};
  next_late_ = std::min(next_late_, EndOf(entry, 0.0, false));
  queue_.Push(flow, entry);
  return absl::OkStatus();
}

void JobSchedule::SubmitOwed(Job* job, const Flow& flow, Clock::time_point now) {
  queue_.Push(flow, {.job = job, .since = now, .is_owed = true});
}

JobSchedule::Taken JobSchedule::Take(int worker, Clock::time_point now, bool pauses) {
  Place& place = places_[static_cast<std::size_t>(worker)];
  if (!own_.empty() && (own_is_next_ || queue_.empty())) {
    own_is_next_ = false;
    ++counts_.running;
    place = {.begin = now, .is_running = true, .is_own = true};
    Job* const job = own_.front();
    own_.pop_front();
    return {.job = job};
  }
  if (queue_.empty()) {
    return {};
  }
  for (Place& other : places_) {
    if (other.is_running && !other.is_own) {
      queue_.ChargeSoFar(other.popped, now - other.begin);
    }
  }
  const std::optional<std::uint64_t> next = NextClient();
  if (!next) {
    return {};
  }
  if (pauses && own_.empty()) {
    if (const Clock::time_point end = PauseEnd(now, *next); end > now) {
      return {.look_again = end};
    }
  }
  own_is_next_ = true;
  const double due = queue_.DueOf(*next);
  place = {.popped = queue_.Pop(*next), .begin = now, .is_running = true};
  ++counts_.running;
  last_taken_ = now;
  const FairQueue::Entry& entry = place.popped.entry;
  const Duration waited = now - entry.since;
  NoteWait(now, waited);
  if (now > EndOf(entry, due, true)) {
    place.is_late = true;
    ++counts_.refused_late;
    return {.job = entry.job, .late = WhyLate(entry, now)};
  }
  ++counts_.started;
  counts_.waited += waited;
  return {.job = entry.job};
}

void JobSchedule::End(int worker, Clock::time_point now, Duration processor) {
  Place& place = places_[static_cast<std::size_t>(worker)];
  if (place.is_late) {
    queue_.Forgive(place.popped);
  } else {
    const Duration took = now - place.begin;
    counts_.ran += took;
    limit_.NoteRun(took, processor);
    // If a job was taken recently, workers do become free.
    if (now - last_taken_ >= 2 * limits_.target_wait) {
      NoteBlocked(now);
    }
    if (!place.is_own) {
      queue_.Settle(place.popped, processor);
    }
  }
  --counts_.running;
  place.is_running = false;
  place.end = now;
}

std::vector<JobSchedule::Refused> JobSchedule::TakeLate(Clock::time_point now) {
  std::vector<Refused> refused;
  if (now < next_late_) {
    return refused;
  }
  NoteBlocked(now);
  next_late_ = Clock::time_point::max();
  Duration shortest = Duration::max();
  queue_.RemoveIf([&](const FairQueue::Entry& entry, double due, bool is_next) {
    const Clock::time_point end = EndOf(entry, due, is_next);
    if (end > now) {
      next_late_ = std::min(next_late_, std::max(end, now + kGrain));
      return false;
    }
    shortest = std::min(shortest, now - entry.since);
    refused.push_back({entry.job, WhyLate(entry, now)});
    return true;
  });
  if (!refused.empty()) {
    counts_.refused_late += refused.size();
    NoteWait(now, shortest);
  }
  return refused;
}

WorkerPoolCounts JobSchedule::counts() const {
  WorkerPoolCounts counts = counts_;
  counts.queued = queue_.size() + own_.size();
  counts.is_overloaded = limit_.allowed() < limits_.max_wait;
  return counts;
}

bool JobSchedule::WouldBeLate(const Flow& flow, Duration left) const {
  const Duration enough = left - left / kLeftForErrors;
  // Jobs ahead are shared among all workers, the job itself is not. It waits at most `max_wait`.
  const Duration own = limit_.TimeFor(places_.size());
  const auto is_too_long = [&](std::size_t ahead) {
    return std::min(limit_.TimeFor(ahead), limits_.max_wait) + own > enough;
  };
  if (queue_.empty() || !is_too_long(queue_.size())) {
    return false;
  }
  const std::size_t ahead = queue_.AheadOf(flow);
  return ahead > 0 && is_too_long(ahead);
}

void JobSchedule::NoteWait(Clock::time_point now, Duration waited) {
  const Duration before = limit_.allowed();
  limit_.NoteWait(now, waited);
  if (limit_.allowed() < before) {
    next_late_ = now;
  }
}

void JobSchedule::NoteBlocked(Clock::time_point now) {
  if (HasFree()) {
    return;
  }
  double least = std::numeric_limits<double>::max();
  for (Place& place : places_) {
    double due = queue_.now() + static_cast<double>((now - place.begin).count());
    if (!place.is_own) {
      queue_.ChargeSoFar(place.popped, now - place.begin);
      due = queue_.DueOf(place.popped.client);
    }
    least = std::min(least, due);
  }
  if (least - queue_.now() > static_cast<double>(limit_.allowed().count())) {
    blocked_until_ = now;
    blocked_due_ = least;
  }
}

bool JobSchedule::IsBehind(double due) const {
  return due + static_cast<double>(limit_.allowed().count()) < blocked_due_;
}

JobSchedule::Clock::time_point JobSchedule::EndOf(const FairQueue::Entry& entry, double due,
                                                  bool is_next) const {
  if (entry.is_owed) {
    return Clock::time_point::max();
  }
  Clock::time_point end = entry.since + limit_.allowed();
  if (is_next && IsBehind(due)) {
    end = std::min(std::max(end, blocked_until_ + limit_.allowed()), entry.since + limits_.max_wait);
  }
  return std::min(end, entry.deadline);
}

std::optional<std::uint64_t> JobSchedule::NextClient() const {
  return queue_.NextClientIf([this](std::uint64_t client) { return MayHaveWorker(client); });
}

bool JobSchedule::BeginsAtOnce(std::uint64_t client) const {
  return HasFree() && MayHaveWorker(client) && !NextClient();
}

bool JobSchedule::MayHaveWorker(std::uint64_t client) const {
  const auto has = [client](const Place& place) {
    return place.is_running && !place.is_own && place.popped.client == client;
  };
  return !limits_.keeps_last_for_others ||
         static_cast<std::size_t>(std::ranges::count_if(places_, has)) + 1 < places_.size();
}

JobSchedule::Clock::time_point JobSchedule::PauseEnd(Clock::time_point now, std::uint64_t next) const {
  const double cost = queue_.CostOf(next);
  const Duration pause = std::min(kMaxPause, Duration(static_cast<Duration::rep>(cost / kPauseShare)));
  Clock::time_point last_end{};
  for (const Place& place : places_) {
    if (place.is_running) {
      continue;
    }
    const std::uint64_t last = place.popped.client;
    if (place.is_own || place.end + pause <= now || queue_.HasJobs(last) ||
        queue_.DueOf(last) >= queue_.DueOf(next) || queue_.CostOf(last) * kMuchLonger > cost) {
      return now;
    }
    last_end = std::max(last_end, place.end);
  }
  return last_end + pause;
}

absl::Status JobSchedule::WhyLate(const FairQueue::Entry& entry, Clock::time_point now) const {
  if (now >= entry.deadline) {
    return MakeError(ErrorReason::kDeadlineExceeded, "",
                     "the deadline passed while the call waited for a worker");
  }
  return Refusal(ErrorReason::kQueueTimeout, kRetryDelay,
                 absl::StrCat("the call waited for a worker for ",
                              absl::FormatDuration(absl::FromChrono(now - entry.since)),
                              ", longer than the server allows for now"));
}

namespace {

// Weight of one job in the moving averages.
constexpr double kWeight = 1.0 / 16;

// Minimum target, as a multiple of a job's CPU time.
constexpr double kTargetJobs = 3;

// The queue has emptied once a job waited less than target / kEmptyShare.
constexpr int kEmptyShare = 4;

// `before` is 0 before the first value.
double Averaged(double before, double now) { return before == 0.0 ? now : before + (now - before) * kWeight; }

}  // namespace

void WaitLimit::NoteWait(Clock::time_point now, Duration waited) {
  if (now >= interval_end_) {
    const Duration target =
        std::max(target_, Duration(static_cast<Duration::rep>(kTargetJobs * processor_nanos_)));
    // Long after the last interval the queue must have been empty, unless this job was in it since then: with
    // long jobs, few leave.
    const bool is_recent = now - waited < interval_end_ + kInterval;
    if (!is_recent) {
      allowed_ = longest_;
    } else if (shortest_in_interval_ > target) {
      allowed_ = std::min(longest_, 2 * target);
    } else if (shortest_in_interval_ < target / kEmptyShare) {
      allowed_ = std::min(longest_, 2 * allowed_);
    }
    shortest_in_interval_ = Duration::max();
    interval_end_ = now + kInterval;
  }
  shortest_in_interval_ = std::min(shortest_in_interval_, waited);
}

void WaitLimit::NoteRun(Duration took, Duration processor) {
  processor_nanos_ = Averaged(processor_nanos_, static_cast<double>(processor.count()));
  log_run_nanos_ = Averaged(log_run_nanos_, std::log(1.0 + static_cast<double>(took.count())));
}

std::size_t WaitLimit::MaxQueued(std::size_t most) const {
  const double typical = TypicalNanos();
  if (allowed_ >= longest_ || typical <= 0.0) {
    return most;
  }
  const double jobs =
      std::min(static_cast<double>(most), static_cast<double>(allowed_.count()) / typical * workers_);
  return std::clamp(static_cast<std::size_t>(std::llround(jobs)),
                    std::min(static_cast<std::size_t>(workers_), most), most);
}

WaitLimit::Duration WaitLimit::TimeFor(std::size_t jobs) const {
  return Duration(std::llround(static_cast<double>(jobs) * TypicalNanos() / workers_));
}

double WaitLimit::TypicalNanos() const { return std::exp(log_run_nanos_) - 1.0; }

}  // namespace waystar::runtime
