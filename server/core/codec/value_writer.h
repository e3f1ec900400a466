// Binary writer of plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace waystar::core {

// Values are written without padding. This class keeps them all in memory; BlockWriter splits them into
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
  // Writes a varint: seven bits per byte, lowest first; all bytes but the last have the high bit set.
  void PutNumber(std::uint64_t number);
  // Writes a signed number in zigzag encoding: 0, -1, 1, -2, ... as 0, 1, 2, 3, ...
  void PutSigned(std::int64_t number);
  // Writes an IEEE 754 double, little-endian.
  void PutDouble(double value);
  // Writes the length, then the bytes.
  void PutText(absl::string_view text);
  void PutBytes(absl::string_view bytes);

  // Returns the bytes of the current block, or all of them without blocks. The writer must not be used
  // afterwards.
  std::string TakeBytes() && { return std::move(bytes_); }

 protected:
  explicit ValueWriter(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Makes room when bytes_ has max_bytes_ bytes.
  virtual void MakeRoom() {}

  std::string bytes_;

 private:
  const std::size_t max_bytes_ = std::string::npos;
};

}  // namespace waystar::core
