// Checks what a server exposes to the network: reasons not to start, and warnings.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::rpc {

// Returns true if the address is only reachable from this machine: a loopback address or a unix socket.
bool IsLocalAddress(absl::string_view listen);

// How a server listens on the network.
struct Listening {
  absl::string_view address;
  bool has_tls = false;
  bool wants_tokens = false;
  bool wants_certificates = false;
};

// Returns FAILED_PRECONDITION, with the remedies, for a server that anyone on the network could crash before
// authentication: the version of its RPC library, such as 1.51.1, has published vulnerabilities, client
// certificates are not required, and `is_behind_gateway` is not set.
absl::Status CheckFaults(const Listening& listening, absl::string_view library_version,
                         bool is_behind_gateway);

// Returns one sentence for each exposure to the network, with its remedy. With `is_http`, the server listens
// for HTTP, which does not pass through the RPC library.
std::vector<std::string> OpenDoors(const Listening& listening, bool is_http = false);

}  // namespace waystar::rpc
