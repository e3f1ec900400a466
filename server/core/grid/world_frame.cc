#include "server/core/grid/world_frame.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"

namespace waystar::core {
namespace {

// No map reaches so far.
constexpr double kFurthestCell = 1 << 20;

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
  return InvalidArgument(ErrorReason::kBadValue, field,
                         absl::StrCat("an origin lies from -1e9 to 1e9, not at ", value));
}

}  // namespace

Cell WorldFrame::CellAt(const Position& position) const {
  return {CellAlong(position.x, origin.x, cell_size), CellAlong(position.y, origin.y, cell_size)};
}

Position WorldFrame::CenterOf(Cell cell) const {
  return {std::fma(cell.x + 0.5, cell_size, origin.x), std::fma(cell.y + 0.5, cell_size, origin.y), origin.z};
}

absl::Status CheckWorldFrame(const WorldFrame& frame) {
  WAYSTAR_RETURN_IF_ERROR(CheckOrigin(frame.origin.x, "origin.x"));
  WAYSTAR_RETURN_IF_ERROR(CheckOrigin(frame.origin.y, "origin.y"));
  WAYSTAR_RETURN_IF_ERROR(CheckOrigin(frame.origin.z, "origin.z"));
  if (!(frame.cell_size >= kMinCellSize && frame.cell_size <= kMaxCellSize)) {
    return InvalidArgument(ErrorReason::kBadValue, "cell_size",
                           absl::StrCat("a cell's size is from 0.001 to 1e6, not ", frame.cell_size));
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
