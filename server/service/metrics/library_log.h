// Log lines of the RPC library in the server's log.
#pragma once

#include <functional>
#include <string>

namespace waystar::rpc {

// Redirects the library's lines to event=rpc_library, with source location and message. At most
// LineLimit::kLines are written per second, since anyone who reaches the port can cause them; at level debug,
// all. Errors of the library are logged as warnings, since clients cause most of them.
//
// The library logs only errors unless its variable GRPC_VERBOSITY is set. Thread safety: any.
void RouteLibraryLog();

// Adds the result of this function to the library's lines about handshakes, as latest_addresses=, since the
// library does not name the peer of a failed handshake. Null adds nothing. Thread safety: any.
void SetLatestAddresses(std::function<std::string()> latest_addresses);

}  // namespace waystar::rpc
