#include "client/load/run.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "client/connection.h"
#include "client/load/lane.h"
#include "client/load/server_cpu.h"
#include "client/load/update_load.h"
#include "client/target.h"

namespace waystar::load {
namespace {

// How long the stream of updates may go on after all else.
constexpr absl::Duration kUpdatesGrace = absl::Seconds(10);

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

}  // namespace waystar::load
