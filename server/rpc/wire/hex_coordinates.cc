#include "server/rpc/wire/hex_coordinates.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/grid_settings.h"
#include "server/rpc/wire/convert.h"

namespace waystar::rpc {
namespace {

// A cell so far out is off every map, before and after.
bool IsNear(core::Cell cell) {
  return std::abs(std::int64_t{cell.x}) <= std::int64_t{core::kMaxMapSide} * 4 &&
         std::abs(std::int64_t{cell.y}) <= std::int64_t{core::kMaxMapSide} * 4;
}

}  // namespace

absl::StatusOr<HexCoordinates> HexCoordinates::Of(const core::MapSnapshot& snapshot,
                                                  v1::HexLayout coordinates, absl::string_view field) {
  if (coordinates == v1::HEX_LAYOUT_UNSPECIFIED) {
    return HexCoordinates();
  }
  if (snapshot.kind() != core::MapKind::kHexagons) {
    return MakeError(ErrorReason::kWrongMapKind, field, "only maps of hexagons have these coordinates");
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::HexLayout layout, ToHexLayout(coordinates, field));
  return HexCoordinates(layout, snapshot.grid().settings().frame.hexagons->zero());
}

absl::StatusOr<HexCoordinates> HexCoordinates::Of(const core::MapStore& store, const std::string& map,
                                                  v1::HexLayout coordinates, absl::string_view field) {
  if (coordinates == v1::HEX_LAYOUT_UNSPECIFIED) {
    return HexCoordinates();
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(map));
  return Of(*snapshot, coordinates, field);
}

core::Cell HexCoordinates::ToPlane(core::Cell cell) const {
  if (IsPlane() || !IsNear(cell)) {
    return cell;
  }
  const core::Cell axial = core::AxialOf(layout_, cell);
  return {axial.x + zero_.x, axial.y + zero_.y};
}

core::Cell HexCoordinates::FromPlane(core::Cell cell) const {
  return IsPlane() ? cell : core::OffsetOf(layout_, {cell.x - zero_.x, cell.y - zero_.y});
}

absl::StatusOr<core::Point> HexCoordinates::ToPlane(const core::Point& point, absl::string_view field) const {
  if (IsPlane()) {
    return point;
  }
  const bool is_cell = std::abs(point.x) <= core::kMaxReach && std::abs(point.y) <= core::kMaxReach &&
                       point.x == std::floor(point.x) && point.y == std::floor(point.y);
  if (!is_cell) {
    return MakeError(ErrorReason::kBadValue, field,
                     "by columns and rows, the points of shapes are centres of hexagons: whole numbers");
  }
  const core::Cell axial =
      core::AxialOf(layout_, {static_cast<std::int32_t>(point.x), static_cast<std::int32_t>(point.y)});
  return core::Point{static_cast<double>(axial.x + zero_.x), static_cast<double>(axial.y + zero_.y)};
}

absl::Status HexCoordinates::ToPlane(const core::Rectangle& rectangle,
                                     std::vector<core::Rectangle>& parts) const {
  if (IsPlane()) {
    parts.push_back(rectangle);
    return absl::OkStatus();
  }
  const auto& [x, y, width, height] = rectangle;
  const bool is_flat = core::IsFlatTopped(layout_);
  const int lines = is_flat ? width : height;
  const bool is_sound = width >= 1 && height >= 1 && lines <= core::kMaxMapSide &&
                        std::abs(static_cast<double>(x)) <= core::kMaxReach &&
                        std::abs(static_cast<double>(y)) <= core::kMaxReach;
  if (!is_sound) {
    return MakeError(ErrorReason::kBadRectangle, "",
                     absl::StrCat("a rectangle of columns and rows has 1 to ", core::kMaxMapSide,
                                  " of each, and does not begin far off the map"));
  }
  for (int line = 0; line < lines; ++line) {
    const core::Cell axial = core::AxialOf(layout_, {x + (is_flat ? line : 0), y + (is_flat ? 0 : line)});
    parts.push_back({axial.x + zero_.x, axial.y + zero_.y, is_flat ? 1 : width, is_flat ? height : 1});
  }
  return absl::OkStatus();
}

}  // namespace waystar::rpc
