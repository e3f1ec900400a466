#include "client/cli/draw/paint.h"

#include <array>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace waystar::cli {
namespace {

constexpr char kReset[] = "\x1b[0m";
constexpr int kRowsPerLabel = 5;

// From pale yellow to red.
constexpr const char* kShades[kShadeCount] = {
    "\x1b[38;5;230m", "\x1b[38;5;229m", "\x1b[38;5;228m", "\x1b[38;5;227m", "\x1b[38;5;226m",
    "\x1b[38;5;220m", "\x1b[38;5;214m", "\x1b[38;5;208m", "\x1b[38;5;202m", "\x1b[38;5;196m"};

const char* ColorOf(Glyph glyph) {
  switch (glyph.mark) {
    case Mark::kGround:
      return "\x1b[2m";
    case Mark::kTerrain:
      return "\x1b[36m";
    case Mark::kObstacle:
      return "\x1b[90m";
    case Mark::kReached:
      return "\x1b[32m";
    case Mark::kArrow:
      return "\x1b[33m";
    case Mark::kPortal:
      return "\x1b[35m";
    case Mark::kOpen:
      return "\x1b[34m";
    case Mark::kExpanded:
      return kShades[glyph.shade];
    case Mark::kPath:
      return "\x1b[1;33m";
    case Mark::kEnd:
      return "\x1b[1;35m";
    case Mark::kGoal:
      return "\x1b[1;31m";
    case Mark::kStart:
      return "\x1b[1;32m";
  }
  return kReset;
}

// How many characters a row of hexagons begins further right than the others.
size_t IndentOf(const Picture& picture, size_t row) {
  const bool is_odd = ((static_cast<size_t>(picture.view.top) + row) & 1) != 0;
  switch (picture.shift) {
    case RowShift::kNone:
      return 0;
    case RowShift::kOddRows:
      return is_odd ? 1 : 0;
    case RowShift::kEvenRows:
      return is_odd ? 0 : 1;
    case RowShift::kEveryRow:
      return row;
  }
  return 0;
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
