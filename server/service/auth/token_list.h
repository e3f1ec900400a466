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

// Immutable once it is parsed. Thread safety: any.
class TokenList {
 public:
  // Parses text with one token a line:
  //
  //   # name        hash of the token     what it may do on which maps
  //   arena-1       sha256:9f86d08188...  update:arena-* read:lobby
  //   level-editor  sha256:60303ae22b...  admin:*
  //
  // Blanks separate the fields, and '#' begins a comment. The permissions are read, update (which includes
  // read) and admin (which includes both); a pattern stands for the maps whose ids match it, '*' being any
  // characters.
  //
  // Returns INVALID_ARGUMENT, beginning with "line 3: ", for a line that is not of that form, a second line
  // with the same hash, or too many tokens. Text without a token makes a list that lets nobody in.
  static absl::StatusOr<TokenList> Parse(absl::string_view text);

  // Returns null if there is no token of that hash.
  std::shared_ptr<const Token> Find(const TokenHash& hash) const;

  std::size_t size() const { return tokens_.size(); }

 private:
  absl::flat_hash_map<TokenHash, std::shared_ptr<const Token>> tokens_;
};

// Reads a file of tokens, as TokenList::Parse says. An error names the file, and the line if that is to
// blame.
absl::StatusOr<std::shared_ptr<const TokenList>> ReadTokensFile(const std::string& path);

}  // namespace waystar::rpc
