// Coordinates in which requests and answers count cells: of the plane, or hexagons by columns and rows.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/hex_board.h"
#include "server/core/shape/shape.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/store/map_store.h"
#include "waystar/v1/types.pb.h"
#include "waystar/v1/view.pb.h"

namespace waystar::rpc {

// Coordinates of the cells of one map. Thread safety: immutable.
class HexCoordinates {
 public:
  // Counts cells of the plane, which stay as they are.
  HexCoordinates() = default;

  // Returns the coordinates that a request asks for; cells of the plane if it asks for none. Returns
  // INVALID_ARGUMENT / UNKNOWN_ENUM_VALUE or FAILED_PRECONDITION / WRONG_MAP_KIND with `field`.
  static absl::StatusOr<HexCoordinates> Of(const core::MapSnapshot& snapshot, v1::HexLayout coordinates,
                                           absl::string_view field);
  static absl::StatusOr<HexCoordinates> Of(const core::MapSnapshot& snapshot, const v1::View& view) {
    return Of(snapshot, view.coordinates(), "view.coordinates");
  }
  // The same for a map that is not pinned. Returns the errors of MapStore::Pin as well if it has to pin it.
  static absl::StatusOr<HexCoordinates> Of(const core::MapStore& store, const std::string& map,
                                           v1::HexLayout coordinates, absl::string_view field);

  bool IsPlane() const { return !core::HasOffsets(layout_); }

  // Cells far off any map stay as they are.
  core::Cell ToPlane(core::Cell cell) const;
  core::Cell FromPlane(core::Cell cell) const;

  // Converts a point of a shape. Returns INVALID_ARGUMENT / BAD_VALUE with that field unless it is a pair of
  // whole numbers.
  absl::StatusOr<core::Point> ToPlane(const core::Point& point, absl::string_view field) const;
  // Converts a rectangle of columns and rows: each of its rows, or columns of a flat-topped map, becomes a
  // rectangle of the plane in `parts`, which may lie beside the plane. Returns INVALID_ARGUMENT /
  // BAD_RECTANGLE with no field for one that is empty, larger than a map or far off any.
  absl::Status ToPlane(const core::Rectangle& rectangle, std::vector<core::Rectangle>& parts) const;

 private:
  HexCoordinates(core::HexLayout layout, core::Cell zero) : layout_(layout), zero_(zero) {}

  core::HexLayout layout_ = core::HexLayout::kAxialPointy;
  // The cell of the plane that is (0, 0).
  core::Cell zero_;
};

}  // namespace waystar::rpc
