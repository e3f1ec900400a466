// CRC-32C, the checksum of iSCSI (RFC 3720), as computed by Intel's ISA-L.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace waystar::storage {

// Returns the checksum of bytes that follow those whose checksum is `before`. It finds every error within 32
// bits.
std::uint32_t Crc32c(absl::string_view bytes, std::uint32_t before = 0);

}  // namespace waystar::storage
