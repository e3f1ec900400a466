// CRC-32C, the checksum of iSCSI (RFC 3720), as computed by Intel's ISA-L.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace waystar::storage {

// Returns the checksum of `bytes` appended to data whose checksum is `before`. Detects every error burst of
// up to 32 bits.
std::uint32_t Crc32c(absl::string_view bytes, std::uint32_t before = 0);

// Returns the bytes, preceded by their checksum in eight hexadecimal digits.
std::string WithChecksum(absl::string_view bytes);
// Returns the bytes that WithChecksum was given; nullopt if the checksum does not match.
std::optional<absl::string_view> WithoutChecksum(absl::string_view bytes);

}  // namespace waystar::storage
