#include "server/rpc/access/token_hash.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/strip.h"

namespace waystar::rpc {

TokenHash HashToken(absl::string_view token) {
  // Looked up once: to find it costs more than to use it.
  static EVP_MD* const kSha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  // Stays 0, which no token has, if the library cannot do it.
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
  const std::string bytes = absl::HexStringToBytes(text);
  std::copy(bytes.begin(), bytes.end(), hash.begin());
  if (hash == TokenHash{}) {
    return absl::InvalidArgumentError("no token has the hash 0");
  }
  return hash;
}

}  // namespace waystar::rpc
