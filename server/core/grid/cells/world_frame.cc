#include "server/core/grid/cells/world_frame.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::core {
namespace {

// Cell coordinate beyond the largest map; positions further away are clamped to it.
constexpr double kFurthestCell = 1 << 20;

// Distance between rows (or columns) of hexagons, in steps.
constexpr double kHexRowHeight = 0.8660254037844386;

double EdgeOf(std::int32_t cell, double origin, double size) {
  return std::fma(static_cast<double>(cell), size, origin);
}

std::int32_t CellAlong(double at, double origin, double size) {
  const double about = std::floor((at - origin) / size);
  auto cell = static_cast<std::int32_t>(std::clamp(about, -kFurthestCell, kFurthestCell));
  if (std::abs(about) >= kFurthestCell) {
    return cell;
  }
  while (EdgeOf(cell, origin, size) > at) {
    --cell;
  }
  while (EdgeOf(cell + 1, origin, size) <= at) {
    ++cell;
  }
  return cell;
}

absl::Status CheckOrigin(double value, absl::string_view field) {
  // Written so that NaN fails.
  if (value >= -kMaxOrigin && value <= kMaxOrigin) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadValue, field,
                   absl::StrCat("an origin lies from -1e9 to 1e9, not at ", value));
}

}  // namespace

Cell WorldFrame::CellAt(const WorldPoint& position) const {
  if (hexagons) {
    return HexagonAt(position);
  }
  return {CellAlong(position.x, origin.x, cell_size), CellAlong(position.y, origin.y, cell_size)};
}

WorldFrame::PlanePoint WorldFrame::PointAt(const WorldPoint& position) const {
  const double x = (position.x - origin.x) / cell_size;
  const double y = (position.y - origin.y) / cell_size;
  if (!hexagons) {
    return {x - 0.5, y - 0.5};
  }
  const Cell zero = hexagons->zero();
  if (IsFlatTopped(hexagons->layout)) {
    const double column = x / kHexRowHeight;
    return {column + zero.x, y - column / 2 + zero.y};
  }
  const double row = y / kHexRowHeight;
  return {x - row / 2 + zero.x, row + zero.y};
}

Cell WorldFrame::HexagonAt(const WorldPoint& position) const {
  const PlanePoint point = PointAt(position);
  const auto rounded = [](double value) {
    return static_cast<std::int32_t>(std::lround(std::clamp(value, -kFurthestCell, kFurthestCell)));
  };
  const Cell middle{rounded(point.x), rounded(point.y)};
  Cell nearest = middle;
  double least = std::numeric_limits<double>::infinity();
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      const Cell cell{middle.x + dx, middle.y + dy};
      const WorldPoint center = CenterOf(cell);
      const double away_x = center.x - position.x;
      const double away_y = center.y - position.y;
      if (const double squared = away_x * away_x + away_y * away_y; squared <= least) {
        least = squared;
        nearest = cell;
      }
    }
  }
  return nearest;
}

WorldPoint WorldFrame::CenterOf(Cell cell) const {
  return PositionOf({static_cast<double>(cell.x), static_cast<double>(cell.y)});
}

WorldPoint WorldFrame::PositionOf(const PlanePoint& point) const {
  if (hexagons) {
    const Cell zero = hexagons->zero();
    const double q = point.x - zero.x;
    const double r = point.y - zero.y;
    const bool is_flat = IsFlatTopped(hexagons->layout);
    return {std::fma(is_flat ? q * kHexRowHeight : q + r / 2, cell_size, origin.x),
            std::fma(is_flat ? r + q / 2 : r * kHexRowHeight, cell_size, origin.y), origin.z};
  }
  return {std::fma(point.x + 0.5, cell_size, origin.x), std::fma(point.y + 0.5, cell_size, origin.y),
          origin.z};
}

absl::Status CheckWorldFrame(const WorldFrame& frame) {
  WAYSTAR_RETURN_IF_ERROR(CheckOrigin(frame.origin.x, "origin.x"));
  WAYSTAR_RETURN_IF_ERROR(CheckOrigin(frame.origin.y, "origin.y"));
  WAYSTAR_RETURN_IF_ERROR(CheckOrigin(frame.origin.z, "origin.z"));
  if (!(frame.cell_size >= kMinCellSize && frame.cell_size <= kMaxCellSize)) {
    return MakeError(ErrorReason::kBadValue, "cell_size",
                     absl::StrCat("a cell's size must be 0.001 to 1e6, got ", frame.cell_size));
  }
  return absl::OkStatus();
}

namespace {

// Layout names, indexed by HexLayout.
constexpr std::array<absl::string_view, 6> kNames = {"axial_pointy", "axial_flat",  "odd_rows",
                                                     "even_rows",    "odd_columns", "even_columns"};

// Returns value / 2, rounded towards negative infinity.
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

// Returns true if a cell is near enough to a map that its conversion cannot overflow.
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
