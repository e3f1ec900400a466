#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "client/client.h"
#include "client/load/histogram.h"
#include "client/load/settings.h"
#include "client/load/tally.h"
#include "client/load/workload.h"

namespace waystar::load {

struct UpdateReport {
  std::uint64_t sent = 0;
  Tally tally;
};

// Figures of what was due in the time that counts. They are of queries, not of messages, unless it says so.
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
  int server_pid = 0;
  std::optional<UpdateReport> updates;
  // Whether the run was cut short; the settings have the time that was measured then.
  bool is_cut_short = false;

  double QueriesPerSecond() const;
  // Whether latencies are what the server and the connection made them: messages left in time, 99 of 100 of
  // them less than a millisecond late.
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

// Puts the load on the server of `options` and measures. `tell` is called once a second. When `wait_for_stop`
// returns true, nothing more is sent, and the report is of what was measured until then.
absl::StatusOr<Report> Run(const Settings& settings, const client::Options& options, const Workload& workload,
                           const std::function<void(const Progress&)>& tell,
                           const WaitForStop& wait_for_stop);

}  // namespace waystar::load
