#include "server/core/grid/hex_board.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace waystar::core {
namespace {

// Names in the order of HexLayout.
constexpr std::array<absl::string_view, 6> kNames = {"axial_pointy", "axial_flat",  "odd_rows",
                                                     "even_rows",    "odd_columns", "even_columns"};

// Rounds towards negative infinity.
constexpr std::int32_t Half(std::int32_t value) { return value >> 1; }

// Returns the shift, in hexagons, of row or column `line` relative to line 0 of the plane.
std::int32_t MovedBy(HexLayout layout, std::int32_t line) {
  switch (layout) {
    case HexLayout::kAxialPointy:
    case HexLayout::kAxialFlat:
      return 0;
    case HexLayout::kOddRows:
    case HexLayout::kOddColumns:
      return Half(line);
    case HexLayout::kEvenRows:
    case HexLayout::kEvenColumns:
      return Half(line + 1);
  }
  return 0;
}

}  // namespace

absl::string_view HexLayoutName(HexLayout layout) { return kNames[static_cast<std::size_t>(layout)]; }

std::optional<HexLayout> HexLayoutOf(absl::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    return std::nullopt;
  }
  return static_cast<HexLayout>(found - kNames.begin());
}

Cell AxialOf(HexLayout layout, Cell offset) {
  return IsFlatTopped(layout) ? Cell{offset.x, offset.y - MovedBy(layout, offset.x)}
                              : Cell{offset.x - MovedBy(layout, offset.y), offset.y};
}

Cell OffsetOf(HexLayout layout, Cell axial) {
  return IsFlatTopped(layout) ? Cell{axial.x, axial.y + MovedBy(layout, axial.x)}
                              : Cell{axial.x + MovedBy(layout, axial.y), axial.y};
}

std::int32_t HexBoard::Shift() const {
  return MovedBy(layout, std::max((IsFlatTopped(layout) ? columns : rows) - 1, 0));
}

HexBoard::Span HexBoard::InRow(std::int32_t y) const {
  if (!IsFlatTopped(layout)) {
    const std::int32_t begin = PlaneCellOf({0, y}).x;
    return {begin, begin + columns};
  }
  // Column x lies half a row per column lower on the plane.
  const std::int32_t r = y - zero().y;
  const std::int32_t earlier = layout == HexLayout::kEvenColumns ? 1 : 0;
  const Span span{std::max(0, -2 * r - earlier), std::min(columns, 2 * (rows - r) - earlier)};
  return span;
}

HexBoard HexBoard::Transposed() const {
  constexpr std::array<HexLayout, 6> kTransposed = {HexLayout::kAxialFlat,  HexLayout::kAxialPointy,
                                                    HexLayout::kOddColumns, HexLayout::kEvenColumns,
                                                    HexLayout::kOddRows,    HexLayout::kEvenRows};
  return {kTransposed[static_cast<std::size_t>(layout)], rows, columns};
}

bool HexBoard::Overlaps(const Rectangle& rectangle) const {
  const auto [x, y, width, height] = Intersect(rectangle, {0, 0, plane_width(), plane_height()});
  if (height > width) {
    return Transposed().Overlaps({y, x, height, width});
  }
  for (std::int32_t row = y; row < y + height; ++row) {
    const Span span = InRow(row);
    if (std::max(span.begin, x) < std::min(span.end, x + width)) {
      return true;
    }
  }
  return false;
}

}  // namespace waystar::core
