#pragma once

#include <cstdint>
#include <optional>

namespace waystar::rpc {

// The number under which the RPC library keeps account, for channelz, of the server of this process that was
// started last; 0 where it does not.
std::int64_t NewestServer();

// Connections to the server of that number: nothing if it is 0. Takes some microseconds a connection.
std::optional<std::int64_t> CountConnections(std::int64_t server);

}  // namespace waystar::rpc
