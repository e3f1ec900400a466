#include "server/storage/etcd/etcd_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"

namespace waystar::etcd {
namespace {

absl::Status Bad(absl::string_view field, absl::string_view message) {
  return MakeError(ErrorReason::kBadValue, field, message);
}

bool IsIp6(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

bool IsName(absl::string_view host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_';
  });
}

absl::StatusOr<Endpoint> ParseEndpoint(absl::string_view text, const std::string& field) {
  Endpoint endpoint;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "[")) {
    const std::size_t end = std::min(rest.find(']'), rest.size());
    endpoint.host = std::string(rest.substr(0, end));
    rest.remove_prefix(end);
    if (!absl::ConsumePrefix(&rest, "]") || !IsIp6(endpoint.host)) {
      return Bad(field, absl::StrCat("'", text, "' has no IPv6 address in its brackets"));
    }
  } else {
    endpoint.host = std::string(rest.substr(0, rest.find(':')));
    rest.remove_prefix(endpoint.host.size());
    if (std::count(rest.begin(), rest.end(), ':') > 1) {
      return Bad(field, absl::StrCat("'", text, "' has several colons: an IPv6 address is in brackets"));
    }
    if (!IsName(endpoint.host)) {
      return Bad(field, absl::StrCat("'", text, "' has no host: write HOST or HOST:PORT"));
    }
  }
  if (rest.empty()) {
    return endpoint;
  }
  int port = 0;
  if (!absl::ConsumePrefix(&rest, ":") || !absl::SimpleAtoi(rest, &port) || port < 1 || port > 65535) {
    return Bad(field, absl::StrCat("'", text, "': the port is a number from 1 to 65535"));
  }
  endpoint.port = static_cast<std::uint16_t>(port);
  return endpoint;
}

absl::StatusOr<std::vector<Endpoint>> ParseEndpoints(absl::string_view text) {
  if (text.empty()) {
    return Bad("hosts", "there is no host: write etcd://HOST:PORT/PREFIX");
  }
  if (absl::StrContains(text, '@')) {
    return Bad("hosts", "user and password are in a file of their own, not in the address");
  }
  std::vector<Endpoint> endpoints;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::string field = absl::StrCat("hosts[", endpoints.size(), "]");
    WAYSTAR_ASSIGN_OR_RETURN(Endpoint endpoint, ParseEndpoint(part, field));
    if (std::find(endpoints.begin(), endpoints.end(), endpoint) != endpoints.end()) {
      return Bad(field, absl::StrCat(TextOf(endpoint), " is there twice"));
    }
    endpoints.push_back(std::move(endpoint));
  }
  return endpoints;
}

absl::StatusOr<std::string> ParsePrefix(absl::string_view path) {
  if (path.empty() || path == "/") {
    return std::string(kDefaultPrefix);
  }
  const absl::string_view parts = absl::StripSuffix(absl::StripPrefix(path, "/"), "/");
  for (const absl::string_view part : absl::StrSplit(parts, '/')) {
    if (!IsName(part) || part == "." || part == "..") {
      return Bad("prefix",
                 absl::StrCat("'", part, "' is not a part of a prefix: letters, digits, '-', '_', '.'"));
    }
  }
  std::string prefix = absl::StrCat("/", parts, "/");
  if (prefix.size() > kMaxPrefixBytes) {
    return Bad("prefix", absl::StrCat("the prefix has more than ", kMaxPrefixBytes, " bytes"));
  }
  return prefix;
}

}  // namespace

absl::StatusOr<Address> ParseAddress(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "etcd://")) {
    return Bad("scheme", "the address of etcd begins with etcd://");
  }
  const std::size_t slash = std::min(text.find('/'), text.size());
  Address address;
  WAYSTAR_ASSIGN_OR_RETURN(address.endpoints, ParseEndpoints(text.substr(0, slash)));
  WAYSTAR_ASSIGN_OR_RETURN(address.prefix, ParsePrefix(text.substr(slash)));
  return address;
}

std::string TextOf(const Endpoint& endpoint) {
  return absl::StrContains(endpoint.host, ':') ? absl::StrCat("[", endpoint.host, "]:", endpoint.port)
                                               : absl::StrCat(endpoint.host, ":", endpoint.port);
}

}  // namespace waystar::etcd
