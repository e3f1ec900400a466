// Files of records: each with a checksum that holds for its place in its file alone.
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
#include "server/storage/folder.h"

namespace waystar::storage {

// A file begins with a header of 24 bytes: an 8-byte name of its kind, the version of the format (4 bytes),
// a number that is drawn for the file (8) and the CRC-32C of all that (4). A record follows the one before:
//
//   length (4)  synced (8)  CRC-32C of the payload (4)  CRC-32C of the head (4)  payload (length)
//
// Numbers have their lowest byte first. The checksum of the head covers its fields, the file's number and the
// record's offset, so that what is left of another file is no record of this one. `synced` is the offset up
// to which the file was on stable storage when the record was written: bytes below it that are bad were
// damaged, while bad bytes above it may never have been written.
//
// What has the name of a file has been synced up to some record; a file that is being made has another name.

// The longest payload.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 30;

enum class FileKind { kLog, kImage };

// Returns the name that a file has until it is published, and whether a name is one of these.
std::string TemporaryName(absl::string_view name);
bool IsTemporary(absl::string_view name);
// Returns the name that it would have got. REQUIRES: it is temporary.
absl::string_view NameOfTemporary(absl::string_view name);

// Calls `write`, which writes and syncs a file under its temporary name, and then gives it its name. If one
// of them fails, what was written is removed, since it would only take space. Returns the errors of `write`
// and of the folder.
absl::Status WriteAsAWhole(Folder& folder, absl::string_view name, absl::FunctionRef<absl::Status()> write);
// Does that with a file of these bytes.
absl::Status WriteWholeFile(Folder& folder, absl::string_view name, absl::string_view bytes);

// Appends records to a new file.
//
// Thread safety: one thread at a time.
class RecordWriter {
 public:
  // Creates a file under a temporary name, TemporaryName. Returns the errors of the folder, which
  // must outlive the writer. No number is to be drawn twice for files of one folder.
  static absl::StatusOr<std::unique_ptr<RecordWriter>> Create(Folder& folder, absl::string_view name,
                                                              FileKind kind, std::uint64_t number);

  // Writes a record. After an error the writer must not be used. REQUIRES: it has at most kMaxRecordBytes.
  absl::Status Append(absl::string_view payload);
  // Brings what was appended to stable storage. After an error the writer must not be used.
  absl::Status Sync();
  // Syncs the file, gives it its name and syncs that.
  absl::Status Publish();
  // Returns DATA_LOSS unless the file is still there as it was written.
  absl::Status CheckIsThere() const;

  // Returns the file's size, and how much of it is on stable storage.
  std::uint64_t size() const { return size_; }
  std::uint64_t synced() const { return synced_; }

 private:
  RecordWriter(Folder& folder, absl::string_view name, std::uint64_t number)
      : folder_(folder), name_(name), current_name_(TemporaryName(name)), number_(number) {}

  // Adds the file's path to an error.
  absl::Status Named(const absl::Status& status) const;

  Folder& folder_;
  const std::string name_;
  // The name that it has.
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
  // The offset at which the last record ends.
  std::uint64_t end = 0;
  // How many bytes follow it that are no record: a torn write.
  std::uint64_t torn_bytes = 0;
  // How many bytes were on stable storage when the last record was written, as that says.
  std::uint64_t synced = 0;
};

// Reads a file of records. With `end` it reads exactly as far, whatever follows. Without, it reads up to the
// first record that is torn. Returns DATA_LOSS with the path and the offset if a record is damaged, and
// FAILED_PRECONDITION if the file is of a version that is not known.
absl::StatusOr<RecordFile> ReadRecords(absl::string_view path, absl::string_view bytes, FileKind kind,
                                       std::optional<std::uint64_t> end);

}  // namespace waystar::storage
