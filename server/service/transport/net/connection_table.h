// Table of open connections, counted in total and by network.
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

namespace waystar::net {

// Origin of a connection, at the granularity of connection limits: an IPv4 address, the first 64 bits of an
// IPv6 address (the least that a subscriber gets), or a unix socket.
class Network {
 public:
  // Returns the network of a socket's peer; unknown if the peer is already gone.
  static Network OfPeer(int socket);

  // Returns true if the system reported an address or a unix socket.
  bool is_known() const { return !text_.empty(); }
  // Returns false for a unix socket, which only programs on this machine can use, and for an unknown peer.
  bool has_address() const { return is_known() && text_ != "unix"; }
  // Returns a text such as "192.0.2.1", "2001:db8:1:2::/64" or "unix"; empty if unknown.
  const std::string& Text() const { return text_; }

  friend bool operator==(const Network& a, const Network& b) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Network& network) {
    return H::combine(std::move(state), network.text_);
  }

 private:
  std::string text_;
};

// Returns the port of a socket's peer; 0 if it has none.
std::uint16_t PortOfPeer(int socket);

struct ConnectionLimits {
  std::size_t max_connections = 1;
  // Limit per network (Network).
  std::size_t max_network_connections = 1;
};

// Tracks connections that others own and close without notice: a connection has ended once its descriptor is
// closed or refers to another socket. All connections are scanned when a limit is reached or the number is
// requested, but for at most a twentieth of the time. So the table may be out of date by twenty times the
// duration of a scan: 40 ms with 10,000 connections.
//
// Thread safety: any method may be called from any thread.
class ConnectionTable {
 public:
  // Result of an attempt to enter. kNoDescriptor is for callers that could not even accept the connection.
  enum class Verdict : std::uint8_t { kAdmitted, kTooMany, kTooManyOfNetwork, kKeptOut, kNoDescriptor };
  static constexpr std::size_t kVerdicts = 5;

  explicit ConnectionTable(const ConnectionLimits& limits)
      : places_(Quota<Network>::Fixed(limits.max_connections, limits.max_network_connections)) {}

  // Adds an open connection unless a limit is reached. Unix sockets count only towards the total.
  Verdict Add(int socket, const Network& network);

  // Shuts down the connection of that peer; its owner then closes it. `network` is a Network::Text. Returns
  // false if the peer has none. No connection of that network is added for the next `keeps_out`. Costs
  // O(connections).
  bool ShutDown(absl::string_view network, std::uint16_t port, std::chrono::steady_clock::duration keeps_out);

  // Returns the networks of the connections added within the last `time`, without duplicates, latest first,
  // at most kLatest. Includes ended connections. Costs O(connections), plus a sort of the recent ones.
  std::vector<Network> Latest(std::chrono::steady_clock::duration time) const;
  static constexpr std::size_t kLatest = 4;

  // A connection: its Network::Text and the port of its peer.
  using Peer = std::pair<std::string, std::uint16_t>;
  // Returns the bytes received from each peer, in order; 0 for an unknown peer or a unix socket. Costs
  // O(connections).
  std::vector<std::uint64_t> BytesFrom(const std::vector<Peer>& peers) const;

  // Returns the number of open connections.
  std::size_t Count();

 private:
  struct Connection {
    // Inode of the socket, unique while the machine runs.
    ino_t inode;
    Network network;
    // Port of the peer.
    std::uint16_t port;
    std::chrono::steady_clock::time_point begin;
  };
  using Connections = absl::flat_hash_map<int, Connection>;

  void Forget(Connections::iterator connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetEnded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes a slot for a connection if the limits allow.
  Verdict TakePlace(const Network& network) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void KeepOut(const Network& network, std::chrono::steady_clock::duration time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsKeptOut(const Network& network) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Connections connections_ ABSL_GUARDED_BY(mutex_);
  Quota<Network> places_ ABSL_GUARDED_BY(mutex_);
  // Networks that are kept out, and until when. Cleared if there are too many.
  absl::flat_hash_map<Network, std::chrono::steady_clock::time_point> kept_out_ ABSL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point next_look_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::net
