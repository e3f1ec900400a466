// Tokens and the permissions on maps that they grant.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
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

// List of the tokens that a server accepts. Immutable after parsing. Thread safety: any.
class TokenList {
 public:
  // Parses text with one token per line:
  //
  //   # name        hash of the token     what it may do on which maps
  //   arena-1       sha256:9f86d08188...  update:arena-* read:lobby
  //   level-editor  sha256:60303ae22b...  admin:*
  //
  // Fields are separated by blanks, and '#' starts a comment. The permissions are read, update (includes
  // read) and admin (includes both). A pattern applies to the maps whose ids match it; '*' matches any
  // characters.
  //
  // Returns INVALID_ARGUMENT, starting with "line 3: ", for a malformed line, a duplicate hash, or too many
  // tokens. A text without tokens makes a list that accepts nobody.
  static absl::StatusOr<TokenList> Parse(absl::string_view text);

  // Returns the token with that hash, or null if there is none.
  std::shared_ptr<const Token> Find(const TokenHash& hash) const;

  std::size_t size() const { return tokens_.size(); }

 private:
  absl::flat_hash_map<TokenHash, std::shared_ptr<const Token>> tokens_;
};

// Reads a file of tokens in the format of TokenList::Parse. Errors name the file, and the line if there is
// one.
absl::StatusOr<std::shared_ptr<const TokenList>> ReadTokensFile(const std::string& path);

}  // namespace waystar::rpc
