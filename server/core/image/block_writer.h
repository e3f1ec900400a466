// Writer of values into the blocks of a map image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace waystar::core {

// What every image begins with. As in PNG, the bytes after the name are spoilt wherever a file is mistaken
// for text.
inline constexpr absl::string_view kImageMagic("\x89WAYMAP\r\n\x1a\n", 11);

// The most bytes that a block holds before it is compressed.
inline constexpr std::size_t kImageBlockBytes = std::size_t{1} << 20;

// Values follow each other without padding, and a block may end within one. A block is a Zstandard frame with
// a checksum of its content, which begins with the block's number.
//
// Thread safety: one thread at a time.
class BlockWriter {
 public:
  BlockWriter();

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

  // Returns the image. The writer must not be used afterwards.
  std::string Finish() &&;

 private:
  void BeginBlock();
  void EndBlock();

  std::string block_;
  std::uint64_t blocks_ = 0;
  std::string image_;
};

}  // namespace waystar::core
