// Tokens as the server knows them, and the permissions on maps that they grant.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::rpc {

// Each permission includes those before it.
enum class Permission : std::uint8_t { kRead, kUpdate, kAdmin };

// The pattern that stands for every map there is and will be, and so for the server as a whole.
inline constexpr absl::string_view kEveryMap = "*";

// Returns whether `pattern` matches `text`: each '*' stands for any number of characters, none among them,
// and any other character for itself. Costs at most the product of their lengths.
bool MatchesPattern(absl::string_view pattern, absl::string_view text);

// The hash of a token. Tokens are long and random, so a plain hash of one cannot be reversed, and the time
// that a look-up takes tells of the hash alone.
using TokenHash = std::array<std::uint8_t, 32>;

// Returns the token's SHA-256. Takes some hundred nanoseconds.
TokenHash HashToken(absl::string_view token);

// Parses "sha256:" and 64 hexadecimal digits that are not all 0. Returns INVALID_ARGUMENT for anything else.
absl::StatusOr<TokenHash> ParseTokenHash(absl::string_view text);

struct Grant {
  Permission permission = Permission::kRead;
  // The pattern matches ids of maps.
  std::string pattern;
};

struct Token {
  // The holder: 1 to 63 of A-Z, a-z, 0-9, '_', '.' and '-'. Several tokens may have one name.
  std::string name;
  // The holder's id, the same for the same name, now and after a restart; never 0.
  std::uint64_t id = 0;
  TokenHash hash{};
  // There is at least one.
  std::vector<Grant> grants;

  bool May(Permission permission, absl::string_view map) const;
  // Returns whether there may be a map for which it has that permission.
  bool MaySomewhere(Permission permission) const;
  // Returns whether it has that permission for every map.
  bool MayEverywhere(Permission permission) const;
};

}  // namespace waystar::rpc
