// Named obstacles of a map, indexed by id and by position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/elements/id_table.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/sorted_chunks.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Copy-on-write table of named obstacles with a spatial index. A copy costs one pointer per hundred obstacles
// or so; a change clones a few chunks of that size.
//
// Thread safety: const methods may run concurrently with each other and with changes to another copy.
class ObstacleTable : private IdTable<Obstacle> {
 public:
  // Makes the empty table of a map with these bounds.
  explicit ObstacleTable(const Rectangle& bounds, Lattice lattice = Lattice::kSquare)
      : bounds_(bounds), lattice_(lattice) {}

  using IdTable::digest;
  using IdTable::Find;
  using IdTable::size;
  using IdTable::VisitAfter;

  // Number of obstacles that change costs.
  std::size_t cost_obstacles() const { return cost_obstacles_; }

  // As IdTable::VisitDifferences.
  template <typename Visitor>
  void VisitDifferences(const ObstacleTable& other, Visitor visit) const {
    IdTable::VisitDifferences(other, visit);
  }

  // Returns the obstacles whose bounds (BoundsOf in shape_raster.h) overlap an area, in id order. Time is
  // proportional to the number of obstacles, and of squares of 32 x 32 cells, near the area.
  std::vector<const Obstacle*> Overlapping(const Rectangle& area) const;

  // Calls visit(obstacle) in id order for ids greater than `after`, until it returns false. It scans up to
  // `tries` obstacles by id before it queries the spatial index, so that the cost of a page of a long list is
  // proportional to the page.
  template <typename Visitor>
  void VisitOverlapping(const Rectangle& area, absl::string_view after, std::size_t tries,
                        Visitor visit) const {
    const Rectangle inside = Intersect(area, bounds_);
    VisitSome(
        after, tries, [&](const Obstacle& obstacle) { return Overlaps(obstacle, inside); },
        [&] { return Overlapping(inside); }, visit);
  }

  // As above, for the obstacles that satisfy is_one(obstacle). all() returns all of these in id order.
  template <typename Predicate, typename Lister, typename Visitor>
  void VisitSome(absl::string_view after, std::size_t tries, Predicate is_one, Lister all,
                 Visitor visit) const {
    bool goes_on = true;
    std::string last(after);
    VisitAfter(after, [&](const Obstacle& obstacle) {
      if (tries == 0) {
        return false;
      }
      --tries;
      last = obstacle.id;
      goes_on = !is_one(obstacle) || visit(obstacle);
      return goes_on;
    });
    if (!goes_on || tries > 0) {
      return;
    }
    for (const Obstacle* obstacle : all()) {
      if (obstacle->id > last && !visit(*obstacle)) {
        return;
      }
    }
  }

  // Inserts an obstacle, or replaces the one with the same id.
  // REQUIRES: its shape is valid.
  void Put(const std::shared_ptr<const Obstacle>& obstacle);
  // REQUIRES: the obstacle exists.
  void Remove(absl::string_view id);

  std::size_t memory_bytes() const;
  // Returns the bytes held by this and not by `other`.
  std::size_t BytesBeyond(const ObstacleTable& other) const;

 private:
  // Entry of the spatial index. Each obstacle has an entry for each of up to four squares, the smallest that
  // cover it together.
  struct Placed {
    // Level, row and column of the square.
    std::uint32_t square = 0;
    const Obstacle* obstacle = nullptr;
  };
  struct PlacedLess {
    bool operator()(const Placed& a, const Placed& b) const {
      return a.square != b.square ? a.square < b.square : a.obstacle->id < b.obstacle->id;
    }
    bool operator()(const Placed& a, std::uint32_t square) const { return a.square < square; }
  };

  // Returns true if the obstacle's bounds overlap an area of the map.
  bool Overlaps(const Obstacle& obstacle, const Rectangle& inside) const;
  // Removes an obstacle from the counts and the spatial index.
  void Forget(const Obstacle& obstacle);
  template <typename Visitor>
  void VisitSquares(const Obstacle& obstacle, Visitor visit) const;

  Rectangle bounds_;
  Lattice lattice_;
  SortedChunks<Placed, PlacedLess> by_place_;
  std::size_t cost_obstacles_ = 0;
};

// Returns the obstacle with that id. Returns the errors of CheckObstacleId, or NOT_FOUND /
// OBSTACLE_NOT_FOUND, with that field.
absl::StatusOr<std::shared_ptr<const Obstacle>> FindObstacle(const ObstacleTable& obstacles,
                                                             absl::string_view id, absl::string_view field);

}  // namespace waystar::core
