// Coordinates of cells in the API: columns and rows on boards of hexagons, plane coordinates on all other
// maps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/core/grid/cells/world_frame.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/store/map_store.h"
#include "server/geometry/cell.h"
#include "server/geometry/shape.h"

namespace waystar::rpc {

// Coordinates of the cells of one map. Thread safety: immutable.
class HexCoordinates {
 public:
  // Uses plane coordinates, which are not converted.
  HexCoordinates() = default;
  explicit HexCoordinates(const std::optional<core::HexBoard>& board);
  explicit HexCoordinates(const core::MapSnapshot& snapshot);
  // Returns the coordinates of a map that need not be pinned; plane coordinates if it does not exist.
  static HexCoordinates Of(const core::MapStore& store, const std::string& map);

  // Returns true if cells have plane coordinates.
  bool IsPlane() const { return !board_.has_value(); }

  // Convert cells. Those far off any map are not converted.
  core::Cell ToPlane(core::Cell cell) const { return board_ ? board_->PlaneCellOf(cell) : cell; }
  core::Cell FromPlane(core::Cell cell) const { return board_ ? board_->CountedAt(cell) : cell; }

  // Convert a point of a shape, relative to the nearest row, or the nearest column of a flat-topped map; if
  // two are equally near, to the later one.
  core::Point ToPlane(const core::Point& point) const;
  core::Point FromPlane(const core::Point& point) const;

  // Returns whether a rectangle of columns and rows has cells, at most kMaxMapSide rows (columns of a
  // flat-topped map), and does not begin far off the map. Those of the plane are left to the core.
  bool IsSound(const core::Rectangle& rectangle) const;
  // Adds a rectangle of columns and rows to `parts`: each of its rows, or columns of a flat-topped map,
  // becomes a rectangle of the plane, which may lie beside the plane. REQUIRES: IsSound(rectangle).
  void ToPlane(const core::Rectangle& rectangle, std::vector<core::Rectangle>& parts) const;
  // Adds a rectangle of the plane to `parts`, as rectangles of columns and rows; what goes on where the last
  // of the parts ends is joined with it.
  void FromPlane(const core::Rectangle& of_plane, std::vector<core::Rectangle>& parts) const;

  // Returns the smallest rectangle of the plane around a part of the map. REQUIRES: the part is on the map.
  core::Rectangle PlaneBoundsOf(const core::Rectangle& part) const;
  // Returns the columns and rows that a rectangle of the plane reaches, without those off the board.
  core::Rectangle PartAround(const core::Rectangle& of_plane) const;
  // Adds the cells of PlaneBoundsOf(part) that are not in the part. REQUIRES: the part is on the map.
  void AddOutside(const core::Rectangle& part, std::vector<core::Rectangle>& outside) const;

  // Returns the board; null if cells of the plane are counted.
  const core::HexBoard* board() const { return board_ ? &*board_ : nullptr; }

 private:
  // Set only where columns and rows are counted.
  std::optional<core::HexBoard> board_;
};

}  // namespace waystar::rpc
