// Tables of the addresses and the connections whose calls were refused for their tokens, or did not go on.
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
#include "server/runtime/line_limit.h"

namespace waystar::rpc {

// Returns the network that a peer, as PeerOf names it, is known by: its IPv4 address, the first 64
// bits of its IPv6 address, which are one customer's, or "unix" for all of this machine's sockets.
std::string NetworkOf(absl::string_view peer);
// Returns the port of a peer, or 0 if it has none.
std::uint16_t PortOf(absl::string_view peer);

// Decides which of these calls the log tells of: of one network the first kLogged within a minute, and of all
// together as many as LineLimit admits. Decides too which connections are to be closed: those on which more
// than kOfConnection calls were refused within a minute, but never one on which a right token was shown: a
// gateway's has the calls of many.
//
// It has a fixed size; when it is full, those with few failures are forgotten first, and of the connections
// with a right token some that have not shown it again.
//
// Thread safety: any.
class FailedTokens {
 public:
  static constexpr int kLogged = 10;
  static constexpr int kOfConnection = 100;
  // A client over HTTP is known by its address (see PeerOf). It is turned out as a connection is closed, and
  // its address for so long.
  static constexpr absl::Duration kTurnedOut = absl::Seconds(10);

  // A call that is to be logged.
  struct Logged {
    // The failures of its network since the minute began, this one included.
    int failures = 0;
    // The failures, of any network, that were not logged since the last that was.
    std::uint64_t left_out = 0;
  };

  // The clock must outlive this.
  explicit FailedTokens(const Clock& clock = Clock::Steady()) : clock_(clock), limit_(clock) {}

  struct Verdict {
    // None if the call is not to be logged.
    std::optional<Logged> logged;
    bool closes_connection = false;
  };

  // Counts one. The peer is named as PeerOf names it.
  Verdict Count(absl::string_view peer);
  // Returns whether connections of that peer were to be closed within kTurnedOut before now. Costs a load
  // where none were.
  bool IsTurnedOut(absl::string_view peer) const;
  // Notes that a right token was shown. Costs a load where the connection has shown one before.
  void NoteAccepted(absl::string_view peer);
  // Returns whether a right token was shown from the network of that peer.
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
  // Returns the entry of the network or the connection, with its failures since its minute began.
  static Entry& CountIn(Table& table, std::uint64_t key, absl::Time now);
  std::optional<Logged> ToLog(int failures);

  const Clock& clock_;
  runtime::LineLimit limit_;
  mutable Mutex mutex_;
  Table networks_ ABSL_GUARDED_BY(mutex_);
  Table connections_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> has_turned_out_ = false;
  // Connections and networks that have shown a right token, each at the place that its hash says.
  std::array<std::atomic<std::uint64_t>, std::size_t{1} << 14> accepted_ = {};
};

}  // namespace waystar::rpc
