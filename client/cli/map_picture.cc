#include "client/cli/map_picture.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/cli/draw/paint.h"
#include "client/cli/draw/picture.h"

namespace waystar::cli {
namespace {

std::vector<v1::Cell> Focus(const Overlay& overlay) {
  std::vector<v1::Cell> cells = overlay.path;
  cells.insert(cells.end(), overlay.expanded.begin(), overlay.expanded.end());
  cells.insert(cells.end(), overlay.reached.begin(), overlay.reached.end());
  cells.insert(cells.end(), overlay.goals.begin(), overlay.goals.end());
  cells.insert(cells.end(), overlay.portals.begin(), overlay.portals.end());
  for (const auto& [cell, direction] : overlay.arrows) {
    cells.push_back(cell);
  }
  for (const auto& cell : {overlay.start, overlay.goal}) {
    if (cell) {
      cells.push_back(*cell);
    }
  }
  return cells;
}

bool Fits(const std::vector<absl::string_view>& rows, const v1::GridInfo& grid) {
  return grid.width() > 0 && grid.height() > 0 && std::ssize(rows) == grid.height() &&
         std::all_of(rows.begin(), rows.end(),
                     [&](absl::string_view row) { return std::ssize(row) == grid.width(); });
}

void AppendLine(const std::string& line, std::string& text) {
  if (!line.empty()) {
    text += line + "\n";
  }
}

}  // namespace

absl::StatusOr<std::string> MapPicture(const client::ExportedMap& map, const Overlay& overlay, Window window,
                                       bool color) {
  const v1::GridInfo& grid = map.header.info().grid();
  const auto rows = MapRows(map.bytes, grid.height());
  if (!Fits(rows, grid)) {
    return absl::DataLossError("the server sent a map that is not of the size it said");
  }
  Picture picture = DrawMap(rows, ChooseView(grid.width(), grid.height(), Focus(overlay), window));
  DrawOverlay(overlay, ChooseMarkers(picture), picture);
  std::string text = Paint(picture, color);
  AppendLine(Legend(picture, grid), text);
  AppendLine(Caption(picture.view, grid), text);
  return text;
}

}  // namespace waystar::cli
