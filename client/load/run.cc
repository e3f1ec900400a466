#include "client/load/run.h"

#include <arpa/inet.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "client/connection.h"
#include "client/errors.h"
#include "client/load/lane.h"
#include "client/load/schedule.h"
#include "client/target.h"

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
  UpdateLoad(const client::Client& client, const Workload& workload, double rate);

  // `window` must outlive it.
  void Start(const Window& window);
  void Finish();

  // Valid after Finish, for the measured batches. Latency is from the due time of a batch to its answer.
  const Tally& tally() const { return tally_; }
  std::uint64_t sent() const { return sent_; }

 private:
  void Send();
  void Receive();
  // Blocks or unblocks toggle number `index`. Returns false if the stream has ended.
  bool Toggle(std::size_t index, bool block, Time due);

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

UpdateLoad::UpdateLoad(const client::Client& client, const Workload& workload, double rate)
    : workload_(workload), rate_(rate), stream_(client.StreamUpdates()) {}

void UpdateLoad::Start(const Window& window) {
  window_ = &window;
  receiver_ = std::thread([this] { Receive(); });
  sender_ = std::thread([this] { Send(); });
}

void UpdateLoad::Finish() {
  sender_.join();
  receiver_.join();
}

void UpdateLoad::Send() {
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

bool UpdateLoad::Toggle(std::size_t index, bool block, Time due) {
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

void UpdateLoad::Receive() {
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

double SecondsOf(Nanos time) { return std::chrono::duration<double>(time).count(); }

int FindServer(const Settings& settings, const client::Options& options) {
  if (settings.server_pid != 0 || !client::IsOnThisMachine(options.target)) {
    return settings.server_pid;
  }
  const std::optional<client::Endpoint> endpoint = client::FirstEndpoint(options.target);
  return endpoint ? FindListener(endpoint->host, endpoint->port).value_or(0) : 0;
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

// The processor time of the server at the beginning of the time that counts, if that comes.
std::optional<Nanos> CpuAtBegin(const Window& window, int pid) {
  const bool is_cut_short = window.SleepUntil(window.measure_begin);
  return is_cut_short || pid == 0 ? std::nullopt : CpuTimeOf(pid);
}

}  // namespace

double Report::QueriesPerSecond() const {
  return seconds > 0 ? static_cast<double>(tally.answered) / seconds : 0;
}

bool Report::KeptSchedule() const {
  constexpr std::int64_t kMillisecond = 1'000'000;
  return messages_unsent == 0 && lag.Percentile(99) < kMillisecond;
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
  report.server_pid = FindServer(settings, options);

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
  std::thread cpu_reader([&] { cpu_before = CpuAtBegin(window, report.server_pid); });
  TellUntilTheEnd(window, lanes, tell, wait_for_stop);
  const Time end = std::min(Clock::now(), window.end);
  cpu_reader.join();
  for (const auto& lane : lanes) {
    lane->Finish();
    report.sent += lane->queries_sent();
    report.tally.Merge(lane->tally());
    report.lag.Merge(lane->lag());
    report.messages_unsent += lane->messages_unsent();
  }
  const std::optional<Nanos> cpu_after = report.server_pid == 0 ? std::nullopt : CpuTimeOf(report.server_pid);
  if (cpu_before && cpu_after) {
    report.server_cpu = *cpu_after - *cpu_before;
  }
  report.is_cut_short = window.is_cut_short;
  report.settings.duration = std::max(Nanos(end - window.measure_begin), Nanos(0));
  report.seconds = std::max(SecondsOf(std::max(report.tally.last_end, end) - window.measure_begin), 0.0);
  if (updates) {
    updates->Finish();
    report.updates = UpdateReport{updates->sent(), updates->tally()};
  }
  return report;
}

namespace {

constexpr char kListening[] = "0A";

// Returns the address as the tables of /proc/net have it, or "" if it is not an IPv4 address.
std::string InTable(const std::string& host) {
  in_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ? absl::StrFormat("%08X", address.s_addr) : "";
}

// Adds the inodes of the sockets that listen on the port, at the address or at all, by a table of /proc/net.
void AddListeningInodes(const char* table, const std::string& address, int port,
                        std::set<std::string>& links) {
  const std::string port_in_table = absl::StrFormat("%04X", port);
  std::ifstream file(table);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> columns = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (columns.size() <= 9 || columns[3] != kListening) {
      continue;
    }
    const std::pair<std::string, std::string> local = absl::StrSplit(columns[1], absl::MaxSplits(':', 1));
    const bool is_for_all = local.first.find_first_not_of('0') == std::string::npos;
    // An IPv4 address is at the end of one that is mapped into IPv6.
    if (local.second == port_in_table && (is_for_all || absl::EndsWith(local.first, address))) {
      links.insert(absl::StrCat("socket:[", columns[9], "]"));
    }
  }
}

bool Holds(const std::filesystem::path& process, const std::set<std::string>& links) {
  std::error_code error;
  for (auto file = std::filesystem::directory_iterator(process / "fd", error);
       !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    std::error_code unreadable;
    if (links.count(std::filesystem::read_symlink(file->path(), unreadable).string()) > 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<int> FindListener(const std::string& host, int port) {
  std::set<std::string> links;
  AddListeningInodes("/proc/net/tcp", InTable(host), port, links);
  AddListeningInodes("/proc/net/tcp6", InTable(host), port, links);
  if (links.empty()) {
    return std::nullopt;
  }
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    int pid = 0;
    if (absl::SimpleAtoi(entry->path().filename().string(), &pid) && Holds(entry->path(), links)) {
      return pid;
    }
  }
  return std::nullopt;
}

std::optional<std::chrono::nanoseconds> CpuTimeOf(int pid) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace waystar::load
