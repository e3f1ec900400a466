#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/base/status_macros.h"
#include "server/data_tool/commands.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/folder_files.h"
#include "server/storage/folder/folder_reader.h"
#include "server/storage/folder/image_file.h"

namespace waystar::data_tool {
namespace {

constexpr absl::string_view kRestore =
    "Bring the folder, or those maps, back from a backup; docs/backup.md says how.\n";

// Returns where a map was read from: "image-arena-7-12 and 3 commits", or "its creation in the log and 3
// commits".
std::string SourceText(const DataFiles& files, const std::string& map, const storage::ReadMapResult& read) {
  const auto image = files.images.find(map);
  return absl::StrCat(
      image == files.images.end() ? "its creation in the log" : storage::ImageFileName(image->second),
      " and ", CountText(read.commits, "commit"));
}

void WriteFiles(absl::string_view what, const std::vector<std::string>& names, std::ostream& out) {
  if (!names.empty()) {
    out << what << ": " << absl::StrJoin(names, ", ") << "\n";
  }
}

void WriteOtherFiles(const DataFiles& files, std::ostream& out) {
  const storage::OtherFiles others = storage::FindOtherFiles(files.names, files.history, files.images);
  WriteFiles("Not needed by any map of the log", others.left_overs, out);
  WriteFiles("Images that nothing explains, and left alone", others.unknown_images, out);
  WriteFiles("Copies of files of damaged maps, and left alone", others.kept, out);
  WriteFiles("Not a server's, and left alone", others.strangers, out);
}

}  // namespace

std::size_t CheckMaps(const storage::Folder& folder, const DataFiles& files, std::ostream& out) {
  std::size_t damaged = 0;
  for (const storage::LiveMap& map : files.history.next.maps) {
    const auto read = storage::ReadMap(folder, files.history, files.images, map);
    if (read.ok()) {
      out << map.id << ": ok, revision " << map.revision << ", from " << SourceText(files, map.id, *read)
          << "\n";
    } else {
      out << map.id << ": " << read.status().message() << "\n";
      ++damaged;
    }
  }
  return damaged;
}

absl::StatusOr<bool> CheckFolder(const storage::Folder& folder, std::ostream& out) {
  const absl::StatusOr<DataFiles> files = ReadDataFiles(folder);
  if (files.status().code() == absl::StatusCode::kDataLoss) {
    out << "The log cannot be read: " << files.status().message() << "\n"
        << "No server starts on this folder. " << kRestore;
    WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder.List());
    if (storage::HasLogFile(names)) {
      out << "If the damage is in the log's last file, `waystar-server data truncate` can cut it off "
             "there.\n";
    }
    return false;
  }
  WAYSTAR_RETURN_IF_ERROR(files.status());
  const absl::StatusOr<std::string> doubt = storage::CheckMark(folder, files->history, files->names);
  if (!doubt.ok()) {
    out << doubt.status().message() << ".\nNo server starts on this folder. " << kRestore;
    if (storage::HasLogFile(files->names)) {
      out << "If what is missing is to be given up, `waystar-server data truncate` can cut the log's last "
             "file "
             "at its end.\n";
    }
    return false;
  }
  if (!doubt->empty()) {
    out << "Maps get new epochs at the next start, since changes may be missing: " << *doubt << ".\n";
  }
  const std::size_t damaged = CheckMaps(folder, *files, out);
  if (files->history.torn_bytes > 0) {
    out << "The log ends with " << CountText(files->history.torn_bytes, "byte")
        << " of a write that was cut short. It was never acknowledged, and it is skipped.\n";
  }
  WriteOtherFiles(*files, out);
  const std::size_t maps = files->history.next.maps.size();
  if (damaged == 0) {
    out << "All is well with " << CountText(maps, "map") << ".\n";
    return true;
  }
  out << damaged << " of " << CountText(maps, "map")
      << " cannot be read. A server that starts with --skip_damaged_maps leaves out those that are damaged, "
         "and keeps their files. "
      << kRestore;
  return false;
}

}  // namespace waystar::data_tool
