// Identification of the peer of a call.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "grpcpp/client_context.h"
#include "grpcpp/server_context.h"

namespace waystar::rpc {

// Returns the peer of a call as named by the RPC library, such as "ipv4:192.0.2.1:50432", or for a call over
// HTTP "http:" and the network of its client, such as "http:192.0.2.1" or "http:2001:db8::/64". Peers thus
// identify gRPC clients by connection, and HTTP clients, whose connections carry one call at a time, by
// address.
std::string PeerOf(const grpc::ServerContextBase& context);

// Returns the name of an HTTP client by its address, such as "192.0.2.1" or "2001:db8::1".
std::string PeerOverHttp(absl::string_view address);

// Makes PeerOf return that address for a call on an in-process channel. Ignored on any other channel.
void SetHttpClient(absl::string_view address, grpc::ClientContext& context);

}  // namespace waystar::rpc
