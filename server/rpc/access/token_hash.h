// What the server keeps of a token instead of the token.
#pragma once

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::rpc {

// Tokens are long and random, so a plain hash of one cannot be turned back; and who looks a hash up in a
// table tells by the time it takes of the hash alone.
using TokenHash = std::array<std::uint8_t, 32>;

// SHA-256. Takes some hundred nanoseconds.
TokenHash HashToken(absl::string_view token);

// From "sha256:" and 64 hexadecimal digits that are not all 0. INVALID_ARGUMENT for anything else.
absl::StatusOr<TokenHash> ParseTokenHash(absl::string_view text);

}  // namespace waystar::rpc
