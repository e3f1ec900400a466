// Writer of values into the blocks of a map image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "server/core/image/value_writer.h"

namespace waystar::core {

// What every image begins with. As in PNG, the bytes after the name are spoilt wherever a file is mistaken
// for text.
inline constexpr absl::string_view kImageMagic("\x89WAYMAP\r\n\x1a\n", 11);

// The most bytes that a block holds before it is compressed.
inline constexpr std::size_t kImageBlockBytes = std::size_t{1} << 20;

// A block may end within a value. A block is a Zstandard frame with a checksum of its content, which begins
// with the block's number.
//
// Thread safety: one thread at a time.
class BlockWriter final : public ValueWriter {
 public:
  BlockWriter();

  // Returns the image. The writer must not be used afterwards.
  std::string Finish() &&;

 private:
  void BeginBlock();
  void EndBlock();
  void MakeRoom() override;

  std::uint64_t blocks_ = 0;
  std::string image_;
};

}  // namespace waystar::core
