// The interface to the folder that a store's files lie in.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::storage {

// A file that grows. Its destruction closes it, and syncs nothing.
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
};

// Names have no '/' in them. Errors name the file and what the system says; RESOURCE_EXHAUSTED if there is no
// space, NOT_FOUND if there is no such file, else UNAVAILABLE.
//
// Thread safety: any method may be called from any thread.
class Folder {
 public:
  virtual ~Folder() = default;

  // Returns the path, for messages.
  virtual std::string PathOf(absl::string_view name) const = 0;

  // Creates a file, empty, in the place of any of that name.
  virtual absl::StatusOr<std::unique_ptr<AppendFile>> Create(absl::string_view name) = 0;
  // Returns all that the file holds.
  virtual absl::StatusOr<std::string> Read(absl::string_view name) const = 0;
  // Returns the names of all files, in their order.
  virtual absl::StatusOr<std::vector<std::string>> List() const = 0;

  // Gives a file another name, taking it from any file that has it. It happens as a whole or not at all.
  virtual absl::Status Rename(absl::string_view from, absl::string_view to) = 0;
  virtual absl::Status Remove(absl::string_view name) = 0;
  // Returns once all names, as created, changed and removed before, are on stable storage.
  virtual absl::Status SyncNames() = 0;
};

// Opens a folder that is named by its path, as OpenPosixFolder does.
using OpenFolder = std::function<absl::StatusOr<std::unique_ptr<Folder>>(const std::string& path)>;

}  // namespace waystar::storage
