#include "server/service/auth/token.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/service/auth/watched_file.h"

namespace waystar::rpc {

bool MatchesPattern(absl::string_view pattern, absl::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  // Position after the last '*' passed, and the end of the text that it matches so far.
  std::size_t after_star = absl::string_view::npos;
  std::size_t retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      retry = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (after_star != absl::string_view::npos) {
      p = after_star;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') {
    ++p;
  }
  return p == pattern.size();
}

TokenHash HashToken(absl::string_view token) {
  // The digest is fetched once: fetching costs more than using it.
  static EVP_MD* const kSha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  // If the library fails, the hash stays 0, which no token has.
  TokenHash hash{};
  EVP_Digest(token.data(), token.size(), hash.data(), nullptr, kSha256, nullptr);
  return hash;
}

absl::StatusOr<TokenHash> ParseTokenHash(absl::string_view text) {
  TokenHash hash{};
  const bool has_prefix = absl::ConsumePrefix(&text, "sha256:");
  if (!has_prefix || text.size() != 2 * hash.size() ||
      !std::all_of(text.begin(), text.end(), [](unsigned char c) { return absl::ascii_isxdigit(c); })) {
    return absl::InvalidArgumentError("the hash of a token is \"sha256:\" and 64 hexadecimal digits");
  }
  for (std::uint8_t& byte : hash) {
    std::uint32_t value = 0;
    static_cast<void>(absl::SimpleHexAtoi(text.substr(0, 2), &value));
    byte = static_cast<std::uint8_t>(value);
    text.remove_prefix(2);
  }
  if (hash == TokenHash{}) {
    return absl::InvalidArgumentError("no token has the hash 0");
  }
  return hash;
}

bool Token::May(Permission permission, absl::string_view map) const {
  return std::any_of(grants.begin(), grants.end(), [&](const Grant& grant) {
    return grant.permission >= permission && MatchesPattern(grant.pattern, map);
  });
}

bool Token::MaySomewhere(Permission permission) const {
  return std::any_of(grants.begin(), grants.end(),
                     [&](const Grant& grant) { return grant.permission >= permission; });
}

bool Token::MayEverywhere(Permission permission) const {
  return std::any_of(grants.begin(), grants.end(), [&](const Grant& grant) {
    return grant.permission >= permission && grant.pattern == kEveryMap;
  });
}

namespace {

constexpr std::size_t kMaxTokens = 100'000;
constexpr std::size_t kMaxNameBytes = 63;
constexpr std::size_t kMaxPatternBytes = 63;
constexpr std::size_t kMaxGrants = 1000;

bool IsNameChar(unsigned char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-'; }

bool IsPatternChar(unsigned char c) {
  return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_' || c == '.' || c == '-' || c == '*';
}

std::uint64_t IdOf(absl::string_view name) {
  const TokenHash hash = HashToken(name);
  std::uint64_t id = 0;
  std::memcpy(&id, hash.data(), sizeof(id));
  return std::max<std::uint64_t>(id, 1);
}

absl::Status CheckName(absl::string_view name) {
  if (name.size() <= kMaxNameBytes && std::all_of(name.begin(), name.end(), IsNameChar)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("a token's name has 1 to ", kMaxNameBytes,
                                                 " of A-Z, a-z, 0-9, '_', '.' and '-'; this is \"",
                                                 absl::CHexEscape(name), "\""));
}

absl::StatusOr<Permission> ParsePermission(absl::string_view word) {
  if (word == "read") {
    return Permission::kRead;
  }
  if (word == "update") {
    return Permission::kUpdate;
  }
  if (word == "admin") {
    return Permission::kAdmin;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", absl::CHexEscape(word), "\" is not a permission: there are read, update and admin"));
}

absl::StatusOr<Grant> ParseGrant(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  WAYSTAR_ASSIGN_OR_RETURN(const Permission permission, ParsePermission(parts.first));
  const absl::string_view pattern = parts.second;
  if (pattern.empty() || pattern.size() > kMaxPatternBytes ||
      !std::all_of(pattern.begin(), pattern.end(), IsPatternChar)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", absl::CHexEscape(text), "\" should be a permission, ':', and 1 to ",
                     kMaxPatternBytes, " of a-z, 0-9, '_', '.', '-' and '*' that maps' ids match"));
  }
  return Grant{.permission = permission, .pattern = std::string(pattern)};
}

absl::StatusOr<Token> ParseToken(const std::vector<absl::string_view>& fields) {
  if (fields.size() < 3) {
    return absl::InvalidArgumentError("a token has a name, a hash, and at least one permission");
  }
  if (fields.size() - 2 > kMaxGrants) {
    return absl::InvalidArgumentError(absl::StrCat("a token has at most ", kMaxGrants, " permissions"));
  }
  Token token;
  WAYSTAR_RETURN_IF_ERROR(CheckName(fields[0]));
  token.name = std::string(fields[0]);
  token.id = IdOf(token.name);
  WAYSTAR_ASSIGN_OR_RETURN(token.hash, ParseTokenHash(fields[1]));
  for (std::size_t i = 2; i < fields.size(); ++i) {
    WAYSTAR_ASSIGN_OR_RETURN(Grant grant, ParseGrant(fields[i]));
    token.grants.push_back(std::move(grant));
  }
  return token;
}

absl::Status InLine(int line, absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", message));
}

constexpr std::size_t kMaxTokensFileBytes = std::size_t{16} << 20;

}  // namespace

absl::StatusOr<TokenList> TokenList::Parse(absl::string_view text) {
  TokenList list;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = line.substr(0, line.find('#'));
    const std::vector<absl::string_view> fields =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (fields.empty()) {
      continue;
    }
    absl::StatusOr<Token> token = ParseToken(fields);
    if (!token.ok()) {
      return InLine(number, token.status().message());
    }
    if (list.tokens_.size() == kMaxTokens) {
      return InLine(number, absl::StrCat("there are at most ", kMaxTokens, " tokens"));
    }
    const TokenHash hash = token->hash;
    if (!list.tokens_.emplace(hash, std::make_shared<const Token>(*std::move(token))).second) {
      return InLine(number, "an earlier line has the same hash");
    }
  }
  return list;
}

std::shared_ptr<const Token> TokenList::Find(const TokenHash& hash) const {
  const auto it = tokens_.find(hash);
  return it == tokens_.end() ? nullptr : it->second;
}

absl::StatusOr<std::shared_ptr<const TokenList>> ReadTokensFile(const std::string& path) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path, kMaxTokensFileBytes));
  absl::StatusOr<TokenList> tokens = TokenList::Parse(text);
  if (!tokens.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", tokens.status().message()));
  }
  return std::make_shared<const TokenList>(*std::move(tokens));
}

}  // namespace waystar::rpc
