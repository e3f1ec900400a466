// Exact integer tests of what a straight line in the plane touches, also on the cells of a grid.
//
// Shapes are areas of the plane that include their edges and corners: a line that only touches a shape is
// blocked by it. Coordinates are those of the world: cell (x, y) and rectangles begin at (x, y), the cell
// ends at (x + 1, y + 1), and a line includes the points at most half its width away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/graph/map/box_tree.h"
#include "server/core/graph/map/shared_pages.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/geometry/shape.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

struct Segment {
  FixedPoint a;
  FixedPoint b;
};

// Area of the plane, including its edges, in units of 2^-20.
struct FixedBox {
  std::int64_t x_low = 0;
  std::int64_t y_low = 0;
  std::int64_t x_high = 0;
  std::int64_t y_high = 0;
};

bool Touches(const Segment& segment, const FixedBox& box);
bool Touches(const Segment& segment, const Segment& other);
bool Touches(const Segment& segment, const Disc& disc);
// Takes O(vertices).
bool Touches(const Segment& segment, const Polygon& polygon);
bool Touches(const Segment& segment, const Line& line);

// Parts of a shape are numbered: cells, then rectangles, discs, polygons and lines.
inline std::size_t PartCount(const Shape& shape) {
  return shape.cells.size() + shape.rectangles.size() + shape.discs.size() + shape.polygons.size() +
         shape.lines.size();
}
bool TouchesPart(const Segment& segment, const Shape& shape, std::size_t part);
// Returns true if the segment touches any part.
bool Touches(const Segment& segment, const Shape& shape);
// Returns the smallest box around a part, up to rounding.
FixedBox BoxOfPart(const Shape& shape, std::size_t part);

// Walkable cells of a grid at one time. Cell (x, y) is the square that begins at `origin` + `cell_size` * (x,
// y), in world units.
//
// Thread safety: immutable.
class GridSight {
 public:
  explicit GridSight(BitPlane walkable, Point origin = {}, double cell_size = 1.0)
      : walkable_(std::move(walkable)), origin_(origin), cell_size_(cell_size) {}

  const BitPlane& walkable() const { return walkable_; }
  Point origin() const { return origin_; }
  double cell_size() const { return cell_size_; }

  // Returns true if a line lies on the grid and touches only walkable cells, including at corners. Cost is
  // proportional to the rows that it crosses.
  bool IsFree(const WorldPoint& a, const WorldPoint& b) const;

  // Returns true if the cell that contains a position is walkable; false outside the grid.
  bool IsWalkableAt(const WorldPoint& position) const;

  // Returns a position in units of 2^-20 of a cell, relative to the corner of cell (0, 0).
  FixedPoint InCells(const WorldPoint& point) const {
    return ToFixed(Point{(point.x - origin_.x) / cell_size_, (point.y - origin_.y) / cell_size_});
  }

  std::size_t memory_bytes() const { return walkable_.memory_bytes(); }

 private:
  BitPlane walkable_;
  Point origin_;
  double cell_size_;
};

// Copy-on-write set of obstructions of sight between nodes: named obstacles, indexed by id and position, and
// cells of a grid.
//
// Thread safety: const methods may run concurrently with each other and with changes to another copy.
class SightMap {
 public:
  // `grid` may be null.
  explicit SightMap(std::shared_ptr<const GridSight> grid = nullptr)
      : obstacles_(Rectangle{}), grid_(std::move(grid)) {}

  // Returns the obstacles by id. This table has no spatial index.
  const ObstacleTable& obstacles() const { return obstacles_; }
  bool is_empty() const { return obstacles_.size() == 0 && grid_ == nullptr; }
  // Returns the grid, or null.
  const GridSight* grid() const { return grid_.get(); }

  // Inserts an obstacle, or replaces the one with the same id.
  // REQUIRES: its shape is valid; here and below: no other writer has `owner`.
  void Put(std::shared_ptr<const Obstacle> obstacle, Owner owner);
  // REQUIRES: the obstacle exists.
  void Remove(absl::string_view id, Owner owner);

  // Returns true if the straight line between two positions, seen from above, touches no obstacle.
  bool IsClearOfObstacles(const WorldPoint& a, const WorldPoint& b) const;
  // Returns true if it touches neither an obstacle nor a grid cell that is not walkable.
  bool IsClear(const WorldPoint& a, const WorldPoint& b) const {
    return IsClearOfObstacles(a, b) && (grid_ == nullptr || grid_->IsFree(a, b));
  }

  // Calls visit(obstacle, part) for the parts of obstacles that the straight line between two positions may
  // touch (TouchesPart in sight_line.h), in no particular order, until it returns false. Returns true if it
  // never did.
  template <typename Visitor>
  bool VisitPartsAlong(const WorldPoint& a, const WorldPoint& b, Visitor visit) const {
    return parts_.VisitAlong({a.x, a.y}, {b.x, b.y},
                             [&](const Part& part) { return visit(*part.obstacle, part.number); });
  }

  // Returns the obstacles with a part near `area`, in id order, and possibly some just outside.
  std::vector<const Obstacle*> ObstaclesNear(const Box& area) const;
  // Returns true if the box of a part of the obstacle overlaps the area.
  static bool IsNear(const Obstacle& obstacle, const Box& area);
  // Visits the obstacles of ObstaclesNear, as ObstacleTable::VisitOverlapping does.
  template <typename Visitor>
  void VisitObstaclesNear(const Box& area, absl::string_view after, std::size_t tries, Visitor visit) const {
    obstacles_.VisitSome(
        after, tries, [&](const Obstacle& obstacle) { return IsNear(obstacle, area); },
        [&] { return ObstaclesNear(area); }, visit);
  }

  // Returns the bytes held, including the grid.
  std::size_t memory_bytes() const;
  std::size_t BytesBeyond(const SightMap& other) const;

 private:
  struct Part {
    Box around;
    const Obstacle* obstacle = nullptr;
    std::size_t number = 0;

    double x() const { return (around.x_low + around.x_high) / 2; }
    double y() const { return (around.y_low + around.y_high) / 2; }
    const Box& box() const { return around; }
    bool IsSame(const Part& other) const { return obstacle == other.obstacle && number == other.number; }
  };
  static Part PartOf(const Obstacle& obstacle, std::size_t number);

  ObstacleTable obstacles_;
  BoxTree<Part> parts_;
  std::shared_ptr<const GridSight> grid_;
};

// Returns a box around a part of a shape, widened by at least the rounding error of its coordinates.
Box BoxAroundPart(const Shape& shape, std::size_t part);

}  // namespace waystar::core
