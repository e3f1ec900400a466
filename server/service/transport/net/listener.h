// Listening sockets of one address, and the limit on open file descriptors.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace waystar::net {

// Owner of a file descriptor.
class Descriptor {
 public:
  // A negative number stands for none.
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

  // Passes ownership to the caller.
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    if (fd_ >= 0) {
      ::close(Release());
    }
  }

 private:
  int fd_;
};

// Raises the soft limit on descriptors to the hard limit, and logs it.
void RaiseDescriptorLimit();

// Returns how many connections a descriptor limit allows, at least 1. A quarter of the descriptors, at least
// 32 and at most 256, is reserved for everything else.
std::size_t ConnectionsWithin(std::size_t descriptors);

// Returns the connection limit of a server: `wanted`, or 10,000 if that is 0, or what descriptors allow if
// that is less. Logs a warning if `wanted` is not possible.
std::size_t MaxConnections(std::size_t wanted);

// Non-blocking listening sockets. The destructor closes them, and removes the file of a unix socket.
class Listener {
 public:
  // Listens on HOST:PORT, [ADDRESS]:PORT for IPv6, unix:PATH or unix-abstract:NAME. A host may have the
  // prefix dns:, ipv4: or ipv6:. Port 0 chooses a free one. A name with several addresses listens on all of
  // them; 0.0.0.0 and [::] listen on all IPv4 and IPv6 addresses of the machine.
  //
  // Connections have TCP_NODELAY, and end if sent data stays unacknowledged for `user_timeout`, unless that
  // is 0.
  //
  // Returns INVALID_ARGUMENT if `address` has another form or its port is not from 0 to 65535, and
  // UNAVAILABLE, with the system's message, if it cannot listen on any address.
  static absl::StatusOr<Listener> Open(absl::string_view address,
                                       absl::Duration user_timeout = absl::ZeroDuration());

  Listener(Listener&& other) noexcept = default;
  ~Listener();

  const std::vector<Descriptor>& sockets() const { return sockets_; }
  // Returns the port; 0 for a unix socket.
  int port() const { return port_; }

 private:
  Listener() = default;

  std::vector<Descriptor> sockets_;
  int port_ = 0;
  // Files of unix sockets.
  std::vector<std::string> files_;
};

// Accepts connections even when descriptors have run out.
//
// Thread safety: one thread.
class Acceptor {
 public:
  enum class Outcome : std::uint8_t {
    kAccepted,
    // No connection is waiting.
    kNone,
    // The waiting connection is already gone.
    kGone,
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

  // Accepts a connection, on the reserve descriptor if no other is free; the caller must then close it or
  // another one.
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
