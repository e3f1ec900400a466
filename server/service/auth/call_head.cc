#include "server/service/auth/call_head.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/support/string_ref.h"
#include "server/service/auth/failed_tokens.h"

namespace waystar::rpc {
namespace {

constexpr char kHttpClientKey[] = "waystar-http-client";

bool CameOverASocket(absl::string_view peer) {
  return absl::StartsWith(peer, "ipv4:") || absl::StartsWith(peer, "ipv6:") ||
         absl::StartsWith(peer, "unix:") || absl::StartsWith(peer, "unix-abstract:");
}

}  // namespace

std::string CallHead::Peer() const {
  if (rpc_ == nullptr) {
    return http_->peer;
  }
  std::string peer = rpc_->peer();
  if (CameOverASocket(peer)) {
    return peer;
  }
  const absl::string_view client = Metadata(kHttpClientKey);
  return client.empty() ? peer : std::string(client);
}

absl::string_view CallHead::Metadata(absl::string_view key) const {
  if (rpc_ == nullptr) {
    const auto found = std::ranges::find(http_->metadata, key,
                                         [](const auto& field) { return absl::string_view(field.first); });
    return found == http_->metadata.end() ? absl::string_view() : absl::string_view(found->second);
  }
  const auto& metadata = rpc_->client_metadata();
  const auto found = metadata.find({key.data(), key.size()});
  return found == metadata.end() ? absl::string_view()
                                 : absl::string_view(found->second.data(), found->second.size());
}

bool CallHead::IsRepeated(absl::string_view key) const {
  // A request over HTTP has one such header.
  return rpc_ != nullptr && rpc_->client_metadata().count({key.data(), key.size()}) > 1;
}

std::chrono::steady_clock::time_point CallHead::Deadline() const {
  using std::chrono::steady_clock;
  using std::chrono::system_clock;
  if (rpc_ == nullptr) {
    return http_->deadline;
  }
  // A deadline this far away counts as none; the conversion might overflow.
  constexpr std::chrono::hours kForever(24 * 365);
  const system_clock::duration left = rpc_->deadline() - system_clock::now();
  return left > kForever ? steady_clock::time_point::max()
                         : steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(left);
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
