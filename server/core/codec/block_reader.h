// Decompressing reader of the values of a map image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "server/core/codec/value_reader.h"

namespace waystar::core {

// Holds at most one decompressed block.
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
