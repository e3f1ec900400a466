// Sites whose pages may call over HTTP.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::rpc {

// List of origins (RFC 6454, 2011), such as "https://game.example". Thread safety: that of a value.
class AllowedOrigins {
 public:
  // Parses origins separated by commas; "*" allows all, and an empty text none. Returns INVALID_ARGUMENT for
  // anything that is not an origin, such as one with a path.
  static absl::StatusOr<AllowedOrigins> Parse(absl::string_view text);

  bool Allows(absl::string_view origin) const;

 private:
  bool allows_all_ = false;
  std::vector<std::string> origins_;
};

// Returns the host of HOST:PORT, without the brackets of an IPv6 address.
std::string NameOfHost(std::string_view host);

// Returns true if `host`, from a request, with or without a port, is an IP address, localhost or `own_name`.
// Any other name may be a foreign one that resolves to this server (DNS rebinding): its pages are not ours,
// although the browser regards them as same-origin.
bool IsOwnHost(std::string_view host, std::string_view own_name);

// Returns true if `origin` is that of a page served by this server at `host`, encrypted or not. REQUIRES:
// IsOwnHost is true of `host`.
bool IsOwnOrigin(std::string_view origin, std::string_view host, bool is_encrypted);

}  // namespace waystar::rpc
