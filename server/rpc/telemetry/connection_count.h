// Count of the connections to the server, which GetServerStatistics reports.
#pragma once

#include <cstdint>
#include <optional>

namespace waystar::rpc {

// Returns the channelz id of this process's server that was started last; 0 if the RPC library keeps none.
std::int64_t NewestServer();

// Returns the number of connections to that server; nothing for 0. Takes some microseconds a connection.
std::optional<std::int64_t> CountConnections(std::int64_t server);

}  // namespace waystar::rpc
