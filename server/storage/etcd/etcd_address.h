// Address of an etcd cluster, as one line of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::etcd {

inline constexpr std::uint16_t kDefaultPort = 2379;
inline constexpr char kDefaultPrefix[] = "/waystar/";
inline constexpr std::size_t kMaxPrefixBytes = 200;

// A member of a cluster.
struct Endpoint {
  // Host name or IP address; IPv6 without brackets.
  std::string host;
  std::uint16_t port = kDefaultPort;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct Address {
  // At least one, without duplicates.
  std::vector<Endpoint> endpoints;
  // Prefix of all keys; begins and ends with a slash.
  std::string prefix;

  friend bool operator==(const Address&, const Address&) = default;
};

// Parses "etcd://HOST[:PORT][,HOST[:PORT]...][/PREFIX]", such as "etcd://10.0.0.1,[fd00::2]:2379/maps". IPv6
// addresses are in brackets. The default prefix is kDefaultPrefix. A prefix consists of parts of letters,
// digits, '-', '_' and '.', separated by slashes; no part is empty, "." or "..". A trailing slash is
// optional. A prefix has at most kMaxPrefixBytes, slashes included.
//
// Returns INVALID_ARGUMENT / BAD_VALUE; the field is "scheme", "hosts", "hosts[1]" or "prefix".
absl::StatusOr<Address> ParseAddress(absl::string_view text);

// Returns "HOST:PORT", with brackets around an IPv6 address.
std::string TextOf(const Endpoint& endpoint);

}  // namespace waystar::etcd
