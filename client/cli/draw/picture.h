#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// A size in characters.
struct Window {
  int columns = 0;
  int rows = 0;
};

// The part of a map to draw, in cells. Each character stands for scale x scale cells; left and top are
// multiples of scale.
struct View {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
  int scale = 1;

  bool operator==(const View&) const = default;
};

// The most detailed view of a map that fits the window and holds all cells of `focus`; the whole map if
// `focus` is empty. What room is left shows more of the map around them. REQUIRES: the cells are on the map,
// and the window holds at least one character.
View ChooseView(int map_width, int map_height, absl::Span<const v1::Cell> focus, Window window);

// From the lowest to the highest: of several marks on a character, the highest is shown.
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

// The most characters that Paint() takes up to the left of the map.
inline constexpr int kGutterColumns = 5;

// Writes the picture as lines of text, with the cells' coordinates above and to the left of it. If `color` is
// true, it uses the escape sequences for colours that terminals understand.
std::string Paint(const Picture& picture, bool color);

// Writes one line that explains each character of the picture except the ground: "S start  # obstacle  ~
// river, cost 3". It is empty if there is nothing to explain.
std::string Legend(const Picture& picture, const v1::GridInfo& grid);

// Writes a sentence that says which part of the map is shown and how much smaller. It is empty if the picture
// shows all of it.
std::string Caption(const View& view, int map_width, int map_height);

}  // namespace waystar::cli
