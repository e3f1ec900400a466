#include "server/storage/kept_files.h"

#include <algorithm>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/storage/record_file.h"

namespace waystar::storage {
namespace {

absl::Status Copy(Folder& folder, const std::string& name) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, folder.Read(name));
  return WriteAsAWhole(folder, KeptName(name), [&]() -> absl::Status {
    WAYSTAR_ASSIGN_OR_RETURN(const std::unique_ptr<AppendFile> file,
                             folder.Create(TemporaryName(KeptName(name))));
    WAYSTAR_RETURN_IF_ERROR(file->Append(bytes));
    return file->Sync();
  });
}

}  // namespace

std::string KeptName(absl::string_view name) { return absl::StrCat(name, ".kept"); }

absl::Status KeepFiles(Folder& folder, const std::vector<std::string>& names) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> there, folder.List());
  for (const std::string& name : names) {
    if (!std::ranges::binary_search(there, KeptName(name))) {
      WAYSTAR_RETURN_IF_ERROR(Copy(folder, name));
    }
  }
  return names.empty() ? absl::OkStatus() : folder.SyncNames();
}

}  // namespace waystar::storage
