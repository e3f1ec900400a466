#include "server/service/transport/net/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace waystar::net {

Network Network::OfPeer(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  Network network;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return network;
  }
  if (address.ss_family == AF_INET) {
    network.kind_ = Kind::kV4;
    std::memcpy(&network.bits_, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, sizeof(in_addr));
  } else if (address.ss_family == AF_INET6) {
    const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    const bool is_mapped = IN6_IS_ADDR_V4MAPPED(&v6);
    network.kind_ = is_mapped ? Kind::kV4 : Kind::kV6;
    std::memcpy(&network.bits_, v6.s6_addr + (is_mapped ? 12 : 0), is_mapped ? 4 : 8);
  } else {
    network.kind_ = Kind::kUnix;
  }
  return network;
}

std::string Network::Text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  in6_addr address{};
  std::memcpy(&address, &bits_, sizeof(bits_));
  switch (kind_) {
    case Kind::kV4:
      return ::inet_ntop(AF_INET, &address, text.data(), text.size());
    case Kind::kV6:
      return absl::StrCat(::inet_ntop(AF_INET6, &address, text.data(), text.size()), "/64");
    case Kind::kUnix:
      return "unix";
    case Kind::kNone:
      break;
  }
  return "unknown";
}

std::uint16_t PortOfPeer(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return 0;
  }
  switch (address.ss_family) {
    case AF_INET:
      return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
    case AF_INET6:
      return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
    default:
      return 0;
  }
}

}  // namespace waystar::net
