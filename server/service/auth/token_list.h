// List of the tokens that a server accepts.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/service/auth/token.h"

namespace waystar::rpc {

// Immutable after parsing. Thread safety: any.
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

  // Returns null if there is none with that hash.
  std::shared_ptr<const Token> Find(const TokenHash& hash) const;

  std::size_t size() const { return tokens_.size(); }

 private:
  absl::flat_hash_map<TokenHash, std::shared_ptr<const Token>> tokens_;
};

// Reads a file of tokens in the format of TokenList::Parse. Errors name the file, and the line if there is
// one.
absl::StatusOr<std::shared_ptr<const TokenList>> ReadTokensFile(const std::string& path);

}  // namespace waystar::rpc
