// Warnings of what a server leaves open to the network.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace waystar::rpc {

// Returns whether only programs of this machine can reach that address: a loopback one, or a unix socket.
bool IsLocalAddress(absl::string_view listen);

// Returns one sentence for each thing that is open to the network on that address, with the flag that closes
// it. `asks_who` says whether clients must show who they are, by a token or a certificate.
std::vector<std::string> OpenDoors(absl::string_view listen, bool has_tls, bool asks_who);

}  // namespace waystar::rpc
