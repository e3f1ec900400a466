// Warnings of what a server leaves open to the network.
#pragma once

#include <string>
#include <vector>

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
  // The version of the RPC library, such as 1.51.1.
  absl::string_view library_version;
};

// Returns one sentence for each thing that is open to the network, with what closes it.
std::vector<std::string> OpenDoors(const Listening& listening);

// The same for HTTP, which does not pass through the RPC library.
std::vector<std::string> OpenHttpDoors(const Listening& listening);

}  // namespace waystar::rpc
