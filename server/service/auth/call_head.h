// The sender, metadata and deadline of a call.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "grpcpp/client_context.h"
#include "grpcpp/server_context.h"

namespace waystar::rpc {

struct HttpHead {
  // In the format of PeerOverHttp.
  std::string peer;
  // Keys are in lower case.
  std::vector<std::pair<std::string, std::string>> metadata;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// Refers to the head of a call over gRPC or over HTTP, which must outlive this.
//
// Thread safety: that of a value.
class CallHead {
 public:
  // Functions that take a head take either of these.
  CallHead(const grpc::ServerContextBase& rpc) : rpc_(&rpc) {}  // NOLINT(google-explicit-constructor)
  CallHead(const HttpHead& http) : http_(&http) {}              // NOLINT(google-explicit-constructor)

  // Returns the peer as named by the RPC library, such as "ipv4:192.0.2.1:50432", or for a call over HTTP
  // "http:" and the network of its client, such as "http:192.0.2.1" or "http:2001:db8::/64". Peers thus
  // identify gRPC clients by connection, and HTTP clients, whose connections carry one call at a time, by
  // address.
  std::string Peer() const;

  // Returns the first value of a key, or an empty text if it is missing. The call keeps it.
  absl::string_view Metadata(absl::string_view key) const;
  // Returns true if the key has several values.
  bool IsRepeated(absl::string_view key) const;

  // Returns the deadline on the clock of core::Budget; its max if there is none.
  std::chrono::steady_clock::time_point Deadline() const;

 private:
  const grpc::ServerContextBase* rpc_ = nullptr;
  const HttpHead* http_ = nullptr;
};

// Returns the name of an HTTP client by its address, such as "192.0.2.1" or "2001:db8::1".
std::string PeerOverHttp(absl::string_view address);

// Makes CallHead::Peer return that address for a call on an in-process channel. Ignored on any other channel.
void SetHttpClient(absl::string_view address, grpc::ClientContext& context);

}  // namespace waystar::rpc
