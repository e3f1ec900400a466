#include "client/cli/map_picture.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/cli/draw/hex_cells.h"
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

// Of the rows that a map is written in: of a board of hexagons its own.
struct Size {
  int width = 0;
  int height = 0;
};

Size SizeOf(const v1::GridInfo& grid) {
  if (HasOffsets(grid.hexagons().layout())) {
    return {grid.hexagons().columns(), grid.hexagons().rows()};
  }
  return {grid.width(), grid.height()};
}

bool Fits(const std::vector<absl::string_view>& rows, const Size& size) {
  return size.width > 0 && size.height > 0 && std::ssize(rows) == size.height &&
         std::all_of(rows.begin(), rows.end(),
                     [&](absl::string_view row) { return std::ssize(row) == size.width; });
}

// The cells of the plane as columns and rows of the board; without those off the board.
Overlay OnBoard(Overlay overlay, const v1::HexInfo& hexagons) {
  MoveCells([&](const v1::Cell& cell) { return OffsetOf(hexagons, hexagons.layout(), cell); }, overlay);
  LeaveOutCellsBeyond(hexagons.columns(), hexagons.rows(), overlay);
  return overlay;
}

// Hexagons with a side on top would be shifted by half a line, which text cannot be.
RowShift ShiftOf(v1::HexLayout layout) {
  switch (layout) {
    case v1::HEX_LAYOUT_AXIAL_POINTY:
      return RowShift::kEveryRow;
    case v1::HEX_LAYOUT_ODD_ROWS:
      return RowShift::kOddRows;
    case v1::HEX_LAYOUT_EVEN_ROWS:
      return RowShift::kEvenRows;
    default:
      return RowShift::kNone;
  }
}

// The window in cells, where each of a row takes two characters.
Window InHexagons(Window window, RowShift shift, int rows) {
  if (shift == RowShift::kEveryRow) {
    window.columns -= std::min(window.rows, rows);
  }
  window.columns = std::max(window.columns / 2, 1);
  return window;
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
  const Size size = SizeOf(grid);
  const auto rows = MapRows(map.bytes, size.height);
  if (!Fits(rows, size)) {
    return absl::DataLossError("the server sent a map that is not of the size it said");
  }
  const Overlay on_board = HasOffsets(grid.hexagons().layout()) ? OnBoard(overlay, grid.hexagons()) : overlay;
  const RowShift shift = ShiftOf(grid.hexagons().layout());
  const auto view = [&](const Window& cells) {
    return ChooseView(size.width, size.height, Focus(on_board), cells);
  };
  Picture picture = DrawMap(rows, view(window));
  if (shift != RowShift::kNone && view(InHexagons(window, shift, size.height)).scale == 1) {
    picture = DrawMap(rows, view(InHexagons(window, shift, size.height)));
    picture.shift = shift;
  }
  DrawOverlay(on_board, ChooseMarkers(picture), picture);
  std::string text = Paint(picture, color);
  AppendLine(Legend(picture, grid), text);
  AppendLine(Caption(picture.view, size.width, size.height), text);
  return text;
}

}  // namespace waystar::cli
