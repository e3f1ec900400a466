#include "server/service/auth/token.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

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

}  // namespace waystar::rpc
