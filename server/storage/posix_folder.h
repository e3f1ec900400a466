// Folder of the file system.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/folder.h"

namespace waystar::storage {

// Opens a folder, which is created if its parent exists, and locks it until it is destroyed. Nothing is
// written to a folder that exists. The name of a folder without a log is brought to stable storage. Returns
// FAILED_PRECONDITION if another process has locked it.
absl::StatusOr<std::unique_ptr<Folder>> OpenPosixFolder(const std::string& path);

// Opens a folder that exists, for several processes at once, on several machines if its file system is
// shared. Returns the errors of Folder.
absl::StatusOr<std::unique_ptr<Folder>> OpenSharedPosixFolder(const std::string& path);

}  // namespace waystar::storage
