// Limit on open descriptors, and how many of them are for connections.
#pragma once

#include <cstddef>

namespace waystar::net {

// Raises the soft limit on descriptors to the hard limit, and logs it.
void RaiseDescriptorLimit();

// Returns how many connections a descriptor limit allows. A quarter of the descriptors, at least 32 and at
// most 256, is reserved for everything else. At least 1.
std::size_t ConnectionsWithin(std::size_t descriptors);

// Returns the connection limit of a server: `wanted`, or 10,000 if that is 0, or what descriptors allow if
// that is less. Logs a warning if `wanted` is not possible.
std::size_t MaxConnections(std::size_t wanted);

}  // namespace waystar::net
