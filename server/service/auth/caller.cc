#include "server/service/auth/caller.h"

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/service/auth/failed_tokens.h"

namespace waystar::rpc {
namespace {

absl::string_view VerbOf(Permission permission) {
  switch (permission) {
    case Permission::kRead:
      return "read";
    case Permission::kUpdate:
      return "update";
    case Permission::kAdmin:
      break;
  }
  return "administer";
}

absl::Status NotPermitted(const Token& token, Permission permission, absl::string_view what,
                          absl::string_view field) {
  return MakeError(ErrorReason::kNotPermitted, field,
                   absl::StrCat("the token \"", token.name, "\" may not ", VerbOf(permission), " ", what));
}

}  // namespace

absl::Status Caller::Denied(Permission permission, absl::string_view map, absl::string_view field) const {
  // Maximum length of a map id; longer values are not ids.
  constexpr std::size_t kShownBytes = 63;
  return NotPermitted(*token_, permission,
                      absl::StrCat("the map \"", absl::CHexEscape(map.substr(0, kShownBytes)), "\""), field);
}

absl::Status Caller::CheckSomewhere(Permission permission) const {
  return is_anyone() || token_->MaySomewhere(permission) ? absl::OkStatus()
                                                         : NotPermitted(*token_, permission, "any map", "");
}

absl::Status Caller::CheckEverywhere(Permission permission) const {
  return is_anyone() || token_->MayEverywhere(permission)
             ? absl::OkStatus()
             : NotPermitted(*token_, permission, "the server", "");
}

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
