// Interface to the folder that holds a store's files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::storage {

// An append-only file. The destructor closes it without a sync. Errors do not name the file, since it may
// have been renamed.
//
// Thread safety: one thread at a time.
class AppendFile {
 public:
  virtual ~AppendFile() = default;

  // Writes all bytes. After an error, any part of them may be in the file.
  virtual absl::Status Append(absl::string_view bytes) = 0;

  // Waits until everything appended is on stable storage. After an error the state is unknown, and a second
  // call proves nothing: the kernel forgets pages that it failed to write.
  virtual absl::Status Sync() = 0;

  // Returns DATA_LOSS if the folder has another file under that name, or the file's size differs from what
  // was appended: someone removed, replaced or cut it.
  virtual absl::Status CheckIs(absl::string_view name) const = 0;
};

// A file of at most one disk sector, 512 bytes, that is overwritten in place.
//
// Thread safety: one thread at a time.
class SectorFile {
 public:
  virtual ~SectorFile() = default;

  // Replaces the contents. Until a sync, a power failure may leave the old or the new contents.
  // REQUIRES: `bytes` has the same size in all calls, at most one sector.
  virtual absl::Status Overwrite(absl::string_view bytes) = 0;
  virtual absl::Status Sync() = 0;
};

// A folder and its files. Names contain no '/'. Errors name the file and the system's message. The code is
// RESOURCE_EXHAUSTED if the disk is full, NOT_FOUND if the file does not exist, else UNAVAILABLE.
//
// Thread safety: any method may be called from any thread.
class Folder {
 public:
  virtual ~Folder() = default;

  // Returns the path of a file, or of the folder if the name is empty, for messages.
  virtual std::string PathOf(absl::string_view name) const = 0;
  // Returns the boot id of the operating system; empty if unknown. While it is unchanged, written data can be
  // read back even if it was not synced.
  virtual std::string SystemRun() const = 0;

  // Creates an empty file, replacing any file of that name.
  virtual absl::StatusOr<std::unique_ptr<AppendFile>> Create(absl::string_view name) = 0;
  // Opens a file; creates it if there is none.
  virtual absl::StatusOr<std::unique_ptr<SectorFile>> OpenSector(absl::string_view name) = 0;
  // Returns the contents of a file. Returns FAILED_PRECONDITION if it is not a regular file.
  virtual absl::StatusOr<std::string> Read(absl::string_view name) const = 0;
  // Returns the size of a file in bytes.
  virtual absl::StatusOr<std::uint64_t> Size(absl::string_view name) const = 0;
  // Returns the names of all files, sorted.
  virtual absl::StatusOr<std::vector<std::string>> List() const = 0;

  // Waits until the contents of a file are on stable storage, even if another process wrote them. Rewrites
  // the bytes from offset `from` on first: after a failed sync, the kernel treats lost pages as written.
  virtual absl::Status Secure(absl::string_view name, std::uint64_t from) = 0;

  // Renames a file atomically, replacing any file with the new name.
  virtual absl::Status Rename(absl::string_view from, absl::string_view to) = 0;
  virtual absl::Status Remove(absl::string_view name) = 0;
  // Waits until all created, changed and removed names are on stable storage.
  virtual absl::Status SyncNames() = 0;
};

// Calls Remove. A missing file is no error.
absl::Status RemoveIfThere(Folder& folder, absl::string_view name);

// Opens a folder by its path, as OpenPosixFolder does.
using OpenFolder = std::function<absl::StatusOr<std::unique_ptr<Folder>>(const std::string& path)>;

// Opens and locks a folder of the file system; creates it if its parent exists. The lock is held until
// destruction. Writes nothing into an existing folder. Syncs the name of a folder that has no log. Returns
// FAILED_PRECONDITION if another process holds the lock.
absl::StatusOr<std::unique_ptr<Folder>> OpenPosixFolder(const std::string& path);

// Opens an existing folder without a lock, for use by several processes, also on several machines with a
// shared file system. Returns the errors of Folder.
absl::StatusOr<std::unique_ptr<Folder>> OpenSharedPosixFolder(const std::string& path);

}  // namespace waystar::storage
