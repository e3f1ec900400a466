#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::client {

// Port of a target without one.
inline constexpr int kDefaultPort = 7450;

// Returns the name by which gRPC knows what Options::target says: "localhost" is "localhost:7450", and
// "10.0.0.1,10.0.0.2:7451" is "ipv4:10.0.0.1:7450,10.0.0.2:7451". Errors: INVALID_ARGUMENT for an empty
// target, a port that is not a number from 1 to 65535, a URL of the web, and for a list of anything but IP
// addresses, all of one family.
absl::StatusOr<std::string> GrpcTarget(absl::string_view target);

// Returns true if `target` lists more than one address.
bool HasSeveralAddresses(absl::string_view target);

// Returns true if `target` may be more than one server: it lists several addresses, or it is a name with the
// scheme of a resolver, such as dns:///. A name without a scheme is one server, whatever its addresses.
bool StandsForSeveralServers(absl::string_view target);

// Returns true if `target` is the address of one server, and not a name.
bool IsAddress(absl::string_view target);

// Returns true if everything sent to `target` stays on this machine.
bool IsOnThisMachine(absl::string_view target);

struct Endpoint {
  // Without brackets.
  std::string host;
  int port = 0;
};

// Returns the host and port of a target that GrpcTarget accepts, the first of a list; nothing for targets
// without either, such as a unix socket.
std::optional<Endpoint> FirstEndpoint(absl::string_view target);

}  // namespace waystar::client
