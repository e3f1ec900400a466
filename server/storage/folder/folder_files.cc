#include "server/storage/folder/folder_files.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "server/base/status_macros.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/image_file.h"
#include "server/storage/folder/log_mark.h"
#include "server/storage/folder/record_file.h"

namespace waystar::storage {
namespace {

constexpr absl::string_view kSuffix = ".kept";

bool IsDataFile(absl::string_view name) { return LogFileNumber(name) || ParseImageFileName(name); }

bool IsKept(absl::string_view name) {
  const absl::string_view original = OriginalOfKept(name);
  return original != name && IsDataFile(original);
}

bool IsUnfinished(absl::string_view name) {
  const absl::string_view whole = NameOfTemporary(name);
  return IsTemporary(name) && (IsDataFile(whole) || IsKept(whole));
}

bool IsNeeded(std::uint64_t log, const LogHistory& history) {
  return std::ranges::any_of(history.files, [&](const LogFile& file) { return file.number == log; });
}

// Returns true if a newer image or the log makes this image obsolete, or if its map was deleted.
bool IsReplaced(const ImageName& image, const LogHistory& history, const ImagesByMap& images) {
  return history.ended_epochs.contains(image.version.epoch) ||
         (images.contains(image.map) && IsKnown(image.version, history.epochs.at(image.map)));
}

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

OtherFiles FindOtherFiles(const std::vector<std::string>& names, const LogHistory& history,
                          const ImagesByMap& images) {
  OtherFiles files;
  for (const std::string& name : names) {
    if (const std::optional<ImageName> image = ParseImageFileName(name)) {
      const auto used = images.find(image->map);
      if (used == images.end() || ImageFileName(used->second) != name) {
        (IsReplaced(*image, history, images) ? files.left_overs : files.unknown_images).push_back(name);
      }
    } else if (const std::optional<std::uint64_t> log = LogFileNumber(name)) {
      if (!IsNeeded(*log, history)) {
        files.left_overs.push_back(name);
      }
    } else if (IsUnfinished(name)) {
      files.left_overs.push_back(name);
    } else if (IsKept(name)) {
      files.kept.push_back(name);
    } else if (name != kMarkName) {
      files.strangers.push_back(name);
    }
  }
  return files;
}

}  // namespace waystar::storage
