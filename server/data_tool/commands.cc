#include "server/data_tool/commands.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "server/base/status_macros.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_edits.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/folder_files.h"
#include "server/storage/folder/folder_reader.h"
#include "server/storage/folder/image_file.h"
#include "server/storage/folder/log_entry.h"

namespace waystar::data_tool {
namespace {

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

}  // namespace

absl::StatusOr<DataFiles> ReadDataFiles(const storage::Folder& folder) {
  DataFiles files;
  WAYSTAR_ASSIGN_OR_RETURN(files.names, folder.List());
  WAYSTAR_ASSIGN_OR_RETURN(files.history, storage::ReadLogFiles(folder, files.names));
  files.images = storage::NewestImages(files.names, files.history);
  return files;
}

std::string CountText(std::size_t count, absl::string_view thing) {
  return absl::StrCat(count, " ", thing, count == 1 ? "" : "s");
}

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

}  // namespace waystar::data_tool
