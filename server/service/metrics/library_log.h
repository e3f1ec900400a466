// Log lines of the RPC library, in the server's own log.
#pragma once

#include <functional>
#include <string>

namespace waystar::rpc {

// From here on the library's lines are written as event=rpc_library with the place in its sources and its
// message. There are at most LineLimit::kLines a second, since whoever reaches the port can cause them, but
// at level debug all of them. What the library calls an error is a warning here: mostly a client makes it.
//
// The library tells of errors alone unless its variable GRPC_VERBOSITY says more. Thread safety: any.
void RouteLibraryLog();

// Adds what this returns to the library's lines about handshakes, as latest_addresses=: the library does not
// say whose handshake has failed. Null adds nothing. Thread safety: any.
void SetLatestAddresses(std::function<std::string()> latest_addresses);

}  // namespace waystar::rpc
