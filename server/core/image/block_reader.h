// Reader of the values that BlockWriter put into a map image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "server/core/image/value_reader.h"

namespace waystar::core {

// It takes the memory of two blocks.
//
// Thread safety: one thread at a time.
class BlockReader final : public ValueReader {
 public:
  // The image, of at most `max_content_bytes` before it was compressed, must outlive the reader. Without the
  // magic, status() tells so.
  BlockReader(absl::string_view image, std::uint64_t max_content_bytes);

  bool IsAtEnd() const override { return read_ == bytes_.size() && next_ == image_.size(); }

 private:
  void NextBytes() override;
  std::string Place() const override;

  const absl::string_view image_;
  std::uint64_t content_left_;
  // The offset of the block that is read, and of what follows it.
  std::size_t block_begin_ = 0;
  std::size_t next_ = 0;
  std::uint64_t blocks_ = 0;
  std::string block_;
};

}  // namespace waystar::core
