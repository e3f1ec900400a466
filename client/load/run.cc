#include "client/load/run.h"

#include <grpcpp/completion_queue.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "client/connection.h"
#include "client/errors.h"
#include "client/load/exchange.h"
#include "client/metrics.h"

namespace waystar::load {
namespace {

// How long the stream of updates may go on after all else.
constexpr absl::Duration kUpdatesGrace = absl::Seconds(10);

// Load of updates: batches of one edit on one stream with a separate schedule, which alternately block and
// unblock cells. At the end all cells are unblocked.
//
// Thread safety: one thread.
class UpdateLoad {
 public:
  // Sends `rate` batches per second. All arguments must outlive it. REQUIRES: the workload has toggles.
  UpdateLoad(const client::Client& client, const Workload& workload, double rate)
      : workload_(workload), rate_(rate), stream_(client.StreamUpdates()) {}

  // `window` must outlive it.
  void Start(const Window& window) {
    window_ = &window;
    receiver_ = std::thread([this] { Receive(); });
    sender_ = std::thread([this] { Send(); });
  }

  // Reports the measured batches. Latency is from the due time of a batch to its answer.
  UpdateReport Finish() {
    sender_.join();
    receiver_.join();
    return {sent_, std::move(tally_)};
  }

 private:
  void Send() {
    Schedule schedule = Schedule::Even(window_->begin, rate_);
    std::vector<bool> is_blocked(workload_.toggles().size());
    bool is_open = true;
    std::size_t index = 0;
    for (; is_open && window_->MaySend(schedule.due()) && Clock::now() < window_->end; schedule.Next()) {
      if (window_->SleepUntil(schedule.due())) {
        break;
      }
      is_blocked[index] = !is_blocked[index];
      is_open = Toggle(index, is_blocked[index], schedule.due());
      index = (index + 1) % is_blocked.size();
    }
    for (index = 0; is_open && index < is_blocked.size(); ++index) {
      is_open = !is_blocked[index] || Toggle(index, false, Time::max());
    }
    stream_->EndSending();
  }

  void Receive() {
    v1::StreamUpdatesResponse answer;
    while (stream_->Receive(answer)) {
      const Time now = Clock::now();
      Time due;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (under_way_.empty()) {
          continue;
        }
        due = under_way_.front();
        under_way_.pop_front();
      }
      if (!window_->Counts(due)) {
        continue;
      }
      if (answer.has_problem()) {
        tally_.AddFailure(client::FromMessage(answer.problem()), 1);
      } else {
        ++tally_.answered;
        tally_.latency.Add(Nanos(now - due).count());
      }
      tally_.last_end = now;
    }
    absl::Status end = stream_->Finish();
    if (end.ok()) {
      end = absl::UnavailableError("the server ended the stream");
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    has_ended_ = true;
    for (const Time due : under_way_) {
      if (window_->Counts(due)) {
        tally_.AddFailure(end, 1);
      }
    }
    under_way_.clear();
  }

  // Blocks or unblocks toggle number `index`. Returns false if the stream has ended.
  bool Toggle(std::size_t index, bool block, Time due) {
    const Workload::Toggle& toggle = workload_.toggles()[index];
    v1::UpdateMapRequest request;
    request.set_map(toggle.map);
    v1::Edit& edit = *request.add_edits();
    *(block ? edit.mutable_block() : edit.mutable_unblock())->add_cells() = toggle.cell;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (has_ended_) {
        return false;
      }
      under_way_.push_back(due);
    }
    sent_ += window_->Counts(due) ? 1 : 0;
    return stream_->Send(request);
  }

  const Workload& workload_;
  const double rate_;
  const Window* window_ = nullptr;
  std::unique_ptr<client::UpdateStream> stream_;
  std::atomic<std::uint64_t> sent_ = 0;
  Tally tally_;
  std::mutex mutex_;
  // Guarded by mutex_: when the batches that are not answered yet were due, and whether the stream has ended.
  std::deque<Time> under_way_;
  bool has_ended_ = false;
  std::thread sender_;
  std::thread receiver_;
};

// How late a message may still be sent once the time is over.
constexpr Nanos kLastLag = std::chrono::milliseconds(100);

// Returns the share of lane `number` when `total` items are dealt out to `lanes`.
int ShareOf(int total, int lanes, int number) { return total / lanes + (number < total % lanes ? 1 : 0); }

// Lane of the load: a share of it with channels of its own, a thread that receives, and in an open loop one
// that sends.
//
// Thread safety: one thread; any thread may read the counts of progress.
class Lane final : public Listener {
 public:
  // This is lane `number` of settings.threads, counted from 0. All that is passed must outlive it.
  Lane(const Settings& settings, const Workload& workload, const client::Connection& connection, int number)
      : settings_(settings),
        number_(number),
        max_in_flight_(std::max(ShareOf(settings.in_flight, settings.threads, number), 1)),
        random_(settings.seed + static_cast<std::uint64_t>(number)) {
    const auto make = settings.mode == Mode::kStream ? MakeStreamExchange : MakeCallExchange;
    const int connections = std::max(ShareOf(settings.connections, settings.threads, number), 1);
    for (int i = 0; i < connections; ++i) {
      exchanges_.push_back(
          make({settings, workload, random_, connection, queue_, *this}, connection.NewPlainChannel()));
    }
  }

  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // `window` must outlive it.
  void Start(const Window& window) {
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

  // Waits until everything that was sent has ended, and adds what was due in the measured time to the report.
  // Call it after the end of the window, or once that is cut short.
  void Finish(Report& report) {
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
    for (const auto& exchange : exchanges_) {
      exchange->Close();
    }
    queue_.Shutdown();
    receiver_.join();
    report.sent += queries_sent_;
    report.tally.Merge(tally_);
    report.lag.Merge(lag_);
    report.messages_unsent += messages_unsent_;
  }

  std::uint64_t answered_so_far() const { return answered_so_far_.load(std::memory_order_relaxed); }
  std::uint64_t failed_so_far() const { return failed_so_far_.load(std::memory_order_relaxed); }

 private:
  void OnAnswered(Time due, bool has_path) override {
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

  void OnFailed(Time due, const absl::Status& status, std::uint64_t queries) override {
    failed_so_far_.fetch_add(queries, std::memory_order_relaxed);
    if (window_->Counts(due)) {
      tally_.AddFailure(status, queries);
      tally_.last_end = Clock::now();
    }
  }

  void OnMessageDone() override {
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

  void OnHandOver() override { hand_over_.store(true, std::memory_order_release); }

  void Receive() {
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
      hand_over_.load(std::memory_order_acquire);
      (*static_cast<Event*>(tag))(ok);
    }
  }

  Schedule MakeSchedule() const {
    if (settings_.arrivals == Arrivals::kEven) {
      return Schedule::Even(window_->begin, settings_.rate, number_, settings_.threads);
    }
    return Schedule::Random(window_->begin, settings_.rate / settings_.threads,
                            settings_.seed + static_cast<std::uint64_t>(number_));
  }

  void SendBySchedule() {
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

  void SendOne(Time due) {
    const std::lock_guard<std::mutex> lock(send_mutex_);
    if (window_->Counts(due)) {
      queries_sent_ += static_cast<std::uint64_t>(settings_.per_message);
    }
    exchanges_[next_exchange_]->Send(due);
    next_exchange_ = (next_exchange_ + 1) % exchanges_.size();
  }

  const Settings& settings_;
  const int number_;
  const int max_in_flight_;
  const Window* window_ = nullptr;
  grpc::CompletionQueue queue_;

  std::atomic<bool> hand_over_ = false;
  std::mutex send_mutex_;
  // Guarded by send_mutex_. The exchanges, one a channel, take turns.
  Workload::Random random_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  std::size_t next_exchange_ = 0;
  std::uint64_t queries_sent_ = 0;

  // Only the thread that sends uses these: messages that were due and not sent, because it was too late, and
  // how late each of the others was, in nanoseconds.
  std::uint64_t messages_unsent_ = 0;
  Histogram lag_;

  // Only the thread that receives uses this.
  Tally tally_;
  std::atomic<std::uint64_t> answered_so_far_ = 0;
  std::atomic<std::uint64_t> failed_so_far_ = 0;

  std::mutex mutex_;
  std::condition_variable fewer_;
  // Guarded by mutex_.
  int in_flight_ = 0;

  std::thread sender_;
  std::thread receiver_;
};

double SecondsOf(Nanos time) { return std::chrono::duration<double>(time).count(); }

// The processor time that the server has taken so far, if it tells.
std::optional<Nanos> ServerCpu(const client::Client& client) {
  constexpr char kFamily[] = "process_cpu_seconds_total";
  const auto metrics = client.GetMetrics();
  if (!metrics.ok() || client::MetricsOf(*metrics, kFamily).empty()) {
    return std::nullopt;
  }
  return Nanos(std::llround(client::SumOf(*metrics, kFamily) * 1e9));
}

void TellUntilTheEnd(Window& window, const std::vector<std::unique_ptr<Lane>>& lanes,
                     const std::function<void(const Progress&)>& tell, const WaitForStop& wait_for_stop) {
  for (Time next = window.begin; next < window.end;) {
    next = std::min(next + std::chrono::seconds(1), window.end);
    for (Time now = Clock::now(); now < next; now = Clock::now()) {
      if (wait_for_stop(next - now)) {
        window.is_cut_short = true;
        return;
      }
    }
    Progress progress;
    progress.is_warm_up = next <= window.measure_begin;
    progress.seconds = SecondsOf(next - window.begin);
    progress.of_seconds = SecondsOf(window.end - window.begin);
    for (const auto& lane : lanes) {
      progress.answered += lane->answered_so_far();
      progress.failed += lane->failed_so_far();
    }
    tell(progress);
  }
}

}  // namespace

double Report::QueriesPerSecond() const {
  return seconds > 0 ? static_cast<double>(tally.answered) / seconds : 0;
}

bool Report::KeptSchedule() const {
  constexpr std::int64_t kMillisecond = 1'000'000;
  return messages_unsent == 0 && lag.Percentile(99) < kMillisecond;
}

bool WaitInFull(Nanos time) {
  std::this_thread::sleep_for(time);
  return false;
}

absl::StatusOr<Report> Run(const Settings& settings, const client::Options& options, const Workload& workload,
                           const std::function<void(const Progress&)>& tell,
                           const WaitForStop& wait_for_stop) {
  const client::Connection connection(options);
  if (!connection.status().ok()) {
    return connection.status();
  }
  client::Options for_updates = options;
  for_updates.retry = false;
  for_updates.stream_timeout =
      absl::FromChrono(settings.warm_up + settings.duration + settings.deadline) + kUpdatesGrace;
  const client::Client client(for_updates);
  std::vector<std::unique_ptr<Lane>> lanes;
  lanes.reserve(static_cast<std::size_t>(settings.threads));
  for (int i = 0; i < settings.threads; ++i) {
    lanes.push_back(std::make_unique<Lane>(settings, workload, connection, i));
  }
  std::unique_ptr<UpdateLoad> updates;
  if (settings.updates_per_second > 0) {
    updates = std::make_unique<UpdateLoad>(client, workload, settings.updates_per_second);
  }
  Report report;
  report.settings = settings;

  Window window;
  window.begin = Clock::now();
  window.measure_begin = window.begin + settings.warm_up;
  window.end = window.measure_begin + settings.duration;
  for (const auto& lane : lanes) {
    lane->Start(window);
  }
  if (updates) {
    updates->Start(window);
  }
  std::optional<Nanos> cpu_before;
  std::thread cpu_reader([&] {
    if (!window.SleepUntil(window.measure_begin)) {
      cpu_before = ServerCpu(client);
    }
  });
  TellUntilTheEnd(window, lanes, tell, wait_for_stop);
  const Time end = std::min(Clock::now(), window.end);
  cpu_reader.join();
  for (const auto& lane : lanes) {
    lane->Finish(report);
  }
  if (const auto cpu_after = cpu_before ? ServerCpu(client) : std::nullopt) {
    report.server_cpu = *cpu_after - *cpu_before;
  }
  report.is_cut_short = window.is_cut_short;
  report.settings.duration = std::max(Nanos(end - window.measure_begin), Nanos(0));
  report.seconds = std::max(SecondsOf(std::max(report.tally.last_end, end) - window.measure_begin), 0.0);
  if (updates) {
    report.updates = updates->Finish();
  }
  return report;
}

}  // namespace waystar::load
