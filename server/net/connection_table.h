// The connections that are open, counted in all and by network.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"
#include "server/net/network.h"

namespace waystar::net {

struct ConnectionLimits {
  std::size_t max_connections = 1;
  // Those of one network: see Network.
  std::size_t max_network_connections = 1;
};

// Knows of connections that others own and close without a word: a connection is over once its descriptor
// stands for another socket, or for none. It looks at that when a limit is reached or the number is asked
// for, for at most a twentieth of the time, so what it knows may be older by twenty times what looking takes:
// 40 ms with 10,000 connections.
//
// Thread safety: any.
class ConnectionTable {
 public:
  enum class Verdict : std::uint8_t { kAdmitted, kTooMany, kTooManyOfNetwork, kKeptOut };

  explicit ConnectionTable(const ConnectionLimits& limits)
      : places_(Quota<Network>::Fixed(limits.max_connections, limits.max_network_connections)) {}

  // Adds an open connection, unless there are too many. Connections by unix sockets only count in all.
  Verdict Add(int socket, const Network& network);

  // Shuts the connection of that peer down, for who serves it to close. `network` is as Network::Text says.
  // Returns false if there is none. It costs a look at all connections. No other of that network is added
  // within the time `keeps_out` from now.
  bool ShutDown(absl::string_view network, std::uint16_t port, std::chrono::steady_clock::duration keeps_out);

  // Returns the networks of the connections that were added within that time, each once and the latest first,
  // but at most kLatest. Some of the connections may have ended. It costs a look at all of them.
  std::vector<Network> Latest(std::chrono::steady_clock::duration time) const;
  static constexpr std::size_t kLatest = 4;

  // One connection: its network, as Network::Text says, and the port of its peer.
  using Peer = std::pair<std::string, std::uint16_t>;
  // Returns how many bytes each of those peers has sent, in the same order; 0 for one that is not here, and
  // for one of a unix socket. It costs a look at all connections.
  std::vector<std::uint64_t> BytesFrom(const std::vector<Peer>& peers) const;

  // Returns the number of open connections.
  std::size_t Count();

 private:
  struct Connection {
    // Of the socket, which no other has while the machine runs.
    ino_t inode;
    Network network;
    // Of the peer.
    std::uint16_t port;
    std::chrono::steady_clock::time_point begin;
  };
  using Connections = absl::flat_hash_map<int, Connection>;

  void Forget(Connections::iterator connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetEnded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes a place of those there are.
  Verdict TakePlace(const Network& network) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void KeepOut(const Network& network, std::chrono::steady_clock::duration time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsKeptOut(const Network& network) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Connections connections_ ABSL_GUARDED_BY(mutex_);
  Quota<Network> places_ ABSL_GUARDED_BY(mutex_);
  // Until when nobody of a network is added. They are forgotten if there are very many.
  absl::flat_hash_map<Network, std::chrono::steady_clock::time_point> kept_out_ ABSL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point next_look_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::net
