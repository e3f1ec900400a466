#include "client/load/lane.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>

namespace waystar::load {
namespace {

// How late a message may still be sent once the time is over.
constexpr Nanos kLastLag = std::chrono::milliseconds(100);

// Returns the share of lane `number` when `total` items are dealt out to `lanes`.
int ShareOf(int total, int lanes, int number) { return total / lanes + (number < total % lanes ? 1 : 0); }

}  // namespace

Lane::Lane(const Settings& settings, const Workload& workload, const client::Connection& connection,
           int number)
    : settings_(settings),
      number_(number),
      max_in_flight_(std::max(ShareOf(settings.in_flight, settings.threads, number), 1)) {
  const int channels = std::max(ShareOf(settings.connections, settings.threads, number), 1);
  for (int i = 0; i < channels; ++i) {
    channels_.push_back(connection.NewPlainChannel());
  }
  const std::uint64_t seed = settings.seed + static_cast<std::uint64_t>(number);
  const Wire wire = {settings, workload, connection, channels_, queue_, seed, *this};
  exchange_ = settings.mode == Mode::kStream ? MakeStreamExchange(wire) : MakeCallExchange(wire);
}

void Lane::Start(const Window& window) {
  window_ = &window;
  receiver_ = std::thread([this] { Receive(); });
  if (settings_.rate > 0) {
    sender_ = std::thread([this] { SendBySchedule(); });
    return;
  }
  in_flight_ = max_in_flight_;
  for (int i = 0; i < max_in_flight_; ++i) {
    SendOne(Clock::now());
  }
}

void Lane::Finish() {
  if (sender_.joinable()) {
    sender_.join();
  }
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto is_empty = [this] { return in_flight_ == 0; };
    if (settings_.mode == Mode::kStream) {
      fewer_.wait_until(lock, std::min(window_->end, Clock::now()) + settings_.deadline, is_empty);
    } else {
      fewer_.wait(lock, is_empty);
    }
  }
  exchange_->Close();
  queue_.Shutdown();
  receiver_.join();
}

void Lane::Receive() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
    hand_over_.load(std::memory_order_acquire);
    static_cast<Event*>(tag)->Proceed(ok);
  }
}

Schedule Lane::MakeSchedule() const {
  if (settings_.arrivals == Arrivals::kEven) {
    return Schedule::Even(window_->begin, settings_.rate, number_, settings_.threads);
  }
  return Schedule::Random(window_->begin, settings_.rate / settings_.threads,
                          settings_.seed + static_cast<std::uint64_t>(number_));
}

void Lane::SendBySchedule() {
  // Else sleep ends up to 50 us late.
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  for (Schedule schedule = MakeSchedule(); window_->MaySend(schedule.due()); schedule.Next()) {
    const Time due = schedule.due();
    if (window_->SleepUntil(due)) {
      return;
    }
    if (due < window_->measure_begin && Clock::now() >= window_->measure_begin) {
      // Skips the backlog of the warm-up, which is not part of the measured load.
      continue;
    }
    {
      std::unique_lock<std::mutex> lock(mutex_);
      fewer_.wait(lock, [this] { return in_flight_ < max_in_flight_; });
      ++in_flight_;
    }
    const Time now = Clock::now();
    if (now >= window_->end && now - due > kLastLag) {
      for (; schedule.due() < window_->end; schedule.Next()) {
        messages_unsent_ += window_->Counts(schedule.due()) ? 1 : 0;
      }
      const std::lock_guard<std::mutex> lock(mutex_);
      --in_flight_;
      return;
    }
    if (window_->Counts(due)) {
      lag_.Add(Nanos(now - due).count());
    }
    SendOne(due);
  }
}

void Lane::SendOne(Time due) {
  const std::lock_guard<std::mutex> lock(send_mutex_);
  if (window_->Counts(due)) {
    queries_sent_ += static_cast<std::uint64_t>(settings_.per_message);
  }
  exchange_->Send(due);
}

void Lane::OnAnswered(Time due, bool has_path) {
  answered_so_far_.fetch_add(1, std::memory_order_relaxed);
  if (!window_->Counts(due)) {
    return;
  }
  const Time now = Clock::now();
  ++tally_.answered;
  tally_.without_path += has_path ? 0 : 1;
  tally_.latency.Add(Nanos(now - due).count());
  tally_.last_end = now;
}

void Lane::OnFailed(Time due, const absl::Status& status, std::uint64_t queries) {
  failed_so_far_.fetch_add(queries, std::memory_order_relaxed);
  if (window_->Counts(due)) {
    tally_.AddFailure(status, queries);
    tally_.last_end = Clock::now();
  }
}

void Lane::OnMessageDone() {
  if (settings_.rate == 0) {
    const Time now = Clock::now();
    if (window_->MaySend(now)) {
      SendOne(now);
      return;
    }
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  --in_flight_;
  fewer_.notify_all();
}

}  // namespace waystar::load
