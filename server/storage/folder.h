// The interface to the folder that a store's files lie in.
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

// A file that grows. Its destruction closes it, and syncs nothing. Errors do not name the file, which may
// have got another name.
//
// Thread safety: one thread at a time.
class AppendFile {
 public:
  virtual ~AppendFile() = default;

  // Writes all of the bytes, or returns an error, after which any part of them may be in the file.
  virtual absl::Status Append(absl::string_view bytes) = 0;

  // Returns once all that was appended is on stable storage. After an error it is unknown what is there, and
  // another call would not tell: the system forgets what it could not write.
  virtual absl::Status Sync() = 0;

  // Returns DATA_LOSS unless this file has that name in its folder and is as long as what was appended:
  // others may have removed, replaced or cut it.
  virtual absl::Status CheckIs(absl::string_view name) const = 0;
};

// A file of at most one sector of a disk, 512 bytes, that is overwritten in place.
//
// Thread safety: one thread at a time.
class SectorFile {
 public:
  virtual ~SectorFile() = default;

  // Replaces the file's bytes. The loss of power leaves those or the ones before, until it is synced.
  // REQUIRES: `bytes` are as many in all calls, and no more than a sector has.
  virtual absl::Status Overwrite(absl::string_view bytes) = 0;
  virtual absl::Status Sync() = 0;
};

// Names have no '/' in them. Errors name the file and what the system says; RESOURCE_EXHAUSTED if there is no
// space, NOT_FOUND if there is no such file, else UNAVAILABLE.
//
// Thread safety: any method may be called from any thread.
class Folder {
 public:
  virtual ~Folder() = default;

  // Returns the path of a file, or of the folder if the name is empty, for messages.
  virtual std::string PathOf(absl::string_view name) const = 0;
  // Returns the name of this run of the operating system: while it is the same, what was written is found,
  // synced or not. Returns an empty text if it is unknown.
  virtual std::string SystemRun() const = 0;

  // Creates a file, empty, in the place of any of that name.
  virtual absl::StatusOr<std::unique_ptr<AppendFile>> Create(absl::string_view name) = 0;
  // Opens a file, which is created if there is none.
  virtual absl::StatusOr<std::unique_ptr<SectorFile>> OpenSector(absl::string_view name) = 0;
  // Returns all that the file holds. Returns FAILED_PRECONDITION if it is a folder, a pipe or the like.
  virtual absl::StatusOr<std::string> Read(absl::string_view name) const = 0;
  // Returns how many bytes a file holds.
  virtual absl::StatusOr<std::uint64_t> Size(absl::string_view name) const = 0;
  // Returns the names of all files, in their order.
  virtual absl::StatusOr<std::vector<std::string>> List() const = 0;

  // Returns once all that the file holds is on stable storage, whoever wrote it. What it holds from byte
  // `from` on is written again first: once a sync has failed, the system takes for written what it could not
  // write.
  virtual absl::Status Secure(absl::string_view name, std::uint64_t from) = 0;

  // Gives a file another name, taking it from any file that has it. It happens as a whole or not at all.
  virtual absl::Status Rename(absl::string_view from, absl::string_view to) = 0;
  virtual absl::Status Remove(absl::string_view name) = 0;
  // Returns once all names, as created, changed and removed before, are on stable storage.
  virtual absl::Status SyncNames() = 0;
};

// Opens a folder that is named by its path, as OpenPosixFolder does.
using OpenFolder = std::function<absl::StatusOr<std::unique_ptr<Folder>>(const std::string& path)>;

}  // namespace waystar::storage
