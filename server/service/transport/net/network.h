// Origin of a connection, at the granularity of connection limits.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace waystar::net {

// An IPv4 address, the first 64 bits of an IPv6 address (the least that a subscriber gets), or a unix socket.
class Network {
 public:
  // Returns the network of a socket's peer; unknown if the peer is already gone.
  static Network OfPeer(int socket);

  // Returns true if the system reported an address or a unix socket.
  bool is_known() const { return kind_ != Kind::kNone; }
  // Returns false for a unix socket, which only programs on this machine can use, and for an unknown peer.
  bool has_address() const { return kind_ == Kind::kV4 || kind_ == Kind::kV6; }
  // Returns a text such as "192.0.2.1", "2001:db8:1:2::/64" or "unix".
  std::string Text() const;

  friend bool operator==(const Network& a, const Network& b) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Network& network) {
    return H::combine(std::move(state), network.kind_, network.bits_);
  }

 private:
  enum class Kind : std::uint8_t { kNone, kUnix, kV4, kV6 };

  Kind kind_ = Kind::kNone;
  // In network byte order.
  std::uint64_t bits_ = 0;
};

// Returns the port of a socket's peer; 0 if it has none.
std::uint16_t PortOfPeer(int socket);

}  // namespace waystar::net
