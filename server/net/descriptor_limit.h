// How many descriptors the process may have open, and how many of them are for connections.
#pragma once

#include <cstddef>

namespace waystar::net {

// Raises the limit of descriptors to the most that the system allows this process, and logs it.
void RaiseDescriptorLimit();

// Returns how many connections a limit of descriptors leaves room for: all but a quarter of them, which is at
// least 32 and at most 256, for files and everything else. At least 1.
std::size_t ConnectionsWithin(std::size_t descriptors);

// Returns the limit of connections of a server that was asked for `wanted`, or for the default by 0. The
// default is 10,000; descriptors may not allow as many, which is logged if they were asked for.
std::size_t MaxConnections(std::size_t wanted);

}  // namespace waystar::net
