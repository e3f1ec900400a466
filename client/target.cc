#include "client/target.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace waystar::client {
namespace {

bool IsAddressOf(int family, const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(family, host.c_str(), bytes) == 1;
}

// The port is empty if there is none.
struct Parts {
  // Without brackets.
  absl::string_view host;
  absl::string_view port;
};

Parts Split(absl::string_view text) {
  if (absl::ConsumePrefix(&text, "[")) {
    const std::size_t end = std::min(text.find(']'), text.size());
    return {text.substr(0, end), absl::StripPrefix(text.substr(std::min(end + 1, text.size())), ":")};
  }
  if (std::count(text.begin(), text.end(), ':') > 1) {
    return {text, ""};
  }
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  return {parts.first, parts.second};
}

absl::StatusOr<Endpoint> Parse(absl::string_view text) {
  const auto [host, port] = Split(text);
  Endpoint endpoint{std::string(host), kDefaultPort};
  if (host.empty() || (absl::StartsWith(text, "[") &&
                       (!absl::StrContains(text, ']') || !IsAddressOf(AF_INET6, endpoint.host)))) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' has no host: write HOST:PORT"));
  }
  if (!port.empty() &&
      (!absl::SimpleAtoi(port, &endpoint.port) || endpoint.port < 1 || endpoint.port > 65535)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "': the port is a number from 1 to 65535, not '", port, "'"));
  }
  return endpoint;
}

std::string Text(const Endpoint& endpoint) {
  return absl::StrContains(endpoint.host, ':') ? absl::StrCat("[", endpoint.host, "]:", endpoint.port)
                                               : absl::StrCat(endpoint.host, ":", endpoint.port);
}

bool IsLoopback(const std::string& host) {
  return absl::EqualsIgnoreCase(host, "localhost") || host == "::1" ||
         (absl::StartsWith(host, "127.") && IsAddressOf(AF_INET, host));
}

// Returns the part of a target after a scheme that precedes addresses.
absl::string_view WithoutScheme(absl::string_view target) {
  for (const absl::string_view scheme : {"ipv4:", "ipv6:", "dns:///", "dns:"}) {
    if (absl::ConsumePrefix(&target, scheme)) {
      return target;
    }
  }
  return target;
}

// Returns true for targets that are passed to gRPC unchanged: a unix socket, a name server, a plugin's
// scheme.
bool IsOfOtherScheme(absl::string_view target) {
  return absl::StartsWith(target, "unix:") || absl::StartsWith(target, "unix-abstract:") ||
         absl::StrContains(WithoutScheme(target), "//");
}

}  // namespace

absl::StatusOr<std::string> GrpcTarget(absl::string_view target) {
  if (target.empty()) {
    return absl::InvalidArgumentError("the server's address is empty");
  }
  if (absl::StartsWith(target, "http://") || absl::StartsWith(target, "https://")) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", target, "' is an address of the web: write HOST:PORT alone"));
  }
  if (IsOfOtherScheme(target)) {
    return std::string(target);
  }
  const absl::string_view bare = WithoutScheme(target);
  const absl::string_view scheme = target.substr(0, target.size() - bare.size());
  if (!HasSeveralAddresses(target)) {
    const auto endpoint = Parse(bare);
    return endpoint.ok() ? absl::StatusOr<std::string>(absl::StrCat(scheme, Text(*endpoint)))
                         : endpoint.status();
  }
  if (!scheme.empty()) {
    return std::string(target);
  }
  std::vector<std::string> addresses;
  int with_ip4 = 0;
  int with_ip6 = 0;
  for (const absl::string_view text : absl::StrSplit(target, ',')) {
    const auto address = Parse(absl::StripAsciiWhitespace(text));
    const bool is_ip4 = address.ok() && IsAddressOf(AF_INET, address->host);
    const bool is_ip6 = address.ok() && IsAddressOf(AF_INET6, address->host);
    if (!is_ip4 && !is_ip6) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", text, "' is not an IP address and a port: a list has such as 10.0.0.1:7450; a name ",
          "that stands for several servers is written dns:///NAME:PORT"));
    }
    with_ip4 += is_ip4 ? 1 : 0;
    with_ip6 += is_ip6 ? 1 : 0;
    addresses.push_back(Text(*address));
  }
  if (with_ip4 > 0 && with_ip6 > 0) {
    return absl::InvalidArgumentError("IPv4 and IPv6 addresses cannot stand in one list");
  }
  return absl::StrCat(with_ip4 > 0 ? "ipv4:" : "ipv6:", absl::StrJoin(addresses, ","));
}

bool HasSeveralAddresses(absl::string_view target) {
  return absl::StrContains(target, ',') && !absl::StartsWith(target, "unix");
}

bool StandsForSeveralServers(absl::string_view target) {
  return HasSeveralAddresses(target) || absl::StartsWith(target, "dns:") ||
         (IsOfOtherScheme(target) && !absl::StartsWith(target, "unix"));
}

bool IsAddress(absl::string_view target) {
  const std::optional<Endpoint> endpoint = FirstEndpoint(target);
  return !HasSeveralAddresses(target) && endpoint.has_value() &&
         (IsAddressOf(AF_INET, endpoint->host) || IsAddressOf(AF_INET6, endpoint->host));
}

bool IsOnThisMachine(absl::string_view target) {
  if (absl::StartsWith(target, "unix:") || absl::StartsWith(target, "unix-abstract:")) {
    return true;
  }
  const std::vector<absl::string_view> addresses = absl::StrSplit(WithoutScheme(target), ',');
  return std::all_of(addresses.begin(), addresses.end(), [](absl::string_view address) {
    return IsLoopback(std::string(Split(absl::StripAsciiWhitespace(address)).host));
  });
}

std::optional<Endpoint> FirstEndpoint(absl::string_view target) {
  if (IsOfOtherScheme(target)) {
    return std::nullopt;
  }
  const absl::string_view bare = WithoutScheme(target);
  const auto endpoint = Parse(absl::StripAsciiWhitespace(bare.substr(0, bare.find(','))));
  return endpoint.ok() ? std::optional(*endpoint) : std::nullopt;
}

}  // namespace waystar::client
