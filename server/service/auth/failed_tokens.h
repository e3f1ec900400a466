// Counts failed authentications and abandoned calls by address and connection.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {

// Returns the network of a peer named as by CallHead::Peer: its IPv4 address, the first 64 bits of its IPv6
// address (one customer), or "unix" for all unix sockets.
std::string NetworkOf(absl::string_view peer);
// Returns the port of a peer, or 0 if it has none.
std::uint16_t PortOf(absl::string_view peer);

// Decides which failed calls to log: per network the first kLogged in each minute, and overall as many as
// LineLimit admits. Also decides which connections to close: those with more than kOfConnection failed calls
// in a minute, unless a valid token was presented on them, since a gateway's connection carries the calls of
// many clients.
//
// Has a fixed size. When it is full, entries with few failures are evicted first, and connections with a
// valid token that have not presented it again.
//
// Thread safety: any.
class FailedTokens {
 public:
  static constexpr int kLogged = 10;
  static constexpr int kOfConnection = 100;
  // How long an HTTP client is rejected instead of closing its connection. It is identified by its address
  // (see CallHead::Peer).
  static constexpr absl::Duration kTurnedOut = absl::Seconds(10);

  // Numbers for the log line of a failure.
  struct Logged {
    // Failures of its network in the current minute, including this one.
    int failures = 0;
    // Number of failures of all networks since the last logged one.
    std::uint64_t left_out = 0;
  };

  // The clock must outlive this.
  explicit FailedTokens(const Clock& clock = Clock::Steady()) : clock_(clock), limit_(clock) {}

  struct Verdict {
    // Unset if the call is not to be logged.
    std::optional<Logged> logged;
    bool closes_connection = false;
  };

  // Counts one failure. The peer is named as by CallHead::Peer.
  Verdict Count(absl::string_view peer);
  // Returns true if connections of that peer were to be closed within the last kTurnedOut. Costs one load
  // until there has been one.
  bool IsTurnedOut(absl::string_view peer) const;
  // Records a valid token. Costs one load if the connection has presented one before.
  void NoteAccepted(absl::string_view peer);
  // Returns true if a valid token was presented from the network of that peer.
  bool KnowsNetworkOf(absl::string_view peer) const;

 private:
  struct Entry {
    std::uint64_t key = 0;
    absl::Time minute_begin = absl::InfinitePast();
    int failures = 0;
    absl::Time turned_out_until = absl::InfinitePast();
  };
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kSets = 1024;
  using Table = std::array<std::array<Entry, kWays>, kSets>;

  bool IsAccepted(std::uint64_t key) const {
    return accepted_[key % accepted_.size()].load(std::memory_order_relaxed) == key;
  }
  void Accept(std::uint64_t key) { accepted_[key % accepted_.size()].store(key, std::memory_order_relaxed); }
  // Counts a failure of the network or the connection. Returns its entry, with the failures of this minute.
  static Entry& CountIn(Table& table, std::uint64_t key, absl::Time now);
  std::optional<Logged> ToLog(int failures);

  const Clock& clock_;
  runtime::LineLimit limit_;
  mutable Mutex mutex_;
  Table networks_ ABSL_GUARDED_BY(mutex_);
  Table connections_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> has_turned_out_ = false;
  // Connections and networks that have presented a valid token, indexed by hash.
  std::array<std::atomic<std::uint64_t>, std::size_t{1} << 14> accepted_ = {};
};

}  // namespace waystar::rpc
