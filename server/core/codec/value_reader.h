// Reader of the values that ValueWriter writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

// After the first error, all values are 0 or empty, and status() has the message and the position. So a loop
// over a list must check ok().
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
  bool Bool();
  // Fails if the number is greater than `max`.
  std::uint64_t Number(std::uint64_t max);
  std::int64_t Signed(std::int64_t min, std::int64_t max);
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

}  // namespace waystar::core
