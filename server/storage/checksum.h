// CRC-32C, the checksum of iSCSI (RFC 3720), as computed by Intel's ISA-L.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace waystar::storage {

// Returns the checksum of bytes that follow those whose checksum is `before`. It finds every error within 32
// bits.
std::uint32_t Crc32c(absl::string_view bytes, std::uint32_t before = 0);

// Returns the bytes behind their checksum, which is eight hexadecimal digits.
std::string WithChecksum(absl::string_view bytes);
// Returns the bytes that WithChecksum was given; nothing if what it returned is damaged.
std::optional<absl::string_view> WithoutChecksum(absl::string_view bytes);

}  // namespace waystar::storage
