#include "client/cli/draw/picture.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace waystar::cli {
namespace {

// Cells to show on each side of what matters.
constexpr int kMargin = 2;

// Cells from `first` to `last`, both included.
struct Span {
  int first = 0;
  int last = 0;
};

struct Placement {
  int first = 0;
  int length = 0;
};

Span Around(int lowest, int highest, int map_length) {
  return {std::max(lowest - kMargin, 0), std::min(highest + kMargin, map_length - 1)};
}

Placement Centre(Span focus, int map_length, int characters, int scale) {
  const auto room = static_cast<int>(std::min<int64_t>(map_length, int64_t{characters} * scale));
  const int middle = focus.first + (focus.last - focus.first) / 2;
  const int first = std::clamp(middle - room / 2, 0, map_length - room) / scale * scale;
  return {first, std::min(room, map_length - first)};
}

bool Holds(Placement placement, Span focus) {
  return placement.first <= focus.first && focus.last < placement.first + placement.length;
}

constexpr char kObstacle = '#';
constexpr char kGround = '.';

Glyph GlyphOf(char symbol) {
  if (symbol == kObstacle) {
    return {symbol, Mark::kObstacle};
  }
  return {symbol, symbol == kGround ? Mark::kGround : Mark::kTerrain};
}

Glyph Summarize(const std::vector<absl::string_view>& map, const View& view, int left, int top) {
  std::array<int, 256> counts{};
  int total = 0;
  const int right = std::min(left + view.scale, view.left + view.width);
  const int bottom = std::min(top + view.scale, view.top + view.height);
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      ++counts[static_cast<unsigned char>(map[y][x])];
      ++total;
    }
  }
  int& obstacles = counts[kObstacle];
  if (2 * obstacles > total) {
    return GlyphOf(kObstacle);
  }
  obstacles = 0;
  return GlyphOf(static_cast<char>(std::max_element(counts.begin(), counts.end()) - counts.begin()));
}

}  // namespace

View ChooseView(int map_width, int map_height, absl::Span<const v1::Cell> focus, Window window) {
  Span columns{0, map_width - 1};
  Span rows{0, map_height - 1};
  if (!focus.empty()) {
    const auto by_x = [](const v1::Cell& a, const v1::Cell& b) { return a.x() < b.x(); };
    const auto by_y = [](const v1::Cell& a, const v1::Cell& b) { return a.y() < b.y(); };
    const auto [west, east] = std::minmax_element(focus.begin(), focus.end(), by_x);
    const auto [north, south] = std::minmax_element(focus.begin(), focus.end(), by_y);
    columns = Around(west->x(), east->x(), map_width);
    rows = Around(north->y(), south->y(), map_height);
  }
  for (int scale = 1;; ++scale) {
    const Placement x = Centre(columns, map_width, window.columns, scale);
    const Placement y = Centre(rows, map_height, window.rows, scale);
    if (Holds(x, columns) && Holds(y, rows)) {
      return {x.first, y.first, x.length, y.length, scale};
    }
  }
}

std::vector<absl::string_view> MapRows(absl::string_view text, int height) {
  std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  if (!lines.empty() && lines.back().empty()) {
    lines.pop_back();
  }
  const size_t rows = std::min(lines.size(), static_cast<size_t>(std::max(height, 0)));
  lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(rows));
  return lines;
}

Picture DrawMap(const std::vector<absl::string_view>& map, const View& view) {
  Picture picture;
  picture.view = view;
  for (int y = view.top; y < view.top + view.height; y += view.scale) {
    std::vector<Glyph>& row = picture.rows.emplace_back();
    for (int x = view.left; x < view.left + view.width; x += view.scale) {
      row.push_back(Summarize(map, view, x, y));
    }
  }
  return picture;
}

namespace {

constexpr char kReset[] = "\x1b[0m";
constexpr int kRowsPerLabel = 5;

// From pale yellow to red.
constexpr const char* kShades[kShadeCount] = {
    "\x1b[38;5;230m", "\x1b[38;5;229m", "\x1b[38;5;228m", "\x1b[38;5;227m", "\x1b[38;5;226m",
    "\x1b[38;5;220m", "\x1b[38;5;214m", "\x1b[38;5;208m", "\x1b[38;5;202m", "\x1b[38;5;196m"};

// Indexed by mark; expanded cells have shades.
constexpr const char* kColors[] = {"\x1b[2m",    "\x1b[36m",   "\x1b[90m",   "\x1b[32m",
                                   "\x1b[33m",   "\x1b[35m",   "\x1b[34m",   "",
                                   "\x1b[1;33m", "\x1b[1;35m", "\x1b[1;31m", "\x1b[1;32m"};

const char* ColorOf(Glyph glyph) {
  return glyph.mark == Mark::kExpanded ? kShades[glyph.shade] : kColors[static_cast<size_t>(glyph.mark)];
}

// How many characters a row of hexagons begins further right than the others.
size_t IndentOf(const Picture& picture, size_t row) {
  if (picture.shift == RowShift::kNone || picture.shift == RowShift::kEveryRow) {
    return picture.shift == RowShift::kNone ? 0 : row;
  }
  const bool is_odd = ((static_cast<size_t>(picture.view.top) + row) & 1) != 0;
  return is_odd == (picture.shift == RowShift::kOddRows) ? 1 : 0;
}

std::string PaintRow(const Picture& picture, size_t number, bool color) {
  const std::vector<Glyph>& row = picture.rows[number];
  std::string line(IndentOf(picture, number), ' ');
  for (size_t i = 0; i < row.size(); ++i) {
    if (color && (i == 0 || row[i].mark != row[i - 1].mark || row[i].shade != row[i - 1].shade)) {
      absl::StrAppend(&line, i == 0 ? "" : kReset, ColorOf(row[i]));
    }
    line.push_back(row[i].symbol);
    if (picture.shift != RowShift::kNone && i + 1 < row.size()) {
      line.push_back(' ');
    }
  }
  if (color) {
    line += kReset;
  }
  return line;
}

std::string Ruler(const View& view, size_t columns, size_t characters_each) {
  const size_t last = static_cast<size_t>(view.left) + columns * view.scale;
  const size_t step = last < 1000 ? 5 : 10;
  const size_t first = view.left / view.scale;
  std::string ruler;
  for (size_t column = 0; column < columns; ++column) {
    if ((first + column) % step == 0) {
      ruler.resize(column * characters_each, ' ');
      absl::StrAppend(&ruler, (first + column) * view.scale);
    }
  }
  return ruler;
}

std::string Describe(const v1::Terrain& terrain) {
  std::string text = absl::StrCat(terrain.symbol(), " ", terrain.name());
  if (terrain.impassable()) {
    return text + ", impassable";
  }
  return absl::StrCat(text, ", cost ", terrain.cost());
}

}  // namespace

std::string Paint(const Picture& picture, bool color) {
  const View& view = picture.view;
  const size_t gutter = absl::StrCat(view.top + view.height - 1).size();
  const size_t columns = picture.rows.empty() ? 0 : picture.rows.front().size();
  std::string text =
      absl::StrFormat("%*s %s\n", gutter, "", Ruler(view, columns, picture.shift == RowShift::kNone ? 1 : 2));
  const size_t first = view.top / view.scale;
  for (size_t row = 0; row < picture.rows.size(); ++row) {
    const bool labelled = (first + row) % kRowsPerLabel == 0;
    const std::string label = labelled ? absl::StrCat((first + row) * view.scale) : "";
    absl::StrAppendFormat(&text, "%*s %s\n", gutter, label, PaintRow(picture, row, color));
  }
  return text;
}

std::string Legend(const Picture& picture, const v1::GridInfo& grid) {
  std::array<char, static_cast<size_t>(Mark::kStart) + 1> shown{};
  std::map<char, std::string> terrains;
  for (const auto& row : picture.rows) {
    for (const Glyph glyph : row) {
      shown[static_cast<size_t>(glyph.mark)] = static_cast<char>(glyph.symbol - glyph.shade);
      if (glyph.mark == Mark::kTerrain) {
        terrains.try_emplace(glyph.symbol);
      }
    }
  }
  std::vector<std::string> entries;
  const auto explain = [&](Mark mark, const char* words) {
    if (const char symbol = shown[static_cast<size_t>(mark)]; symbol != 0) {
      entries.push_back(absl::StrCat(std::string(1, symbol), " ", words));
    }
  };
  explain(Mark::kStart, "start");
  explain(Mark::kGoal, "goal");
  explain(Mark::kEnd, "end of the path");
  explain(Mark::kPath, "path");
  if (const char first = shown[static_cast<size_t>(Mark::kExpanded)]; first != 0) {
    const std::string last(1, static_cast<char>(first + kShadeCount - 1));
    entries.push_back(absl::StrCat(std::string(1, first), "-", last, " expanded, first to last"));
  }
  explain(Mark::kOpen, "open");
  explain(Mark::kReached, "within reach");
  if (shown[static_cast<size_t>(Mark::kArrow)] != 0) {
    entries.emplace_back("^ / > \\ v < ways to a goal");
  }
  explain(Mark::kPortal, "portal");
  explain(Mark::kObstacle, "obstacle");
  for (const v1::Terrain& terrain : grid.terrains()) {
    if (terrain.symbol().size() == 1 && terrains.count(terrain.symbol().front()) > 0) {
      entries.push_back(Describe(terrain));
    }
  }
  return absl::StrJoin(entries, "  ");
}

std::string Caption(const View& view, int map_width, int map_height) {
  std::string caption;
  if (view.width < map_width || view.height < map_height) {
    caption = absl::StrFormat("Shown: x %d to %d and y %d to %d of a map of %d x %d.", view.left,
                              view.left + view.width - 1, view.top, view.top + view.height - 1, map_width,
                              map_height);
  }
  if (view.scale > 1) {
    absl::StrAppendFormat(&caption, "%sEach character stands for %d x %d cells.", caption.empty() ? "" : " ",
                          view.scale, view.scale);
  }
  return caption;
}

}  // namespace waystar::cli
