#include "client/target.h"

#include <arpa/inet.h>

#include <algorithm>
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

struct Address {
  // Without brackets.
  std::string host;
  int port = 0;
};

bool IsAddressOf(int family, const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(family, host.c_str(), bytes) == 1;
}

// The port is 0 if there is none.
Address Split(absl::string_view text) {
  Address address;
  absl::string_view port;
  if (absl::ConsumePrefix(&text, "[")) {
    const size_t end = std::min(text.find(']'), text.size());
    address.host = std::string(text.substr(0, end));
    port = text.substr(std::min(end + 1, text.size()));
    absl::ConsumePrefix(&port, ":");
  } else if (std::count(text.begin(), text.end(), ':') > 1) {
    address.host = std::string(text);
  } else {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(text, absl::MaxSplits(':', 1));
    address.host = std::string(parts.first);
    port = parts.second;
  }
  if (!absl::SimpleAtoi(port, &address.port) || address.port < 0 || address.port > 65535) {
    address.port = 0;
  }
  return address;
}

bool IsLoopback(const std::string& host) {
  return absl::EqualsIgnoreCase(host, "localhost") || host == "::1" ||
         (absl::StartsWith(host, "127.") && IsAddressOf(AF_INET, host));
}

// What follows the schemes that are followed by addresses.
absl::string_view WithoutScheme(absl::string_view target) {
  for (const absl::string_view scheme : {"ipv4:", "ipv6:", "dns:///", "dns:"}) {
    if (absl::ConsumePrefix(&target, scheme)) {
      return target;
    }
  }
  return target;
}

}  // namespace

absl::StatusOr<std::string> GrpcTarget(absl::string_view target) {
  if (target.empty()) {
    return absl::InvalidArgumentError("the server's address is empty");
  }
  if (!HasSeveralAddresses(target) || WithoutScheme(target) != target) {
    return std::string(target);
  }
  std::vector<std::string> addresses;
  int with_ip4 = 0;
  int with_ip6 = 0;
  for (const absl::string_view text : absl::StrSplit(target, ',')) {
    const Address address = Split(absl::StripAsciiWhitespace(text));
    const bool is_ip4 = IsAddressOf(AF_INET, address.host);
    const bool is_ip6 = IsAddressOf(AF_INET6, address.host);
    if (address.port == 0 || (!is_ip4 && !is_ip6)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", text, "' is not an IP address and a port: a list has such as 10.0.0.1:7450; a name ",
          "that stands for several servers is written dns:///NAME:PORT"));
    }
    with_ip4 += is_ip4 ? 1 : 0;
    with_ip6 += is_ip6 ? 1 : 0;
    addresses.push_back(is_ip6 ? absl::StrCat("[", address.host, "]:", address.port)
                               : absl::StrCat(address.host, ":", address.port));
  }
  if (with_ip4 > 0 && with_ip6 > 0) {
    return absl::InvalidArgumentError("IPv4 and IPv6 addresses cannot stand in one list");
  }
  return absl::StrCat(with_ip4 > 0 ? "ipv4:" : "ipv6:", absl::StrJoin(addresses, ","));
}

bool HasSeveralAddresses(absl::string_view target) {
  return absl::StrContains(target, ',') && !absl::StartsWith(target, "unix");
}

bool IsOnThisMachine(absl::string_view target) {
  if (absl::StartsWith(target, "unix:") || absl::StartsWith(target, "unix-abstract:")) {
    return true;
  }
  const std::vector<absl::string_view> addresses = absl::StrSplit(WithoutScheme(target), ',');
  return std::all_of(addresses.begin(), addresses.end(), [](absl::string_view address) {
    return IsLoopback(Split(absl::StripAsciiWhitespace(address)).host);
  });
}

int PortOf(absl::string_view target) {
  return HasSeveralAddresses(target) ? 0 : Split(WithoutScheme(target)).port;
}

}  // namespace waystar::client
