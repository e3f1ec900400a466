// Copies of files that a damaged map was read from.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/storage/folder.h"

namespace waystar::storage {

// Returns the name of a file's copy: its own with ".kept" after it.
std::string KeptName(absl::string_view name);
// Returns the name of the file that a name of a copy is for; the same name if it is not that of a copy.
absl::string_view OriginalOfKept(absl::string_view name);

// Copies the files, and returns once the copies are on stable storage. What has one already is not copied
// again. Returns the errors of the folder.
absl::Status KeepFiles(Folder& folder, const std::vector<std::string>& names);

}  // namespace waystar::storage
