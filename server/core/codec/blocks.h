// Writer and reader of values in the compressed blocks of a map image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "server/core/codec/values.h"

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

// Decompresses the blocks of a BlockWriter. Holds at most one decompressed block.
//
// Thread safety: one thread at a time.
class BlockReader final : public ValueReader {
 public:
  // `max_content_bytes` limits the decompressed size. The image must outlive the reader. If the magic is
  // missing, status() is an error.
  BlockReader(absl::string_view image, std::uint64_t max_content_bytes);

  bool IsAtEnd() const override { return read_ == bytes_.size() && next_ == image_.size(); }

 private:
  void NextBytes() override;
  std::string Place() const override;

  const absl::string_view image_;
  std::uint64_t content_left_;
  // Offset of the current block, and of the next one.
  std::size_t block_begin_ = 0;
  std::size_t next_ = 0;
  std::uint64_t blocks_ = 0;
  std::string block_;
};

}  // namespace waystar::core
