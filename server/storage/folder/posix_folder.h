// Folder in a POSIX file system.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/folder/folder.h"

namespace waystar::storage {

// Opens and locks a folder; creates it if its parent exists. The lock is held until destruction. Writes
// nothing into an existing folder. Syncs the name of a folder that has no log. Returns FAILED_PRECONDITION if
// another process holds the lock.
absl::StatusOr<std::unique_ptr<Folder>> OpenPosixFolder(const std::string& path);

// Opens an existing folder without a lock, for use by several processes, also on several machines with a
// shared file system. Returns the errors of Folder.
absl::StatusOr<std::unique_ptr<Folder>> OpenSharedPosixFolder(const std::string& path);

}  // namespace waystar::storage
