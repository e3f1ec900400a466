// TLS handshake that finds out why connections to etcd fail, since the gRPC library does not say.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "server/storage/etcd/etcd_address.h"
#include "server/storage/etcd/etcd_client.h"

namespace waystar::etcd {

enum class HandshakeEnd : std::uint8_t { kRefused, kNotRefused, kNoAnswer };

struct Handshake {
  HandshakeEnd end = HandshakeEnd::kNoAnswer;
  // For kRefused: which side rejects which certificate, and why.
  std::string why;
};

// Performs a handshake with a member. `patience` limits each attempt to connect, each read and each write.
// The files must be usable, as checked by Client::Open.
Handshake ShakeHands(const Endpoint& endpoint, const TlsFiles& files, absl::Duration patience);

}  // namespace waystar::etcd
