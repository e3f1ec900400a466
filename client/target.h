#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::client {

// Returns the name by which gRPC knows what Options::target says: "10.0.0.1:7450,10.0.0.2:7450" is
// "ipv4:10.0.0.1:7450,10.0.0.2:7450", and what is not a list stays as it is. Errors: INVALID_ARGUMENT for an
// empty target, and for a list of anything but IP addresses with ports, all of one family.
absl::StatusOr<std::string> GrpcTarget(absl::string_view target);

// Whether `target` lists more than one address.
bool HasSeveralAddresses(absl::string_view target);

// Whether all that is sent to `target` stays on this machine.
bool IsOnThisMachine(absl::string_view target);

// The port of a single HOST:PORT, or 0.
int PortOf(absl::string_view target);

}  // namespace waystar::client
