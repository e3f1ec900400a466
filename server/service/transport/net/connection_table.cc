#include "server/service/transport/net/connection_table.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace waystar::net {
namespace {

// Ratio of the interval between scans to a scan's duration.
constexpr int kRestAfterLook = 20;

constexpr std::size_t kMostKeptOut = 4096;

// Returns the inode of a socket; 0 if the descriptor is not a socket.
ino_t InodeOf(int socket) {
  struct stat status {};
  return ::fstat(socket, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

// Returns the bytes that a connection has received; 0 if the system does not say.
std::uint64_t BytesReceivedBy(int socket) {
  tcp_info info{};
  socklen_t length = sizeof(info);
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 ? info.tcpi_bytes_received : 0;
}

}  // namespace

ConnectionTable::Verdict ConnectionTable::Add(int socket, const Network& network) {
  MutexLock lock(mutex_);
  if (IsKeptOut(network)) {
    return Verdict::kKeptOut;
  }
  // The previous owner of this descriptor has closed it.
  if (const auto before = connections_.find(socket); before != connections_.end()) {
    Forget(before);
  }
  Verdict verdict = TakePlace(network);
  if (verdict != Verdict::kAdmitted) {
    ForgetEnded();
    verdict = TakePlace(network);
  }
  if (verdict == Verdict::kAdmitted) {
    connections_.emplace(socket, Connection{.inode = InodeOf(socket),
                                            .network = network,
                                            .port = PortOfPeer(socket),
                                            .begin = std::chrono::steady_clock::now()});
  }
  return verdict;
}

bool ConnectionTable::ShutDown(absl::string_view network, std::uint16_t port,
                               std::chrono::steady_clock::duration keeps_out) {
  MutexLock lock(mutex_);
  for (const auto& [socket, connection] : connections_) {
    // The owner may close the socket between check and shutdown. The new owner of the descriptor must then
    // reconnect.
    if (connection.port == port && connection.network.has_address() && connection.network.Text() == network &&
        InodeOf(socket) == connection.inode) {
      KeepOut(connection.network, keeps_out);
      return ::shutdown(socket, SHUT_RDWR) == 0;
    }
  }
  return false;
}

std::vector<Network> ConnectionTable::Latest(std::chrono::steady_clock::duration time) const {
  const auto since = std::chrono::steady_clock::now() - time;
  std::vector<std::pair<std::chrono::steady_clock::time_point, Network>> latest;
  {
    MutexLock lock(mutex_);
    for (const auto& [socket, connection] : connections_) {
      if (connection.begin >= since) {
        latest.emplace_back(connection.begin, connection.network);
      }
    }
  }
  std::sort(latest.begin(), latest.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Network> networks;
  for (const auto& [begin, network] : latest) {
    if (networks.size() < kLatest && std::find(networks.begin(), networks.end(), network) == networks.end()) {
      networks.push_back(network);
    }
  }
  return networks;
}

std::vector<std::uint64_t> ConnectionTable::BytesFrom(const std::vector<Peer>& peers) const {
  absl::flat_hash_map<Peer, std::size_t> places;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    places.emplace(peers[i], i);
  }
  std::vector<std::uint64_t> bytes(peers.size(), 0);
  MutexLock lock(mutex_);
  for (const auto& [socket, connection] : connections_) {
    const auto place = places.find({connection.network.Text(), connection.port});
    if (place != places.end() && InodeOf(socket) == connection.inode) {
      bytes[place->second] = BytesReceivedBy(socket);
    }
  }
  return bytes;
}

std::size_t ConnectionTable::Count() {
  MutexLock lock(mutex_);
  ForgetEnded();
  return connections_.size();
}

void ConnectionTable::Forget(Connections::iterator connection) {
  places_.GiveBack(connection->second.network);
  connections_.erase(connection);
}

void ConnectionTable::ForgetEnded() {
  const auto begin = std::chrono::steady_clock::now();
  if (begin < next_look_) {
    return;
  }
  for (auto each = connections_.begin(); each != connections_.end();) {
    const auto connection = each++;
    if (InodeOf(connection->first) != connection->second.inode) {
      Forget(connection);
    }
  }
  const auto end = std::chrono::steady_clock::now();
  next_look_ = end + kRestAfterLook * (end - begin);
}

void ConnectionTable::KeepOut(const Network& network, std::chrono::steady_clock::duration time) {
  if (time <= std::chrono::steady_clock::duration::zero()) {
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (kept_out_.size() >= kMostKeptOut) {
    absl::erase_if(kept_out_, [now](const auto& each) { return each.second <= now; });
  }
  if (kept_out_.size() >= kMostKeptOut) {
    kept_out_.clear();
  }
  kept_out_[network] = now + time;
}

bool ConnectionTable::IsKeptOut(const Network& network) const {
  const auto found = kept_out_.find(network);
  return found != kept_out_.end() && std::chrono::steady_clock::now() < found->second;
}

ConnectionTable::Verdict ConnectionTable::TakePlace(const Network& network) {
  if (places_.free() == 0) {
    return Verdict::kTooMany;
  }
  if (!network.has_address()) {
    places_.TakeAnyway(network);
    return Verdict::kAdmitted;
  }
  return places_.Take(network) ? Verdict::kAdmitted : Verdict::kTooManyOfNetwork;
}

Network Network::OfPeer(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  Network network;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return network;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const in_addr& v4 = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    network.text_ = ::inet_ntop(AF_INET, &v4, text.data(), text.size());
  } else if (address.ss_family != AF_INET6) {
    network.text_ = "unix";
  } else if (in6_addr v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
             IN6_IS_ADDR_V4MAPPED(&v6)) {
    network.text_ = ::inet_ntop(AF_INET, v6.s6_addr + 12, text.data(), text.size());
  } else {
    std::fill(v6.s6_addr + 8, v6.s6_addr + 16, 0);
    network.text_ = absl::StrCat(::inet_ntop(AF_INET6, &v6, text.data(), text.size()), "/64");
  }
  return network;
}

std::uint16_t PortOfPeer(int socket) {
  sockaddr_in6 address{};
  socklen_t length = sizeof(address);
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return 0;
  }
  // The port is at the same offset in IPv4 and IPv6 addresses.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  const bool has_port = address.sin6_family == AF_INET || address.sin6_family == AF_INET6;
  return has_port ? ntohs(address.sin6_port) : 0;
}

}  // namespace waystar::net
