#include "client/cli/draw/picture.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_split.h"

namespace waystar::cli {
namespace {

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
