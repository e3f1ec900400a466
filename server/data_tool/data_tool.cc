#include "server/data_tool/data_tool.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "server/base/error.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_edits.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/folder_reader.h"
#include "server/storage/folder/image_file.h"
#include "server/storage/folder/log_entry.h"
#include "server/storage/folder/record_file.h"

namespace waystar::data_tool {
namespace {

// File names, log and newest images of a data folder, without the maps.
struct DataFiles {
  std::vector<std::string> names;
  storage::LogHistory history;
  storage::ImagesByMap images;
};

// As if the last file of the log had at most so many bytes. Returns the errors of Folder::List and
// ReadLogFiles.
absl::StatusOr<DataFiles> ReadDataFiles(const storage::Folder& folder,
                                        std::size_t last_bytes = std::string::npos) {
  DataFiles files;
  WAYSTAR_ASSIGN_OR_RETURN(files.names, folder.List());
  WAYSTAR_ASSIGN_OR_RETURN(files.history, storage::ReadLogFiles(folder, files.names, last_bytes));
  files.images = storage::NewestImages(files.names, files.history);
  return files;
}

std::string CountText(std::size_t count, absl::string_view thing) {
  return absl::StrCat(count, " ", thing, count == 1 ? "" : "s");
}

using Row = std::vector<std::string>;

std::string NameOf(core::MapKind kind) {
  switch (kind) {
    case core::MapKind::kSquares:
      return "grid";
    case core::MapKind::kHexagons:
      return "hex";
    case core::MapKind::kWaypointGraph:
      return "graph";
    case core::MapKind::kMesh:
      return "mesh";
  }
  return "";
}

std::string SizeOf(const core::GridMap& map) { return absl::StrCat(map.width(), " x ", map.height()); }
std::string SizeOf(const core::WaypointGraph& graph) { return absl::StrCat(graph.node_count(), " nodes"); }
std::string SizeOf(const core::NavMesh& mesh) { return absl::StrCat(mesh.polygon_count(), " polygons"); }

Row RowOf(const DataFiles& files, const storage::ReadMapResult& read) {
  const core::MapSnapshot& map = read.state.snapshot;
  const auto image = files.images.find(map.id);
  const bool has_image = image != files.images.end();
  return {map.id,
          NameOf(map.kind()),
          std::visit([](const auto& of_kind) { return SizeOf(of_kind); }, map.map),
          absl::StrCat(map.epoch),
          absl::StrCat(map.revision),
          absl::StrCat(absl::Hex(map.digest(), absl::kZeroPad16)),
          has_image ? storage::ImageFileName(image->second) : "-",
          has_image ? absl::StrCat(read.image_bytes) : "-",
          absl::StrCat(read.commits)};
}

// Prints left-aligned columns; the last one is not padded.
void WriteTable(const std::vector<Row>& rows, std::ostream& out) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      out << row[i] << std::string(widths[i] - row[i].size() + 2, ' ');
    }
    out << row.back() << "\n";
  }
}

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

// Hexagons appear in plane coordinates (grid_settings.h), since the log does not contain the layout.
std::string CommitLine(const core::LoggedCommit& logged, std::uint64_t epoch) {
  const core::Commit& commit = *logged.commit;
  v1::MapRevision message;
  rpc::FillCommit(commit, rpc::HexCoordinates(), message);
  message.mutable_version()->set_epoch(epoch);
  for (const core::Edit& edit : commit.edits) {
    rpc::FillEdit(edit, rpc::HexCoordinates(), *message.add_edits());
  }
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(message, &text).ok()) {
    text = "{}";
  }
  auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  json["digest"] = absl::StrCat(absl::Hex(commit.digest, absl::kZeroPad16));
  if (!logged.request_id.empty()) {
    json["requestId"] = logged.request_id;
  }
  if (logged.request_time) {
    json["requestTime"] = absl::FormatTime(absl::RFC3339_full, *logged.request_time, absl::UTCTimeZone());
  }
  return json.dump();
}

// Prints one line per map and one for the log. A damaged map gets a line with its error. Returns true if no
// map is damaged. Holds one map in memory at a time. Returns the errors of ReadDataFiles.
absl::StatusOr<bool> ListMaps(const storage::Folder& folder, std::ostream& out) {
  WAYSTAR_ASSIGN_OR_RETURN(const DataFiles files, ReadDataFiles(folder));
  std::vector<Row> rows = {
      {"MAP", "KIND", "SIZE", "EPOCH", "REVISION", "DIGEST", "IMAGE", "BYTES", "COMMITS"}};
  std::vector<std::string> damaged;
  for (const storage::LiveMap& map : files.history.next.maps) {
    if (const auto read = storage::ReadMap(folder, files.history, files.images, map); read.ok()) {
      rows.push_back(RowOf(files, *read));
    } else {
      damaged.push_back(absl::StrCat(map.id, ": ", read.status().message()));
    }
  }
  WriteTable(rows, out);
  for (const std::string& line : damaged) {
    out << line << "\n";
  }
  std::uint64_t bytes = 0;
  for (const storage::LogFile& file : files.history.files) {
    bytes += file.bytes.size();
  }
  out << CountText(files.history.next.maps.size(), "map") << "; the log has "
      << CountText(files.history.files.size(), "file") << " of together " << bytes << " bytes.\n";
  return damaged.empty();
}

// Reads each map as a start would, one at a time, and prints a line for it. Returns the number of damaged
// maps.
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

// Checks the log and calls CheckMaps; prints all findings and what to do about them. Returns true if a server
// would start and load every map. Changes nothing in the folder.
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

// Prints the commits of a map by revision, one JSON line each: a MapRevision of the API with its edits, the
// digest as 16 hexadecimal digits, and requestId and requestTime if the batch had them. Returns NOT_FOUND if
// the map does not exist, DATA_LOSS if a commit is damaged, and the errors of ReadDataFiles.
absl::Status DumpCommits(const storage::Folder& folder, const std::string& map, std::ostream& out) {
  WAYSTAR_ASSIGN_OR_RETURN(const DataFiles files, ReadDataFiles(folder));
  const auto& maps = files.history.next.maps;
  if (std::ranges::none_of(maps, [&](const storage::LiveMap& live) { return live.id == map; })) {
    return absl::NotFoundError(absl::StrCat("there is no map \"", map, "\" in ", folder.PathOf("")));
  }
  const auto entries = files.history.entries.find(map);
  if (entries == files.history.entries.end()) {
    return absl::OkStatus();
  }
  for (const storage::LocatedEntry& located : entries->second) {
    if (located.entry.kind != storage::LogEntry::Kind::kCommits) {
      continue;
    }
    const auto commits = storage::DecodeCommits(located.entry.body);
    if (!commits.ok()) {
      return storage::Damage(files.history.files[located.file].path, located.offset,
                             commits.status().message());
    }
    for (const core::LoggedCommit& commit : *commits) {
      out << CommitLine(commit, located.entry.epoch) << "\n";
    }
  }
  return absl::OkStatus();
}

constexpr absl::string_view kKeptSuffix = ".uncut";

absl::StatusOr<std::string> LastLogFile(const storage::Folder& folder) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder.List());
  std::optional<std::uint64_t> last;
  for (const std::string& name : names) {
    if (const auto number = storage::LogFileNumber(name); number && (!last || *last < *number)) {
      last = number;
    }
  }
  if (!last) {
    return absl::InvalidArgumentError("the folder has no log");
  }
  return storage::LogFileName(*last);
}

// Returns the offset at which to cut the file.
absl::StatusOr<std::uint64_t> CutOf(const std::string& path, absl::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size()) {
    return absl::InvalidArgumentError(absl::StrCat(path, " has only ", bytes.size(), " bytes"));
  }
  WAYSTAR_ASSIGN_OR_RETURN(
      const storage::RecordFile file,
      storage::ReadRecords(path, bytes.substr(0, offset), storage::FileKind::kLog, std::nullopt));
  if (file.records.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the first record of ", path, " must stay"));
  }
  return file.end;
}

void WriteLoss(const DataFiles& before, const DataFiles& after, std::ostream& out) {
  absl::btree_map<std::string, storage::LiveMap> kept;
  for (const storage::LiveMap& map : after.history.next.maps) {
    kept.emplace(map.id, map);
  }
  for (const storage::LiveMap& map : before.history.next.maps) {
    const auto it = kept.find(map.id);
    if (it == kept.end() || it->second.epoch != map.epoch) {
      out << "Lost: the whole of " << map.id << " of epoch " << map.epoch << ", up to revision "
          << map.revision << "\n";
      continue;
    }
    if (it->second.revision < map.revision) {
      out << "Lost: " << map.id << " from revision " << it->second.revision + 1 << " to " << map.revision
          << "\n";
    }
    kept.erase(it);
  }
  for (const auto& [id, map] : kept) {
    out << "Lost: the deletion of " << id << " of epoch " << map.epoch << "\n";
  }
}

// Prints what would be lost and the resulting state of the maps. If confirmed, cuts the last file of the log
// after the last record that ends at or before `offset`, and keeps a copy of the whole file. Returns true if
// the file was cut. Returns INVALID_ARGUMENT if `name` is not the last file of the log, the offset is beyond
// its end, or no record would remain; and DATA_LOSS, with the offset, if the file is damaged before it.
absl::StatusOr<bool> TruncateLog(storage::Folder& folder, const std::string& name, std::uint64_t offset,
                                 bool is_confirmed, std::ostream& out) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::string last, LastLogFile(folder));
  if (name != last) {
    return absl::InvalidArgumentError(absl::StrCat("only the log's last file can be cut, which is ", last));
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, folder.Read(last));
  WAYSTAR_ASSIGN_OR_RETURN(const std::uint64_t cut, CutOf(folder.PathOf(last), bytes, offset));
  const absl::string_view kept = absl::string_view(bytes).substr(0, cut);
  WAYSTAR_ASSIGN_OR_RETURN(const DataFiles after, ReadDataFiles(folder, cut));

  out << last << " has " << bytes.size() << " bytes, of which those from byte " << cut
      << " on are cut off.\n";
  if (const absl::StatusOr<DataFiles> before = ReadDataFiles(folder); before.ok()) {
    WriteLoss(*before, after, out);
  } else {
    out << "Lost: all that follows byte " << cut << ", which cannot be read\n";
  }
  out << "The maps are then:\n";
  CheckMaps(folder, after, out);
  if (!is_confirmed) {
    out << "Nothing was changed. With --yes it is done. All maps get new epochs at the next start, since "
           "numbers of revisions that are lost are used again.\n";
    return false;
  }
  const std::string whole = absl::StrCat(last, kKeptSuffix);
  WAYSTAR_RETURN_IF_ERROR(storage::WriteWholeFile(folder, whole, bytes));
  WAYSTAR_RETURN_IF_ERROR(folder.SyncNames());
  WAYSTAR_RETURN_IF_ERROR(storage::WriteWholeFile(folder, last, kept));
  WAYSTAR_RETURN_IF_ERROR(folder.SyncNames());
  // Without a mark, the next start accepts the log as it is and gives all maps new epochs.
  WAYSTAR_RETURN_IF_ERROR(storage::RemoveIfThere(folder, storage::kMarkName));
  WAYSTAR_RETURN_IF_ERROR(folder.SyncNames());
  out << "Done. " << whole << " is the whole file.\n";
  return true;
}

constexpr int kOk = 0;
constexpr int kFailure = 1;
constexpr int kUsage = 2;

constexpr absl::string_view kUsageText =
    "Looks into the folder in which a server keeps its maps (--data_dir), while no server uses it.\n"
    "\n"
    "Usage:\n"
    "  waystar-server data list DIR\n"
    "      Lists the maps: kind, size, epoch, revision, digest, image and the commits after it.\n"
    "  waystar-server data check DIR\n"
    "      Reads everything as a start would, and reports for each map whether it is whole. Changes "
    "nothing.\n"
    "  waystar-server data dump DIR MAP\n"
    "      Prints the commits of a map that the log holds, one a line, as JSON.\n"
    "  waystar-server data truncate DIR FILE OFFSET [--yes]\n"
    "      Cuts the log's last file where the last record ends that ends at OFFSET or before. What follows "
    "is\n"
    "      lost. Without --yes it only tells what that is.\n"
    "\n"
    "Exit codes: 0 all is well, 1 damage or another failure, 2 wrong usage.\n";

absl::StatusOr<std::unique_ptr<storage::Folder>> OpenFolder(const std::string& path) {
  // OpenPosixFolder would create a missing folder.
  if (std::error_code error; !std::filesystem::is_directory(path, error)) {
    return absl::NotFoundError(absl::StrCat("there is no folder ", path));
  }
  absl::StatusOr<std::unique_ptr<storage::Folder>> folder = storage::OpenPosixFolder(path);
  if (folder.status().code() == absl::StatusCode::kFailedPrecondition) {
    return absl::FailedPreconditionError(absl::StrCat(folder.status().message(), "; stop the server first"));
  }
  return folder;
}

// Runs a command with valid arguments. Returns true if all is well.
absl::StatusOr<bool> Run(const std::vector<std::string>& words, bool is_confirmed, std::uint64_t offset,
                         std::ostream& out) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::unique_ptr<storage::Folder> folder, OpenFolder(words[1]));
  if (words[0] == "list") {
    return ListMaps(*folder, out);
  }
  if (words[0] == "check") {
    return CheckFolder(*folder, out);
  }
  if (words[0] == "dump") {
    WAYSTAR_RETURN_IF_ERROR(DumpCommits(*folder, words[2], out));
    return true;
  }
  return TruncateLog(*folder, words[2], offset, is_confirmed, out);
}

// Returns the number of words of a command, including itself; 0 if it is unknown.
std::size_t WordsOf(const std::string& command) {
  if (command == "list" || command == "check") {
    return 2;
  }
  return command == "dump" ? 3 : command == "truncate" ? 4 : 0;
}

}  // namespace

int RunDataTool(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  std::vector<std::string> words = arguments;
  const bool is_confirmed = std::erase(words, "--yes") > 0;
  if (!words.empty() && (words[0] == "--help" || words[0] == "help")) {
    out << kUsageText;
    return kOk;
  }
  std::uint64_t offset = 0;
  if (words.empty() || words.size() != WordsOf(words[0]) || (is_confirmed && words[0] != "truncate") ||
      (words[0] == "truncate" && !absl::SimpleAtoi(words[3], &offset))) {
    err << kUsageText;
    return kUsage;
  }
  const absl::StatusOr<bool> is_well = Run(words, is_confirmed, offset, out);
  if (!is_well.ok()) {
    err << "waystar-server data: " << is_well.status().message() << "\n";
    return kFailure;
  }
  return *is_well ? kOk : kFailure;
}

}  // namespace waystar::data_tool
