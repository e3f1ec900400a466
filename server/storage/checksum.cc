#include "server/storage/checksum.h"

#include <isa-l/crc.h>

#include <cstddef>

namespace waystar::storage {

std::uint32_t Crc32c(absl::string_view bytes, std::uint32_t before) {
  // The library's lengths are of type int.
  constexpr std::size_t kMaxPart = std::size_t{1} << 30;
  std::uint32_t crc = ~before;
  while (!bytes.empty()) {
    const absl::string_view part = bytes.substr(0, kMaxPart);
    // It does not write to what it takes a pointer to.
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<char*>(part.data()));
    crc = crc32_iscsi(data, static_cast<int>(part.size()), crc);
    bytes.remove_prefix(part.size());
  }
  return ~crc;
}

}  // namespace waystar::storage
