// The listening sockets of one address.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/net/descriptor.h"

namespace waystar::net {

// Sockets that listen, and do not block. Destruction closes them, and removes the file of a unix socket.
class Listener {
 public:
  // `address` is HOST:PORT, [ADDRESS]:PORT for IPv6, unix:PATH or unix-abstract:NAME; dns:, ipv4: and ipv6:
  // may stand before a host. Port 0 takes a free one. A name that stands for several addresses listens on all
  // of them, and 0.0.0.0 or [::] on all addresses of the machine, of both kinds where it has both.
  //
  // Connections send small messages at once, and end when what was sent to them stays unacknowledged for
  // `user_timeout`, unless that is 0.
  //
  // Returns INVALID_ARGUMENT, with what may be given, if `address` is none of these, or its port is not from
  // 0 to 65535; UNAVAILABLE, with what the system says, if no such socket can listen.
  static absl::StatusOr<Listener> Open(absl::string_view address,
                                       absl::Duration user_timeout = absl::ZeroDuration());

  Listener(Listener&& other) noexcept = default;
  ~Listener();

  const std::vector<Descriptor>& sockets() const { return sockets_; }
  // Returns the port; 0 of a unix socket.
  int port() const { return port_; }

 private:
  Listener() = default;

  std::vector<Descriptor> sockets_;
  int port_ = 0;
  // The files of unix sockets.
  std::vector<std::string> files_;
};

}  // namespace waystar::net
