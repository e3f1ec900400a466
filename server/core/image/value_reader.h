// Reader of the plain values that ValueWriter put.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

// After the first error every value is 0 or empty, and status() tells what is wrong and at which byte; so
// whoever reads a list looks at ok() before it reads on.
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

  // Returns whether nothing follows.
  virtual bool IsAtEnd() const { return read_ == bytes_.size(); }
  // Returns status(), after checking that nothing follows.
  absl::Status Finish();

 protected:
  // Puts what follows into bytes_ and 0 into read_, or fails.
  virtual void NextBytes() { Fail("it ends too early"); }
  // Returns where it reads, for errors.
  virtual std::string Place() const;

  absl::string_view bytes_;
  std::size_t read_ = 0;
  absl::Status status_;

 private:
  // Returns whether there is a byte to be read, now in bytes_.
  bool HasByte();
};

}  // namespace waystar::core
