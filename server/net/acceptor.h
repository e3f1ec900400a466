// Accepting of connections that goes on where descriptors have run out.
#pragma once

#include <cstdint>

#include "server/net/descriptor.h"

namespace waystar::net {

// Thread safety: one thread.
class Acceptor {
 public:
  enum class Outcome : std::uint8_t {
    kAccepted,
    // Nobody waits to be accepted.
    kNone,
    // Somebody waited, and is gone.
    kGone,
    // No descriptor was free: the connection was reset.
    kTurnedAway,
    // No descriptor was free: the connection has that of the reserve.
    kOnReserve,
    // The system lacks what it takes even for that: try again later.
    kFailed,
  };

  struct Attempt {
    Outcome outcome;
    // The connection, which does not block.
    Descriptor connection;
  };

  Acceptor();

  Attempt Accept(int listener);

  // As Accept, but turns nobody away: the connection is accepted on the reserve, for which the caller closes
  // another one.
  Attempt AcceptOnReserve(int listener);
  // Makes sure of a reserve, if a descriptor is free.
  void RestoreReserve();

 private:
  Attempt UseReserve(int listener);

  // A descriptor in reserve: closing it makes room for a connection that is turned away.
  Descriptor reserve_;
};

// Closes a connection so that its peer sees a reset, and this machine remembers nothing of it.
void Reset(Descriptor connection);

}  // namespace waystar::net
