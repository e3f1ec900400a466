#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "client/client.h"
#include "client/load/settings.h"
#include "client/load/tally.h"
#include "client/load/workload.h"

namespace waystar::load {

struct UpdateReport {
  std::uint64_t sent = 0;
  Tally tally;
};

// Results for what was due in the measured time. They count queries, not messages, unless noted.
struct Report {
  Settings settings;
  std::uint64_t sent = 0;
  // sent = tally.answered + tally.failed().
  Tally tally;
  // The time from the beginning of the time that counts to its end, or to the last answer if that came later.
  double seconds = 0;
  // In an open loop: how late messages were sent, in nanoseconds, and how many were due and not sent.
  Histogram lag;
  std::uint64_t messages_unsent = 0;
  // Processor time that the server took from the beginning of the time that counts to the last answer.
  std::optional<std::chrono::nanoseconds> server_cpu;
  std::optional<UpdateReport> updates;
  // True if the run was cut short; the settings then have the measured time.
  bool is_cut_short = false;

  double QueriesPerSecond() const;
  // Returns true if the sender did not distort latencies: 99 of 100 messages were sent less than a
  // millisecond late.
  bool KeptSchedule() const;
};

struct Progress {
  double seconds = 0;
  double of_seconds = 0;
  bool is_warm_up = false;
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;
};

// Waits for at most the given time for somebody to cut the run short; returns whether that is so.
using WaitForStop = std::function<bool(Nanos time)>;

// Waits for that time; nobody cuts the run short.
bool WaitInFull(Nanos time);

// Runs the load against the server of `options` and measures. `tell` is called once per second. When
// `wait_for_stop` returns true, sending stops, and the report covers the time until then.
absl::StatusOr<Report> Run(
    const Settings& settings, const client::Options& options, const Workload& workload,
    const std::function<void(const Progress&)>& tell = [](const Progress&) {},
    const WaitForStop& wait_for_stop = &WaitInFull);

}  // namespace waystar::load
