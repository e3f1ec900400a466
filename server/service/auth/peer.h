// Who is at the other end of a call.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "grpcpp/client_context.h"
#include "grpcpp/server_context.h"

namespace waystar::rpc {

// Returns the peer of a call: as the RPC library names it, such as "ipv4:192.0.2.1:50432", or for a call that
// came over HTTP "http:" and the network of its client, such as "http:192.0.2.1" or "http:2001:db8::/64". So
// what names a client by its peer knows one of gRPC by its connection and one of HTTP, where a connection is
// good for one call at a time, by its address.
std::string PeerOf(const grpc::ServerContextBase& context);

// Returns what names a client over HTTP by its address, such as "192.0.2.1" or "2001:db8::1".
std::string PeerOverHttp(absl::string_view address);

// Makes PeerOf name that address for a call on an in-process channel. It is not believed of any other.
void SetHttpClient(absl::string_view address, grpc::ClientContext& context);

}  // namespace waystar::rpc
