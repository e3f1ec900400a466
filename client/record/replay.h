// Plays a recording back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "client/options.h"
#include "client/record/units.h"

namespace waystar::record {

enum class Only { kEverything, kQueries, kUpdates };

struct ReplayOptions {
  // How many times as fast as it was recorded. Nothing: as fast as the server answers.
  std::optional<double> speed;
  Only only = Only::kEverything;
};

// What came out otherwise than it was recorded.
struct ReplayDifference {
  std::uint64_t call = 0;
  std::string method;
  std::string map;
  // "cost: 14 -> 16".
  std::string what;
};

struct ReplayReport {
  // Of these the first kMostKept are in `differences`.
  static constexpr std::size_t kMostKept = 1'000;

  std::uint64_t played = 0;
  std::uint64_t queries = 0;
  std::uint64_t updates = 0;
  std::uint64_t differing = 0;
  std::vector<ReplayDifference> differences;
  // Calls of the recording that cannot be played back, by method.
  std::map<std::string, std::uint64_t> left_out;
  double seconds = 0;
};

struct ReplayProgress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

// Makes the calls one after the other, in the order that PutInPlayingOrder gives them, and compares how they
// end by Difference. What an update expects the revision to be is shifted by how far the server's are from
// the recorded ones. Obstacles whose time is over remove themselves: with `speed` 1 when they did, else not
// in step.
//
// Errors: INVALID_ARGUMENT for client options that make no sense; UNAVAILABLE and UNAUTHENTICATED of the
// first call that ends so and did not in the recording.
absl::StatusOr<ReplayReport> Replay(Units units, const client::Options& client_options,
                                    const ReplayOptions& options,
                                    absl::FunctionRef<void(const ReplayProgress&)> tell);

}  // namespace waystar::record
