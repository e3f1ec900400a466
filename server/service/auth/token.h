// Tokens and the permissions on maps that they grant.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::rpc {

// Each permission includes the previous ones.
enum class Permission : std::uint8_t { kRead, kUpdate, kAdmin };

// Pattern of all current and future maps, and thus of the server as a whole.
inline constexpr absl::string_view kEveryMap = "*";

// Returns true if `pattern` matches `text`: each '*' matches any number of characters, including none, and
// any other character matches itself. Cost: at most the product of their lengths.
bool MatchesPattern(absl::string_view pattern, absl::string_view text);

// Hash of a token. Tokens are long and random, so a plain hash cannot be reversed, and the time of a look-up
// depends only on the hash.
using TokenHash = std::array<std::uint8_t, 32>;

// Returns the token's SHA-256. Takes a few hundred nanoseconds.
TokenHash HashToken(absl::string_view token);

// Parses "sha256:" and 64 hexadecimal digits that are not all 0. Returns INVALID_ARGUMENT otherwise.
absl::StatusOr<TokenHash> ParseTokenHash(absl::string_view text);

struct Grant {
  Permission permission = Permission::kRead;
  // Pattern of map ids.
  std::string pattern;
};

struct Token {
  // Holder: 1 to 63 of A-Z, a-z, 0-9, '_', '.' and '-'. Several tokens may have the same name.
  std::string name;
  // Id of the holder: a function of the name, stable across restarts; never 0.
  std::uint64_t id = 0;
  TokenHash hash{};
  // At least one.
  std::vector<Grant> grants;

  bool May(Permission permission, absl::string_view map) const;
  // Returns true if the token may have that permission for some map.
  bool MaySomewhere(Permission permission) const;
  // Returns true if the token has that permission for every map.
  bool MayEverywhere(Permission permission) const;
};

}  // namespace waystar::rpc
