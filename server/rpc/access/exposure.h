// What a server leaves open, in words for its operator.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace waystar::rpc {

// Whether only programs of this machine reach a server that listens there: on a loopback address, or a unix
// socket.
bool IsLocalAddress(absl::string_view listen);

// One sentence for each thing that is open to the network on that address, with the flag that closes it.
// `asks_who` is whether clients must show who they are, by a token or a certificate.
std::vector<std::string> OpenDoors(absl::string_view listen, bool has_tls, bool asks_who);

}  // namespace waystar::rpc
