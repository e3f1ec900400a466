#include "client/cli/draw/picture.h"

#include <algorithm>
#include <array>
#include <cstdint>

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

}  // namespace waystar::cli
