// Accepts connections even when descriptors have run out.
#pragma once

#include <cstdint>

#include "server/service/transport/net/descriptor.h"

namespace waystar::net {

// Thread safety: one thread.
class Acceptor {
 public:
  enum class Outcome : std::uint8_t {
    kAccepted,
    // No connection is waiting.
    kNone,
    // The waiting connection is already gone.
    kGone,
    // No descriptor was free: the connection was reset.
    kTurnedAway,
    // No descriptor was free: the connection uses the reserve descriptor.
    kOnReserve,
    // The system lacks resources even for that; try again later.
    kFailed,
  };

  struct Attempt {
    Outcome outcome;
    // The connection, in non-blocking mode.
    Descriptor connection;
  };

  Acceptor();

  Attempt Accept(int listener);

  // Like Accept, but does not reset connections for lack of descriptors: it accepts them on the reserve, and
  // the caller must close another connection.
  Attempt AcceptOnReserve(int listener);
  // Reopens the reserve descriptor if one is free.
  void RestoreReserve();

 private:
  Attempt UseReserve(int listener);

  // Closing it frees a descriptor for a connection that would otherwise fail to be accepted.
  Descriptor reserve_;
};

// Closes a connection with a reset, so that the kernel keeps no state of it.
void Reset(Descriptor connection);

}  // namespace waystar::net
