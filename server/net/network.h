// Where a connection comes from, as coarsely as limits tell clients apart.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace waystar::net {

// An IPv4 address, the first 64 bits of an IPv6 address (what one subscriber gets at the least), or this
// machine by a unix socket.
class Network {
 public:
  // Returns the network of the peer of a socket. That of a peer that is gone already is not known.
  static Network OfPeer(int socket);

  // Returns whether the system told where the peer is.
  bool is_known() const { return kind_ != Kind::kNone; }
  // Returns whether others than programs of this machine may be behind it: it has an address.
  bool has_address() const { return kind_ == Kind::kV4 || kind_ == Kind::kV6; }
  // Returns such as "192.0.2.1", "2001:db8:1:2::/64" or "unix".
  std::string Text() const;

  friend bool operator==(const Network& a, const Network& b) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Network& network) {
    return H::combine(std::move(state), network.kind_, network.bits_);
  }

 private:
  enum class Kind : std::uint8_t { kNone, kUnix, kV4, kV6 };

  Kind kind_ = Kind::kNone;
  // In the order of the network.
  std::uint64_t bits_ = 0;
};

// Returns the port of the peer of a socket; 0 if it has none.
std::uint16_t PortOfPeer(int socket);

}  // namespace waystar::net
