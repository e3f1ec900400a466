// Files of records, each with a checksum that is valid only at its offset in its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/storage/folder/folder.h"

namespace waystar::storage {

// A file begins with a header of 24 bytes: an 8-byte magic string for its kind, the format version (4 bytes),
// a random number of the file (8) and the CRC-32C of all that (4). Records follow, one after another:
//
//   length (4)  synced (8)  CRC-32C of the payload (4)  CRC-32C of the head (4)  payload (length)
//
// Numbers are little-endian. The checksum of the head covers its fields, the file's number and the record's
// offset, so leftover bytes of another file are not valid records of this one. `synced` is the offset up to
// which the file was on stable storage when the record was written: bad bytes below it are damage, bad bytes
// above it may be a torn write.
//
// A file gets its final name only after its contents up to some record were synced; until then it has a
// temporary name.

// Maximum size of a payload in bytes.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 30;

enum class FileKind { kLog, kImage };

// TemporaryName returns the name of a file until it is published; IsTemporary recognizes such names.
std::string TemporaryName(absl::string_view name);
bool IsTemporary(absl::string_view name);
// Returns the final name.
// REQUIRES: `name` is temporary.
absl::string_view NameOfTemporary(absl::string_view name);

// Calls `write`, which writes and syncs a file under its temporary name, then renames it. On failure, removes
// the temporary file. Returns the errors of `write` and of the folder.
absl::Status WriteAsAWhole(Folder& folder, absl::string_view name, absl::FunctionRef<absl::Status()> write);
// Writes a file with these contents by WriteAsAWhole.
absl::Status WriteWholeFile(Folder& folder, absl::string_view name, absl::string_view bytes);

// Writer of a new record file.
//
// Thread safety: one thread at a time.
class RecordWriter {
 public:
  // Creates a file under its temporary name. `number` must be unique within the folder. The folder must
  // outlive the writer. Returns the errors of the folder.
  static absl::StatusOr<std::unique_ptr<RecordWriter>> Create(Folder& folder, absl::string_view name,
                                                              FileKind kind, std::uint64_t number);

  // Writes a record. After an error the writer must not be used.
  // REQUIRES: `payload` has at most kMaxRecordBytes.
  absl::Status Append(absl::string_view payload);
  // Waits until everything appended is on stable storage. After an error the writer must not be used.
  absl::Status Sync();
  // Syncs the file, renames it to its final name, and syncs the name.
  absl::Status Publish();
  // Returns DATA_LOSS if the file was removed, replaced or resized by someone else.
  absl::Status CheckIsThere() const;

  // Size of the file, and how much of it is on stable storage, in bytes.
  std::uint64_t size() const { return size_; }
  std::uint64_t synced() const { return synced_; }

 private:
  RecordWriter(Folder& folder, absl::string_view name, std::uint64_t number)
      : folder_(folder), name_(name), current_name_(TemporaryName(name)), number_(number) {}

  // Adds the file's path to an error.
  absl::Status Named(const absl::Status& status) const;

  Folder& folder_;
  const std::string name_;
  // Current name: temporary until published.
  std::string current_name_;
  const std::uint64_t number_;
  std::unique_ptr<AppendFile> file_;
  std::string buffer_;
  std::uint64_t size_ = 0;
  std::uint64_t synced_ = 0;
};

struct Record {
  std::uint64_t offset = 0;
  // Points into the file's bytes.
  absl::string_view payload;
};

struct RecordFile {
  std::vector<Record> records;
  // Offset of the end of the last valid record.
  std::uint64_t end = 0;
  // Bytes after `end`: a torn write.
  std::uint64_t torn_bytes = 0;
  // Offset up to which the file was on stable storage, according to the last record.
  std::uint64_t synced = 0;
};

// Reads a record file. With `end`, reads exactly up to that offset and ignores the rest; otherwise reads up
// to the first torn record. Returns DATA_LOSS, with the path and the offset, if a record is damaged, and
// FAILED_PRECONDITION if the file has an unknown format version.
absl::StatusOr<RecordFile> ReadRecords(absl::string_view path, absl::string_view bytes, FileKind kind,
                                       std::optional<std::uint64_t> end);

// Returns the CRC-32C (RFC 3720) of `bytes` appended to data whose checksum is `before`. It detects every
// error burst of up to 32 bits.
std::uint32_t Crc32c(absl::string_view bytes, std::uint32_t before = 0);

// Returns the bytes, preceded by their checksum in eight hexadecimal digits.
std::string WithChecksum(absl::string_view bytes);
// Returns the bytes that WithChecksum was given; nullopt if the checksum does not match.
std::optional<absl::string_view> WithoutChecksum(absl::string_view bytes);

}  // namespace waystar::storage
