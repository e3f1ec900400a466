// Writer of values into the compressed blocks of a map image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "server/core/codec/value_writer.h"

namespace waystar::core {

// Magic bytes of every image. As in PNG, the bytes after the name are altered if the file is transferred as
// text.
inline constexpr absl::string_view kImageMagic("\x89WAYMAP\r\n\x1a\n", 11);

// Largest size of a block in bytes before compression.
inline constexpr std::size_t kImageBlockBytes = std::size_t{1} << 20;

// A block is a zstd frame with a content checksum. Its content begins with the block's number. Values may
// cross blocks.
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
