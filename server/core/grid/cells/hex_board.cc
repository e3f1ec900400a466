#include "server/core/grid/cells/hex_board.h"

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

// Returns whether a cell is so near a map that its conversion cannot overflow.
constexpr bool IsNear(Cell cell) {
  constexpr std::int32_t kFar = 1 << 24;
  return cell.x >= -kFar && cell.x <= kFar && cell.y >= -kFar && cell.y <= kFar;
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

Cell HexBoard::PlaneCellOf(Cell counted) const {
  if (!IsNear(counted)) {
    return counted;
  }
  const Cell axial = AxialOf(layout, counted);
  return {axial.x + zero().x, axial.y + zero().y};
}

Cell HexBoard::CountedAt(Cell plane_cell) const {
  return IsNear(plane_cell) ? OffsetOf(layout, {plane_cell.x - zero().x, plane_cell.y - zero().y})
                            : plane_cell;
}

Rectangle HexBoard::PlaneBoundsOf(const Rectangle& part) const {
  // Later rows begin further left on the plane, later columns further up.
  const Cell upper_right = PlaneCellOf({part.x + part.width - 1, part.y});
  const Cell lower_left = PlaneCellOf({part.x, part.y + part.height - 1});
  return {lower_left.x, upper_right.y, upper_right.x - lower_left.x + 1, lower_left.y - upper_right.y + 1};
}

Rectangle HexBoard::PartAround(const Rectangle& of_plane) const {
  const Cell first = CountedAt({of_plane.x, of_plane.y});
  const Cell last = CountedAt({of_plane.x + of_plane.width - 1, of_plane.y + of_plane.height - 1});
  return {first.x, first.y, last.x - first.x + 1, last.y - first.y + 1};
}

HexBoard::Span HexBoard::InRow(std::int32_t y, const Rectangle& part) const {
  if (!IsFlatTopped(layout) || !HasOffsets(layout)) {
    const std::int32_t begin = PlaneCellOf({part.x, y}).x;
    const bool is_in_part = y >= part.y && y < part.y + part.height;
    return {begin, is_in_part ? begin + part.width : begin};
  }
  // Column x lies half a row per column lower on the plane.
  const std::int32_t r = y - zero().y;
  const std::int32_t earlier = layout == HexLayout::kEvenColumns ? 1 : 0;
  const std::int32_t begin = std::max(part.x, 2 * (part.y - r) - earlier);
  return {begin, std::max(begin, std::min(part.x + part.width, 2 * (part.y + part.height - r) - earlier))};
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
