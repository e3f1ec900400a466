#include "server/storage/folder/kept_files.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/status_macros.h"
#include "server/storage/folder/record_file.h"

namespace waystar::storage {
namespace {

constexpr absl::string_view kSuffix = ".kept";

}  // namespace

std::string KeptName(absl::string_view name) { return absl::StrCat(name, kSuffix); }

absl::string_view OriginalOfKept(absl::string_view name) { return absl::StripSuffix(name, kSuffix); }

absl::Status KeepFiles(Folder& folder, const std::vector<std::string>& names) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> there, folder.List());
  for (const std::string& name : names) {
    if (!std::ranges::binary_search(there, KeptName(name))) {
      WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, folder.Read(name));
      WAYSTAR_RETURN_IF_ERROR(WriteWholeFile(folder, KeptName(name), bytes));
    }
  }
  return names.empty() ? absl::OkStatus() : folder.SyncNames();
}

}  // namespace waystar::storage
