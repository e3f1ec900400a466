#include "server/service/transport/net/acceptor.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace waystar::net {
namespace {

Descriptor OpenReserve() { return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

int AcceptOne(int listener) { return ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); }

}  // namespace

void Reset(Descriptor connection) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  ::setsockopt(connection.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

Acceptor::Acceptor() : reserve_(OpenReserve()) {}

Acceptor::Attempt Acceptor::Accept(int listener) {
  Attempt attempt = AcceptOnReserve(listener);
  if (attempt.outcome == Outcome::kOnReserve) {
    Reset(std::move(attempt.connection));
    RestoreReserve();
    return {Outcome::kTurnedAway, Descriptor()};
  }
  return attempt;
}

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
    // Errors of the connection or the network, which accept(2) passes on.
    case ECONNABORTED:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case EINTR:
    case ENETDOWN:
    case ENETUNREACH:
    case ENONET:
    case ENOPROTOOPT:
    case EOPNOTSUPP:
    case EPERM:
    case EPROTO:
      return {Outcome::kGone, Descriptor()};
    default:
      return {Outcome::kFailed, Descriptor()};
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

}  // namespace waystar::net
