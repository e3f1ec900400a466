// What a server leaves open to the network: reasons not to start, and warnings.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::rpc {

// Returns whether only programs of this machine can reach that address: a loopback one, or a unix socket.
bool IsLocalAddress(absl::string_view listen);

// How a server listens to the network.
struct Listening {
  absl::string_view address;
  bool has_tls = false;
  bool wants_tokens = false;
  bool wants_certificates = false;
};

// Returns FAILED_PRECONDITION, with the ways out, for a server that anyone on the network could end before a
// token is asked for: its RPC library, of a version such as 1.51.1, has published faults, clients need no
// certificates, and nobody has said that only a gateway or a private network reaches it.
absl::Status CheckFaults(const Listening& listening, absl::string_view library_version,
                         bool is_behind_gateway);

// Returns one sentence for each thing that is open to the network, with what closes it.
std::vector<std::string> OpenDoors(const Listening& listening);

// The same for HTTP, which does not pass through the RPC library.
std::vector<std::string> OpenHttpDoors(const Listening& listening);

}  // namespace waystar::rpc
