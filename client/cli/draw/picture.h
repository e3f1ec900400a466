#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "client/cli/draw/view.h"

namespace waystar::cli {

enum class Mark {
  kGround,
  kTerrain,
  kObstacle,
  kReached,
  kArrow,
  kPortal,
  kOpen,
  kExpanded,
  kPath,
  kEnd,
  kGoal,
  kStart
};

// Expanded cells are told apart by how late they were: each shade is a tenth of them.
inline constexpr int kShadeCount = 10;

// Glyph: one character of a picture, and what it stands for.
struct Glyph {
  char symbol = '.';
  Mark mark = Mark::kGround;
  // With kExpanded, how late the cell was: from 0, the first tenth, to kShadeCount - 1.
  int shade = 0;
};

// How the rows of a picture lie to each other: hexagons of a row are drawn two characters apart, and some
// rows are drawn one character to the right.
enum class RowShift {
  kNone,
  kOddRows,
  kEvenRows,
  // Each row is one character further than the one above.
  kEveryRow
};

struct Picture {
  View view;
  RowShift shift = RowShift::kNone;
  std::vector<std::vector<Glyph>> rows;
};

// Returns the rows of cells in a map of MAP_FORMAT_TEXT, which has `height` of them, without the header.
std::vector<absl::string_view> MapRows(absl::string_view text, int height);

// Draws the part of the map that `view` shows. A character that stands for several cells shows an obstacle if
// more than half of them are, else what most of the rest are. REQUIRES: the view is within the rows, and they
// are of one length.
Picture DrawMap(const std::vector<absl::string_view>& map, const View& view);

}  // namespace waystar::cli
