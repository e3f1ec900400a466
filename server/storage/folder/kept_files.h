// Copies of files of damaged maps.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/storage/folder/folder.h"

namespace waystar::storage {

// Returns the name of a file's copy: its own name plus ".kept".
std::string KeptName(absl::string_view name);
// Returns the name of the copied file; `name` itself if it is not that of a copy.
absl::string_view OriginalOfKept(absl::string_view name);

// Copies the files and waits until the copies are on stable storage. Files that already have a copy are
// skipped. Returns the errors of the folder.
absl::Status KeepFiles(Folder& folder, const std::vector<std::string>& names);

}  // namespace waystar::storage
