// Writer of plain values as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace waystar::core {

// Values follow each other without padding. A writer by itself keeps all of them; BlockWriter cuts them into
// blocks.
//
// Thread safety: one thread at a time.
class ValueWriter {
 public:
  ValueWriter() = default;
  ValueWriter(ValueWriter&&) = default;
  virtual ~ValueWriter() = default;

  void PutByte(std::uint8_t byte);
  void PutBool(bool value) { PutByte(value ? 1 : 0); }
  // Puts seven bits a byte, the lowest first; all bytes but the last have the highest bit set.
  void PutNumber(std::uint64_t number);
  // Puts a number that may be negative: 0, -1, 1, -2, ... as 0, 1, 2, 3, ...
  void PutSigned(std::int64_t number);
  // Puts the eight bytes of an IEEE 754 double, the lowest first.
  void PutDouble(double value);
  // Puts the length, then the bytes.
  void PutText(absl::string_view text);
  void PutBytes(absl::string_view bytes);

  // Returns what was put since the last block ended. The writer must not be used afterwards.
  std::string TakeBytes() && { return std::move(bytes_); }

 protected:
  explicit ValueWriter(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Makes room in bytes_, which has max_bytes_.
  virtual void MakeRoom() {}

  std::string bytes_;

 private:
  const std::size_t max_bytes_ = std::string::npos;
};

}  // namespace waystar::core
