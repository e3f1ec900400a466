// Finds out why no connection over TLS comes about: the RPC library does not tell.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "server/etcd/etcd_address.h"
#include "server/etcd/etcd_client.h"

namespace waystar::etcd {

enum class HandshakeEnd : std::uint8_t { kRefused, kNotRefused, kNoAnswer };

struct Handshake {
  HandshakeEnd end = HandshakeEnd::kNoAnswer;
  // For kRefused: who refuses which certificate, and why.
  std::string why;
};

// Shakes hands with a member, and takes at most twice `patience` for it, beside finding its host. The files
// are those of a client that could be opened.
Handshake ShakeHands(const Endpoint& endpoint, const TlsFiles& files, absl::Duration patience);

}  // namespace waystar::etcd
