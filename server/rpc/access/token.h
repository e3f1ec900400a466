// Tokens as the server knows them: what it keeps of each, and what it allows on which maps.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::rpc {

// Each includes those before it.
enum class Permission : std::uint8_t { kRead, kUpdate, kAdmin };

// The pattern that stands for every map there is and will be, and so for the server as a whole.
inline constexpr absl::string_view kEveryMap = "*";

// Whether `text` is what `pattern` stands for, in which each '*' is any number of characters, none among
// them, and any other is itself. Costs at most the product of their lengths.
bool MatchesPattern(absl::string_view pattern, absl::string_view text);

// Tokens are long and random, so a plain hash of one cannot be turned back; and who looks a hash up in a
// table tells by the time it takes of the hash alone.
using TokenHash = std::array<std::uint8_t, 32>;

// SHA-256. Takes some hundred nanoseconds.
TokenHash HashToken(absl::string_view token);

// From "sha256:" and 64 hexadecimal digits that are not all 0. INVALID_ARGUMENT for anything else.
absl::StatusOr<TokenHash> ParseTokenHash(absl::string_view text);

struct Grant {
  Permission permission = Permission::kRead;
  // Of ids of maps.
  std::string pattern;
};

struct Token {
  // Who has it: 1 to 63 of A-Z, a-z, 0-9, '_', '.' and '-'. Several tokens may have one name.
  std::string name;
  // The same for the same name, now and after a restart; never 0.
  std::uint64_t id = 0;
  TokenHash hash{};
  // At least one.
  std::vector<Grant> grants;

  bool May(Permission permission, absl::string_view map) const;
  // Whether there may be a map for which it has that permission.
  bool MaySomewhere(Permission permission) const;
  // Whether it has that permission for every map.
  bool MayEverywhere(Permission permission) const;
};

}  // namespace waystar::rpc
