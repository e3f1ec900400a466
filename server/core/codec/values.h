// Binary writers and readers of plain values, also in the compressed blocks of a map image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

inline constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();

// Writes values without padding. This class keeps them all in memory; BlockWriter splits them into blocks.
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
  // Writes eight bytes, little-endian.
  void PutFixed(std::uint64_t bits);
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

// Reads the values of a ValueWriter. After the first error, all values are 0 or empty, and status() has the
// message and the position. So a loop over a list must check ok().
//
// Thread safety: one thread at a time.
class ValueReader {
 public:
  // The bytes must outlive the reader.
  explicit ValueReader(absl::string_view bytes) : bytes_(bytes) {}
  ValueReader(const ValueReader&) = delete;
  ValueReader& operator=(const ValueReader&) = delete;
  virtual ~ValueReader() = default;

  bool ok() const { return status_.ok(); }
  // Returns OK, or INVALID_ARGUMENT / BAD_FORMAT with the offset.
  const absl::Status& status() const { return status_; }
  // Sets the error, unless there is one already.
  void Fail(absl::string_view message);

  std::uint8_t Byte();
  // Fails if the value is neither 0 nor 1.
  bool Bool() { return Number(1) == 1; }
  // Fails if the number is greater than `max`.
  std::uint64_t Number(std::uint64_t max = kAnyNumber);
  std::int64_t Signed(std::int64_t min, std::int64_t max);
  std::uint64_t Fixed();
  double Double();
  // Fails if the text is longer than `max_bytes`.
  std::string Text(std::size_t max_bytes);
  // Reads `count` bytes into `space`.
  void Bytes(char* space, std::size_t count);

  // Returns true if all bytes were read.
  virtual bool IsAtEnd() const { return read_ == bytes_.size(); }
  // Fails if bytes are left. Returns status().
  absl::Status Finish();

 protected:
  // Sets bytes_ to the next bytes and read_ to 0, or fails.
  virtual void NextBytes() { Fail("it ends too early"); }
  // Returns the current position, for error messages.
  virtual std::string Place() const;

  absl::string_view bytes_;
  std::size_t read_ = 0;
  absl::Status status_;

 private:
  // Returns true if bytes_ has a byte to read; loads the next bytes if needed.
  bool HasByte();
};

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
