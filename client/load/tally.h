#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "client/load/histogram.h"
#include "client/load/settings.h"

namespace waystar::load {

// Failures with the same cause: their number, and the server's message for one of them.
struct Failures {
  std::uint64_t count = 0;
  std::string message;
};

// Tally of the results of queries, or of batches of edits. Thread safety: one thread.
struct Tally {
  std::uint64_t answered = 0;
  // Answered queries by outcome, other than a complete path.
  std::uint64_t without_path = 0;
  // Failures by code name and reason, which may be empty.
  std::map<std::pair<std::string, std::string>, Failures> failures;
  // Latency of answered queries, in nanoseconds.
  Histogram latency;
  // End of the last one.
  Time last_end = Time::min();

  std::uint64_t failed() const;
  void AddFailure(const absl::Status& status, std::uint64_t count);
  void Merge(const Tally& other);
};

}  // namespace waystar::load
