#include "server/service/convert/hex_coordinates.h"

#include <cmath>
#include <cstdlib>

#include "absl/status/statusor.h"
#include "server/core/grid/cells/grid_settings.h"

namespace waystar::rpc {
namespace {

// Returns the shift of a line of the board against the plane; 0 for lines off any map.
int ShiftOf(const core::HexBoard& board, double line) {
  const double nearest = std::floor(line + 0.5);
  if (!(std::abs(nearest) <= core::kMaxReach)) {
    return 0;
  }
  const int number = static_cast<int>(nearest);
  return core::IsFlatTopped(board.layout) ? board.PlaneCellOf({number, 0}).y
                                          : board.PlaneCellOf({0, number}).x;
}

// Moves a point by `sign` times the shift of its line. The row of a pointy-topped map, and the column of a
// flat-topped one, is the same on the plane.
core::Point Shifted(const core::HexBoard& board, const core::Point& point, int sign) {
  return core::IsFlatTopped(board.layout) ? core::Point{point.x, point.y + sign * ShiftOf(board, point.x)}
                                          : core::Point{point.x + sign * ShiftOf(board, point.y), point.y};
}

// Returns true if `line`, a part of one row or column, continues at the end of `last`.
bool GoesOn(const core::Rectangle& last, const core::Rectangle& line, bool is_flat) {
  return is_flat ? last.y == line.y && last.height == line.height && last.x + last.width == line.x
                 : last.x == line.x && last.width == line.width && last.y + last.height == line.y;
}

}  // namespace

HexCoordinates::HexCoordinates(const std::optional<core::HexBoard>& board) {
  if (board && core::HasOffsets(board->layout)) {
    board_ = board;
  }
}

HexCoordinates::HexCoordinates(const core::MapSnapshot& snapshot)
    : HexCoordinates(snapshot.as_grid() == nullptr ? std::nullopt
                                                   : snapshot.as_grid()->settings().frame.hexagons) {}

HexCoordinates HexCoordinates::Of(const core::MapStore& store, const std::string& map) {
  const absl::StatusOr<core::PinnedSnapshot> snapshot = store.Pin(map);
  return snapshot.ok() ? HexCoordinates(**snapshot) : HexCoordinates();
}

core::Point HexCoordinates::ToPlane(const core::Point& point) const {
  return IsPlane() ? point : Shifted(*board_, point, 1);
}

core::Point HexCoordinates::FromPlane(const core::Point& point) const {
  return IsPlane() ? point : Shifted(*board_, point, -1);
}

bool HexCoordinates::IsSound(const core::Rectangle& rectangle) const {
  const auto& [x, y, width, height] = rectangle;
  if (IsPlane()) {
    return true;
  }
  return width >= 1 && height >= 1 &&
         (core::IsFlatTopped(board_->layout) ? width : height) <= core::kMaxMapSide &&
         std::abs(static_cast<double>(x)) <= core::kMaxReach &&
         std::abs(static_cast<double>(y)) <= core::kMaxReach;
}

void HexCoordinates::ToPlane(const core::Rectangle& rectangle, std::vector<core::Rectangle>& parts) const {
  if (IsPlane()) {
    parts.push_back(rectangle);
    return;
  }
  const auto& [x, y, width, height] = rectangle;
  const bool is_flat = core::IsFlatTopped(board_->layout);
  for (int line = 0; line < (is_flat ? width : height); ++line) {
    const core::Cell first = board_->PlaneCellOf({x + (is_flat ? line : 0), y + (is_flat ? 0 : line)});
    parts.push_back({first.x, first.y, is_flat ? 1 : width, is_flat ? height : 1});
  }
}

void HexCoordinates::FromPlane(const core::Rectangle& of_plane, std::vector<core::Rectangle>& parts) const {
  if (IsPlane()) {
    parts.push_back(of_plane);
    return;
  }
  const auto& [x, y, width, height] = of_plane;
  const bool is_flat = core::IsFlatTopped(board_->layout);
  if ((is_flat ? width : height) > core::kMaxMapSide) {
    // No request and no file makes these; there would be too many parts.
    const core::Cell first = board_->CountedAt({x, y});
    parts.push_back({first.x, first.y, width, height});
    return;
  }
  for (int line = 0; line < (is_flat ? width : height); ++line) {
    const core::Cell first = board_->CountedAt({x + (is_flat ? line : 0), y + (is_flat ? 0 : line)});
    const core::Rectangle part{first.x, first.y, is_flat ? 1 : width, is_flat ? height : 1};
    if (parts.empty() || !GoesOn(parts.back(), part, is_flat)) {
      parts.push_back(part);
    } else {
      (is_flat ? parts.back().width : parts.back().height) += 1;
    }
  }
}

core::Rectangle HexCoordinates::PlaneBoundsOf(const core::Rectangle& part) const {
  return IsPlane() ? part : board_->PlaneBoundsOf(part);
}

core::Rectangle HexCoordinates::PartAround(const core::Rectangle& of_plane) const {
  return IsPlane() ? of_plane : core::Intersect(board_->PartAround(of_plane), board_->bounds());
}

void HexCoordinates::AddOutside(const core::Rectangle& part, std::vector<core::Rectangle>& outside) const {
  if (IsPlane()) {
    return;
  }
  const core::Rectangle around = board_->PlaneBoundsOf(part);
  const int right = around.x + around.width;
  for (int y = around.y; y < around.y + around.height; ++y) {
    const core::HexBoard::Span span = board_->InRow(y, part);
    if (span.begin > around.x) {
      outside.push_back({around.x, y, span.begin - around.x, 1});
    }
    if (span.end < right) {
      outside.push_back({span.end, y, right - span.end, 1});
    }
  }
}

}  // namespace waystar::rpc
