#include "server/service/auth/peer.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/service/auth/failed_tokens.h"

namespace waystar::rpc {
namespace {

constexpr char kHttpClientKey[] = "waystar-http-client";

bool CameOverASocket(absl::string_view peer) {
  return absl::StartsWith(peer, "ipv4:") || absl::StartsWith(peer, "ipv6:") ||
         absl::StartsWith(peer, "unix:") || absl::StartsWith(peer, "unix-abstract:");
}

}  // namespace

std::string PeerOf(const grpc::ServerContextBase& context) {
  std::string peer = context.peer();
  if (CameOverASocket(peer)) {
    return peer;
  }
  const auto client = context.client_metadata().find(kHttpClientKey);
  return client == context.client_metadata().end()
             ? peer
             : std::string(client->second.data(), client->second.size());
}

std::string PeerOverHttp(absl::string_view address) {
  const absl::string_view kind = absl::StrContains(address, ':') ? "ipv6:[" : "ipv4:";
  const absl::string_view end = absl::StrContains(address, ':') ? "]:0" : ":0";
  return absl::StrCat("http:", NetworkOf(absl::StrCat(kind, address, end)));
}

void SetHttpClient(absl::string_view address, grpc::ClientContext& context) {
  context.AddMetadata(kHttpClientKey, PeerOverHttp(address));
}

}  // namespace waystar::rpc
