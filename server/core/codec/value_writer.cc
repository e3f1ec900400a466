#include "server/core/codec/value_writer.h"

#include <algorithm>
#include <bit>

namespace waystar::core {

void ValueWriter::PutByte(std::uint8_t byte) {
  if (bytes_.size() == max_bytes_) {
    MakeRoom();
  }
  bytes_.push_back(static_cast<char>(byte));
}

void ValueWriter::PutNumber(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) {
    PutByte(static_cast<std::uint8_t>(number | 0x80));
  }
  PutByte(static_cast<std::uint8_t>(number));
}

void ValueWriter::PutSigned(std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  PutNumber(bits << 1 ^ (number < 0 ? ~std::uint64_t{0} : 0));
}

void ValueWriter::PutDouble(double value) {
  auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 8; ++i, bits >>= 8) {
    PutByte(static_cast<std::uint8_t>(bits));
  }
}

void ValueWriter::PutText(absl::string_view text) {
  PutNumber(text.size());
  PutBytes(text);
}

void ValueWriter::PutBytes(absl::string_view bytes) {
  while (!bytes.empty()) {
    if (bytes_.size() == max_bytes_) {
      MakeRoom();
    }
    const std::size_t count = std::min(bytes.size(), max_bytes_ - bytes_.size());
    bytes_.append(bytes.data(), count);
    bytes.remove_prefix(count);
  }
}

}  // namespace waystar::core
