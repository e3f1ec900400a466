// Replay of a recording against a server.
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
  // The speed, as a multiple of the recorded one. With nothing, calls go as fast as the server answers.
  std::optional<double> speed;
  Only only = Only::kEverything;
};

// A call that came out otherwise than it was recorded.
struct ReplayDifference {
  std::uint64_t call = 0;
  std::string method;
  std::string map;
  // "cost: 14 -> 16".
  std::string what;
};

struct ReplayReport {
  // How many of the differing calls `differences` keeps: the first ones.
  static constexpr std::size_t kMostKept = 1'000;

  std::uint64_t played = 0;
  std::uint64_t queries = 0;
  std::uint64_t updates = 0;
  std::uint64_t differing = 0;
  std::vector<ReplayDifference> differences;
  // The calls of the recording that cannot be played back, by method.
  std::map<std::string, std::uint64_t> left_out;
  double seconds = 0;
};

struct ReplayProgress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

// Makes the calls one after the other, in the order that PutInPlayingOrder gives them, and compares how they
// end by Difference. The revision that an update expects is shifted by how far the server's revisions are
// from the recorded ones, and what it says of epochs and of when it was first sent is left out. Obstacles
// whose lifetime is over remove themselves: with a `speed` of 1 when they did in the recording, otherwise out
// of step.
//
// Errors: INVALID_ARGUMENT for client options that make no sense; UNAVAILABLE and UNAUTHENTICATED of the
// first call that ends so and did not in the recording.
absl::StatusOr<ReplayReport> Replay(Units units, const client::Options& client_options,
                                    const ReplayOptions& options,
                                    absl::FunctionRef<void(const ReplayProgress&)> tell);

}  // namespace waystar::record
