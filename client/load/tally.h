#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "client/load/clock.h"
#include "client/load/histogram.h"
#include "google/rpc/status.pb.h"

namespace waystar::load {

// The failures of one cause: how many there were, and what the server said to one of them.
struct Failures {
  std::uint64_t count = 0;
  std::string message;
};

// Tally of what became of queries, or of batches of edits. Thread safety: one thread.
struct Tally {
  std::uint64_t answered = 0;
  // The answered ones that have another outcome than a whole path.
  std::uint64_t without_path = 0;
  // The failures by the name of their code and by their reason, which may be empty.
  std::map<std::pair<std::string, std::string>, Failures> failures;
  // The latency of the answered ones, in nanoseconds.
  Histogram latency;
  // When the last one ended.
  Time last_end = Time::min();

  std::uint64_t failed() const;
  void AddFailure(const absl::Status& status, std::uint64_t count);
  void AddFailure(const google::rpc::Status& problem, std::uint64_t count);
  void Merge(const Tally& other);
};

}  // namespace waystar::load
