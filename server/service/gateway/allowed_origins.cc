#include "server/service/gateway/allowed_origins.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace waystar::rpc {
namespace {

// Browsers send scheme and host in lower case, and omit the scheme's default port.
bool IsOrigin(absl::string_view text) {
  absl::string_view host = text;
  if (!absl::ConsumePrefix(&host, "https://") && !absl::ConsumePrefix(&host, "http://")) {
    return false;
  }
  return !host.empty() && host.find_first_of("/?#@*") == absl::string_view::npos &&
         std::none_of(host.begin(), host.end(),
                      [](char c) { return !absl::ascii_isgraph(c) || absl::ascii_isupper(c); });
}

bool IsAddress(const std::string& name) {
  in6_addr address{};
  return inet_pton(AF_INET, name.c_str(), &address) == 1 || inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

bool SameName(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase({a.data(), a.size()}, {b.data(), b.size()});
}

}  // namespace

absl::StatusOr<AllowedOrigins> AllowedOrigins::Parse(absl::string_view text) {
  AllowedOrigins allowed;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    part = absl::StripAsciiWhitespace(part);
    if (part == "*") {
      allowed.allows_all_ = true;
    } else if (IsOrigin(part)) {
      allowed.origins_.emplace_back(part);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("'", part, "' is not an origin: write such as https://game.example, in lower case"));
    }
  }
  return allowed;
}

bool AllowedOrigins::Allows(absl::string_view origin) const {
  return allows_all_ || std::find(origins_.begin(), origins_.end(), origin) != origins_.end();
}

std::string NameOfHost(std::string_view host) {
  if (!host.empty() && host.front() == '[') {
    return std::string(host.substr(1, host.find(']') - 1));
  }
  return std::string(host.substr(0, host.rfind(':')));
}

bool IsOwnHost(std::string_view host, std::string_view own_name) {
  const std::string name = NameOfHost(host);
  return IsAddress(name) || SameName(name, "localhost") || (!own_name.empty() && SameName(name, own_name));
}

bool IsOwnOrigin(std::string_view origin, std::string_view host, bool is_encrypted) {
  absl::string_view rest(origin.data(), origin.size());
  return absl::ConsumePrefix(&rest, is_encrypted ? "https://" : "http://") &&
         SameName({rest.data(), rest.size()}, host);
}

}  // namespace waystar::rpc
