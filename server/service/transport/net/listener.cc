#include "server/service/transport/net/listener.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/runtime/logging.h"

namespace waystar::net {
namespace {

// The kernel lowers it to net.core.somaxconn.
constexpr int kBacklog = 65'535;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

absl::Status SystemError(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

absl::Status BadAddress(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      what, "; give HOST:PORT, [ADDRESS]:PORT, unix:PATH or unix-abstract:NAME, such as 127.0.0.1:7450"));
}

absl::Status CannotBind() {
  if (errno == EADDRINUSE) {
    return absl::UnavailableError("it is in use by another program; give another port, or 0 for a free one");
  }
  return SystemError("bind");
}

void SetOption(const Descriptor& socket, int level, int name, int value) {
  ::setsockopt(socket.fd(), level, name, &value, sizeof(value));
}

// The port is at the same offset in IPv4 and IPv6 addresses.
in_port_t& PortOf(SocketAddress& address) {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  return reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port;
}

bool IsWildcard(const SocketAddress& address) {
  if (address.storage.ss_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr.s_addr == htonl(INADDR_ANY);
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr;
  return IN6_IS_ADDR_UNSPECIFIED(&v6);
}

SocketAddress WildcardOf(sa_family_t family, in_port_t port) {
  SocketAddress address;
  address.storage.ss_family = family;
  address.length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  PortOf(address) = port;
  return address;
}

absl::StatusOr<Descriptor> ListenOn(const SocketAddress& address, absl::Duration user_timeout) {
  const int family = address.storage.ss_family;
  Descriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) {
    return SystemError("socket");
  }
  if (family != AF_UNIX) {
    SetOption(socket, SOL_SOCKET, SO_REUSEADDR, 1);
    // Accepted connections inherit these two options.
    SetOption(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    if (user_timeout > absl::ZeroDuration()) {
      SetOption(socket, IPPROTO_TCP, TCP_USER_TIMEOUT,
                static_cast<int>(absl::ToInt64Milliseconds(user_timeout)));
    }
  }
  if (family == AF_INET6) {
    SetOption(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  }
  if (::bind(socket.fd(), address.get(), address.length) != 0) {
    return CannotBind();
  }
  if (::listen(socket.fd(), kBacklog) != 0) {
    return SystemError("listen");
  }
  return socket;
}

// Listens on IPv6 and IPv4, or on IPv4 only if the machine has no IPv6.
absl::StatusOr<Descriptor> ListenEverywhere(in_port_t port, absl::Duration user_timeout) {
  const Descriptor probe(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress any = WildcardOf(AF_INET6, 0);
  const bool has_v6 = probe.is_open() && ::bind(probe.fd(), any.get(), any.length) == 0;
  return ListenOn(WildcardOf(has_v6 ? AF_INET6 : AF_INET, port), user_timeout);
}

absl::StatusOr<std::vector<SocketAddress>> Resolve(absl::string_view address) {
  for (const absl::string_view scheme : {"dns:///", "dns:", "ipv4:", "ipv6:"}) {
    if (absl::ConsumePrefix(&address, scheme)) {
      break;
    }
  }
  const std::size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) {
    return BadAddress("it has no host, or no port");
  }
  if (colon == 0) {
    return BadAddress("it has no host");
  }
  absl::string_view host = address.substr(0, colon);
  const bool has_bracket = absl::ConsumePrefix(&host, "[");
  if (has_bracket != absl::ConsumeSuffix(&host, "]") || (!has_bracket && absl::StrContains(host, ':'))) {
    return BadAddress("an IPv6 address stands in brackets");
  }
  // getaddrinfo would take the port modulo 65536.
  const std::string port(address.substr(colon + 1));
  if (int number = 0; !absl::SimpleAtoi(port, &number) || number < 0 || number > 65'535) {
    return BadAddress(absl::StrCat("port \"", port, "\" is not a number from 0 to 65535"));
  }
  const addrinfo hints = {
      .ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(std::string(host).c_str(), port.c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(absl::StrCat("host \"", host, "\": ", ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, &::freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    SocketAddress& added = addresses.emplace_back();
    std::memcpy(&added.storage, each->ai_addr, each->ai_addrlen);
    added.length = each->ai_addrlen;
  }
  return addresses;
}

absl::StatusOr<int> BoundPort(const Descriptor& socket) {
  SocketAddress bound;
  bound.length = sizeof(bound.storage);
  if (::getsockname(socket.fd(), bound.get(), &bound.length) != 0) {
    return SystemError("getsockname");
  }
  return ntohs(PortOf(bound));
}

// `name` begins with a zero byte for an abstract socket.
absl::StatusOr<Descriptor> ListenOnUnixSocket(absl::string_view name) {
  SocketAddress address;
  auto& unix_address = *reinterpret_cast<sockaddr_un*>(&address.storage);
  if (name.empty() || name.size() >= sizeof(unix_address.sun_path)) {
    return BadAddress("a unix socket's path has from 1 to 107 bytes");
  }
  unix_address.sun_family = AF_UNIX;
  std::memcpy(unix_address.sun_path, name.data(), name.size());
  const bool is_file = name.front() != '\0';
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (is_file ? 1 : 0));
  // A killed server leaves its socket file behind.
  struct stat file {};
  if (is_file && ::lstat(unix_address.sun_path, &file) == 0 && S_ISSOCK(file.st_mode)) {
    ::unlink(unix_address.sun_path);
  }
  return ListenOn(address, absl::ZeroDuration());
}

}  // namespace

absl::StatusOr<Listener> Listener::Open(absl::string_view address, absl::Duration user_timeout) {
  Listener listener;
  absl::string_view rest = address;
  const bool is_abstract = absl::ConsumePrefix(&rest, "unix-abstract:");
  if (is_abstract || absl::ConsumePrefix(&rest, "unix:")) {
    if (!is_abstract) {
      absl::ConsumePrefix(&rest, "//");
    }
    const absl::string_view prefix("\0", is_abstract ? 1 : 0);
    WAYSTAR_ASSIGN_OR_RETURN(Descriptor socket, ListenOnUnixSocket(absl::StrCat(prefix, rest)));
    listener.sockets_.push_back(std::move(socket));
    if (!is_abstract) {
      listener.files_.emplace_back(rest);
    }
    return listener;
  }
  WAYSTAR_ASSIGN_OR_RETURN(std::vector<SocketAddress> addresses, Resolve(address));
  absl::Status first_error;
  for (SocketAddress& each : addresses) {
    if (PortOf(each) == 0) {
      PortOf(each) = htons(static_cast<in_port_t>(listener.port_));
    }
    absl::StatusOr<Descriptor> socket =
        IsWildcard(each) ? ListenEverywhere(PortOf(each), user_timeout) : ListenOn(each, user_timeout);
    if (!socket.ok()) {
      first_error.Update(socket.status());
      continue;
    }
    WAYSTAR_ASSIGN_OR_RETURN(listener.port_, BoundPort(*socket));
    listener.sockets_.push_back(*std::move(socket));
  }
  if (listener.sockets_.empty()) {
    return first_error;
  }
  if (!first_error.ok()) {
    runtime::Log(runtime::LogLevel::kWarning, "listening_in_part",
                 {{"address", address}, {"error", first_error.message()}});
  }
  return listener;
}

Listener::~Listener() {
  for (const std::string& file : files_) {
    ::unlink(file.c_str());
  }
}

namespace {

Descriptor OpenReserve() { return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

int AcceptOne(int listener) { return ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); }

}  // namespace

void Reset(Descriptor connection) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  ::setsockopt(connection.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

Acceptor::Acceptor() : reserve_(OpenReserve()) {}

Acceptor::Attempt Acceptor::AcceptOnReserve(int listener) {
  // Another thread may have taken the free descriptor before.
  RestoreReserve();
  if (Descriptor connection(AcceptOne(listener)); connection.is_open()) {
    return {Outcome::kAccepted, std::move(connection)};
  }
  switch (errno) {
    case EAGAIN:
      return {Outcome::kNone, Descriptor()};
    case EMFILE:
    case ENFILE:
      return UseReserve(listener);
    case EBADF:
    case EINVAL:
    case ENOBUFS:
    case ENOMEM:
    case ENOTSOCK:
      return {Outcome::kFailed, Descriptor()};
    // Errors of the connection or the network, which accept(2) passes on.
    default:
      return {Outcome::kGone, Descriptor()};
  }
}

void Acceptor::RestoreReserve() {
  if (!reserve_.is_open()) {
    reserve_ = OpenReserve();
  }
}

Acceptor::Attempt Acceptor::UseReserve(int listener) {
  reserve_.Close();
  if (Descriptor connection(AcceptOne(listener)); connection.is_open()) {
    return {Outcome::kOnReserve, std::move(connection)};
  }
  // The kernel checks descriptors first: EMFILE did not mean that a connection was waiting.
  const Outcome outcome = errno == EAGAIN ? Outcome::kNone : Outcome::kFailed;
  RestoreReserve();
  return {outcome, Descriptor()};
}

namespace {

constexpr std::size_t kDefaultConnections = 10'000;

std::size_t DescriptorLimit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
}

}  // namespace

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) {
    return;
  }
  const rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) {
    runtime::Log(runtime::LogLevel::kInfo, "descriptor_limit_raised",
                 {{"from", before}, {"to", limit.rlim_max}});
  } else {
    runtime::Log(runtime::LogLevel::kWarning, "descriptor_limit_not_raised",
                 {{"limit", before}, {"error", std::strerror(errno)}});
  }
}

std::size_t ConnectionsWithin(std::size_t descriptors) {
  const std::size_t reserve = std::clamp<std::size_t>(descriptors / 4, 32, 256);
  return descriptors > reserve ? descriptors - reserve : 1;
}

std::size_t MaxConnections(std::size_t wanted) {
  const std::size_t descriptors = DescriptorLimit();
  const std::size_t possible = ConnectionsWithin(descriptors);
  if (wanted > possible) {
    runtime::Log(runtime::LogLevel::kWarning, "too_few_descriptors",
                 {{"warning", "The limit of open files (ulimit -n) allows fewer than --max_connections."},
                  {"descriptors", descriptors},
                  {"max_connections", possible}});
  }
  return std::min(wanted == 0 ? kDefaultConnections : wanted, possible);
}

}  // namespace waystar::net
