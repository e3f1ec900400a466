#include "client/cli/cell_argument.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace waystar::cli {
namespace {

// Two integers with `separator` between them.
std::optional<std::pair<int32_t, int32_t>> ParsePair(absl::string_view text, char separator) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(separator, 1));
  int32_t first = 0;
  int32_t second = 0;
  if (!absl::SimpleAtoi(parts.first, &first) || !absl::SimpleAtoi(parts.second, &second)) {
    return std::nullopt;
  }
  return std::pair(first, second);
}

std::optional<v1::Rectangle> BetweenCorners(absl::string_view one, absl::string_view other) {
  const auto a = ParsePair(one, ',');
  const auto b = ParsePair(other, ',');
  if (!a || !b) {
    return std::nullopt;
  }
  const int64_t width = std::abs(int64_t{a->first} - b->first) + 1;
  const int64_t height = std::abs(int64_t{a->second} - b->second) + 1;
  if (std::max(width, height) > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  v1::Rectangle rectangle;
  rectangle.set_x(std::min(a->first, b->first));
  rectangle.set_y(std::min(a->second, b->second));
  rectangle.set_width(static_cast<int32_t>(width));
  rectangle.set_height(static_cast<int32_t>(height));
  return rectangle;
}

std::optional<v1::Rectangle> WithSize(absl::string_view corner, absl::string_view size) {
  const auto top_left = ParsePair(corner, ',');
  const auto extent = ParsePair(size, 'x');
  if (!top_left || !extent) {
    return std::nullopt;
  }
  v1::Rectangle rectangle;
  rectangle.set_x(top_left->first);
  rectangle.set_y(top_left->second);
  rectangle.set_width(extent->first);
  rectangle.set_height(extent->second);
  return rectangle;
}

std::optional<v1::Rectangle> ParseRectangle(absl::string_view text) {
  if (const size_t dots = text.find(".."); dots != absl::string_view::npos) {
    return BetweenCorners(text.substr(0, dots), text.substr(dots + 2));
  }
  if (const size_t plus = text.find('+'); plus != absl::string_view::npos) {
    return WithSize(text.substr(0, plus), text.substr(plus + 1));
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<v1::Cell> ParseCell(absl::string_view text) {
  const auto pair = ParsePair(text, ',');
  if (!pair) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a cell: write X,Y such as 3,4"));
  }
  v1::Cell cell;
  cell.set_x(pair->first);
  cell.set_y(pair->second);
  return cell;
}

absl::StatusOr<v1::Shape> ParseShape(absl::string_view text) {
  v1::Shape shape;
  if (const auto cell = ParseCell(text); cell.ok()) {
    *shape.add_cells() = *cell;
    return shape;
  }
  if (const auto rectangle = ParseRectangle(text)) {
    *shape.add_rectangles() = *rectangle;
    return shape;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is neither a cell such as 3,4 nor a rectangle such as 3,4..6,9 or 3,4+4x6"));
}

std::string FormatCell(const v1::Cell& cell) { return absl::StrCat(cell.x(), ",", cell.y()); }

}  // namespace waystar::cli
