#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/data_tool/commands.h"

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

}  // namespace waystar::data_tool
