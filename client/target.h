#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::client {

// The port of a target that names none.
inline constexpr int kDefaultPort = 7450;

// Returns the name by which gRPC knows what Options::target says: "localhost" is "localhost:7450", and
// "10.0.0.1,10.0.0.2:7451" is "ipv4:10.0.0.1:7450,10.0.0.2:7451". Errors: INVALID_ARGUMENT for an empty
// target, a port that is not a number from 1 to 65535, a URL of the web, and for a list of anything but IP
// addresses, all of one family.
absl::StatusOr<std::string> GrpcTarget(absl::string_view target);

// Whether `target` lists more than one address.
bool HasSeveralAddresses(absl::string_view target);

// Whether `target` may stand for more than one server: it lists several addresses, or it is a name with the
// scheme of what resolves it, such as dns:///. A name without one is that of one server, whatever addresses
// it has.
bool StandsForSeveralServers(absl::string_view target);

// Whether `target` is the address of one server, and no name.
bool IsAddress(absl::string_view target);

// Whether all that is sent to `target` stays on this machine.
bool IsOnThisMachine(absl::string_view target);

struct Endpoint {
  // Without brackets.
  std::string host;
  int port = 0;
};

// Returns the host and port of a target that GrpcTarget takes, the first of a list; nothing for one that
// stands for neither, such as a unix socket.
std::optional<Endpoint> FirstEndpoint(absl::string_view target);

}  // namespace waystar::client
