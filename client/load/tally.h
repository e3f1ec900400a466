#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "client/load/histogram.h"
#include "client/load/settings.h"

namespace waystar::load {

// How many failed for one cause, and what the server said to one of them.
struct Failures {
  std::uint64_t count = 0;
  std::string message;
};

// What became of a number of queries, or of batches of edits. Not thread-safe.
struct Tally {
  std::uint64_t answered = 0;
  // Of the answered ones, those with another outcome than a whole path.
  std::uint64_t without_path = 0;
  // By the name of the code and the reason, which may be empty.
  std::map<std::pair<std::string, std::string>, Failures> failures;
  // Of the answered ones, in nanoseconds.
  Histogram latency;
  // When the last one ended.
  Time last_end = Time::min();

  std::uint64_t failed() const;
  void AddFailure(const absl::Status& status, std::uint64_t count);
  void Merge(const Tally& other);
};

}  // namespace waystar::load
