// How the cells of a request and of its answer are counted: as cells of the plane, or of hexagons by columns
// and rows.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/hex_board.h"
#include "server/core/shape/shape.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/store/map_store.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// Counts the cells of one map. Thread safety: immutable.
class HexCoordinates {
 public:
  // Cells of the plane, which stay as they are.
  HexCoordinates() = default;

  // The coordinates that a request asks for; cells of the plane if it asks for none. INVALID_ARGUMENT /
  // UNKNOWN_ENUM_VALUE or FAILED_PRECONDITION / WRONG_MAP_KIND with field "coordinates".
  static absl::StatusOr<HexCoordinates> Of(const core::MapSnapshot& snapshot, v1::HexLayout coordinates);
  // The same for a map that is not pinned. Errors of MapStore::Pin as well, if the request asks for any.
  static absl::StatusOr<HexCoordinates> Of(const core::MapStore& store, const std::string& map,
                                           v1::HexLayout coordinates);

  bool IsPlane() const { return !core::HasOffsets(layout_); }

  // What lies far off any map stays as it is.
  core::Cell ToPlane(core::Cell cell) const;
  core::Cell FromPlane(core::Cell cell) const;

  // A point of a shape, in place. INVALID_ARGUMENT / BAD_VALUE with field "coordinates" unless it is a pair
  // of whole numbers.
  absl::Status ToPlane(core::Point& point) const;
  // A rectangle of columns and rows, each of which becomes a rectangle of the plane that is added to `parts`.
  // INVALID_ARGUMENT / BAD_RECTANGLE with field "rectangles" for one that is empty or larger than a map.
  absl::Status ToPlane(const core::Rectangle& rectangle, std::vector<core::Rectangle>& parts) const;

 private:
  HexCoordinates(core::HexLayout layout, core::Cell zero) : layout_(layout), zero_(zero) {}

  core::HexLayout layout_ = core::HexLayout::kAxialPointy;
  // Where on the plane (0, 0) lies.
  core::Cell zero_;
};

}  // namespace waystar::rpc
