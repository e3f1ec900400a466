// Sites whose pages may call over HTTP.
#pragma once

#include <string>
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

}  // namespace waystar::rpc
