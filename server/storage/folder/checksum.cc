#include "server/storage/folder/checksum.h"

#include <isa-l/crc.h>

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace waystar::storage {
namespace {

constexpr std::size_t kChecksumDigits = 8;

std::string DigitsOf(absl::string_view bytes) {
  return absl::StrCat(absl::Hex(Crc32c(bytes), absl::kZeroPad8));
}

}  // namespace

std::uint32_t Crc32c(absl::string_view bytes, std::uint32_t before) {
  // ISA-L takes lengths of type int.
  constexpr std::size_t kMaxPart = std::size_t{1} << 30;
  std::uint32_t crc = ~before;
  while (!bytes.empty()) {
    const absl::string_view part = bytes.substr(0, kMaxPart);
    // crc32_iscsi does not write through its pointer.
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<char*>(part.data()));
    crc = crc32_iscsi(data, static_cast<int>(part.size()), crc);
    bytes.remove_prefix(part.size());
  }
  return ~crc;
}

std::string WithChecksum(absl::string_view bytes) { return absl::StrCat(DigitsOf(bytes), bytes); }

std::optional<absl::string_view> WithoutChecksum(absl::string_view bytes) {
  const absl::string_view digits = bytes.substr(0, kChecksumDigits);
  bytes.remove_prefix(digits.size());
  return digits == DigitsOf(bytes) ? std::optional(bytes) : std::nullopt;
}

}  // namespace waystar::storage
