// Reader of the values that BlockWriter put into a map image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

// After the first error every value is 0 or empty, and status() tells what is wrong and at which byte; so
// whoever reads a list looks at ok() before it reads on. It takes the memory of two blocks.
//
// Thread safety: one thread at a time.
class BlockReader {
 public:
  // The image, of at most `max_content_bytes` before it was compressed, must outlive the reader. Without the
  // magic, status() tells so.
  BlockReader(absl::string_view image, std::uint64_t max_content_bytes);

  bool ok() const { return status_.ok(); }
  // Returns OK, or INVALID_ARGUMENT / BAD_FORMAT with the offset in the image.
  const absl::Status& status() const { return status_; }
  // Sets the error, unless there is one.
  void Fail(absl::string_view message);

  std::uint8_t Byte();
  // A value other than 0 and 1 is an error.
  bool Bool();
  // A greater number than `max` is an error.
  std::uint64_t Number(std::uint64_t max);
  std::int64_t Signed(std::int64_t min, std::int64_t max);
  double Double();
  // A longer text than `max_bytes` is an error.
  std::string Text(std::size_t max_bytes);
  // Fills as many bytes as there is space for.
  void Bytes(char* space, std::size_t count);

  // Returns status(), after checking that nothing follows.
  absl::Status Finish();

 private:
  // Returns whether there is a byte to be read, now in block_.
  bool HasByte();
  void NextBlock();

  const absl::string_view image_;
  std::uint64_t content_left_;
  // The offset of the block that is read, and of what follows it.
  std::size_t block_begin_ = 0;
  std::size_t next_ = 0;
  std::uint64_t blocks_ = 0;
  std::string block_;
  std::size_t read_ = 0;
  absl::Status status_;
};

}  // namespace waystar::core
