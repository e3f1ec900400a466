// Table of the addresses whose calls were refused for their tokens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"
#include "server/runtime/line_limit.h"

namespace waystar::rpc {

// Returns the network that a peer, as the RPC library names it, is known by: its IPv4 address, the first 64
// bits of its IPv6 address, which are one customer's, or "unix" for all of this machine's sockets.
std::string NetworkOf(absl::string_view peer);

// Decides which of these calls the log tells of: of one network the first kLogged within a minute, and of all
// together as many as LineLimit admits. It has a fixed size; when it is full, networks with few failures are
// forgotten first.
//
// Thread safety: any.
class FailedTokens {
 public:
  static constexpr int kLogged = 10;

  // A call that is to be logged.
  struct Logged {
    // The failures of its network since the minute began, this one included.
    int failures = 0;
    // The failures, of any network, that were not logged since the last that was.
    std::uint64_t left_out = 0;
  };

  // The clock must outlive this.
  explicit FailedTokens(const Clock& clock = Clock::Steady()) : clock_(clock), limit_(clock) {}

  // Counts one. Returns nothing if it is not to be logged.
  std::optional<Logged> Count(absl::string_view peer);

 private:
  struct Entry {
    std::uint64_t network = 0;
    absl::Time minute_begin = absl::InfinitePast();
    int failures = 0;
  };
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kSets = 1024;

  // Returns the failures of the network since its minute began.
  int CountIn(std::uint64_t network);

  const Clock& clock_;
  runtime::LineLimit limit_;
  Mutex mutex_;
  std::array<std::array<Entry, kWays>, kSets> sets_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
