#include "server/core/codec/value_reader.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "absl/strings/str_cat.h"
#include "server/base/file_errors.h"

namespace waystar::core {

std::string ValueReader::Place() const { return absl::StrCat("value at byte ", read_); }

void ValueReader::Fail(absl::string_view message) {
  if (status_.ok()) {
    status_ = BadFormat(absl::StrCat(Place(), ": ", message));
  }
}

bool ValueReader::HasByte() {
  if (read_ == bytes_.size() && status_.ok()) {
    NextBytes();
  }
  return status_.ok();
}

std::uint8_t ValueReader::Byte() { return HasByte() ? static_cast<std::uint8_t>(bytes_[read_++]) : 0; }

bool ValueReader::Bool() { return Number(1) == 1; }

std::uint64_t ValueReader::Number(std::uint64_t max) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t byte = Byte();
    number |= std::uint64_t{byte & 0x7FU} << shift;
    // Only one bit is left for the tenth byte.
    if (shift == 63 && byte > 1) {
      break;
    }
    if ((byte & 0x80U) == 0) {
      if (number > max) {
        Fail(absl::StrCat("a number is ", number, " and must be at most ", max));
        return 0;
      }
      return ok() ? number : 0;
    }
  }
  Fail("a number has more than 64 bits");
  return 0;
}

std::int64_t ValueReader::Signed(std::int64_t min, std::int64_t max) {
  const std::uint64_t bits = Number(std::numeric_limits<std::uint64_t>::max());
  const auto number = static_cast<std::int64_t>(bits >> 1 ^ ((bits & 1) != 0 ? ~std::uint64_t{0} : 0));
  if (number < min || number > max) {
    Fail(absl::StrCat("a number is ", number, " and must be from ", min, " to ", max));
    return 0;
  }
  return number;
}

double ValueReader::Double() {
  std::uint64_t bits = 0;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    bits |= std::uint64_t{Byte()} << shift;
  }
  return ok() ? std::bit_cast<double>(bits) : 0.0;
}

std::string ValueReader::Text(std::size_t max_bytes) {
  std::string text(static_cast<std::size_t>(Number(max_bytes)), '\0');
  Bytes(text.data(), text.size());
  return ok() ? text : std::string();
}

void ValueReader::Bytes(char* space, std::size_t count) {
  while (count > 0 && HasByte()) {
    const std::size_t part = std::min(count, bytes_.size() - read_);
    std::copy_n(bytes_.data() + read_, part, space);
    read_ += part;
    space += part;
    count -= part;
  }
}

absl::Status ValueReader::Finish() {
  if (ok() && !IsAtEnd()) {
    Fail("more follows than there may be");
  }
  return status_;
}

}  // namespace waystar::core
