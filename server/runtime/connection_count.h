#pragma once

#include <cstdint>
#include <optional>

namespace waystar::runtime {

// TCP connections that are open at a port of this machine, as its kernel tells: nothing where it does not.
// Takes time in proportion to all sockets of the machine, some milliseconds for ten thousand.
std::optional<std::int64_t> CountConnections(int port);

}  // namespace waystar::runtime
