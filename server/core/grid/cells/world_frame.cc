#include "server/core/grid/cells/world_frame.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"

namespace waystar::core {
namespace {

// Beyond the largest map.
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
                     absl::StrCat("a cell's size is from 0.001 to 1e6, not ", frame.cell_size));
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
