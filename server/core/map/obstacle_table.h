// The named obstacles of a map, indexed by id and by place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/lattice.h"
#include "server/core/map/id_table.h"
#include "server/core/map/obstacle.h"
#include "server/core/map/sorted_chunks.h"

namespace waystar::core {

// Copies share what they hold: a copy costs one pointer for about a hundred obstacles, and a change clones a
// few chunks of that size.
//
// Thread safety: const methods may run beside each other, and beside changes of another copy.
class ObstacleTable : private IdTable<Obstacle> {
 public:
  // Makes the empty table of a map with these bounds.
  explicit ObstacleTable(const Rectangle& bounds, Lattice lattice = Lattice::kSquare)
      : bounds_(bounds), lattice_(lattice) {}

  using IdTable::digest;
  using IdTable::Find;
  using IdTable::size;
  using IdTable::VisitAfter;

  // Returns how many obstacles change costs.
  std::size_t cost_obstacles() const { return cost_obstacles_; }

  // As IdTable::VisitDifferences.
  template <typename Visitor>
  void VisitDifferences(const ObstacleTable& other, Visitor visit) const {
    IdTable::VisitDifferences(other, visit);
  }

  // Returns the obstacles whose bounds (BoundsOf in shape_raster.h) overlap a part of the map, in the order
  // of ids. The time is proportional to the obstacles, and to the squares of 32 x 32 cells, near it.
  std::vector<const Obstacle*> Overlapping(const Rectangle& area) const;

  // Calls visit(obstacle) for those with ids greater than `after` in the order of ids, until it returns
  // false. It looks at `tries` obstacles one after the other before it asks for all that overlap, so that a
  // page of a long list costs about as much as it shows.
  template <typename Visitor>
  void VisitOverlapping(const Rectangle& area, absl::string_view after, std::size_t tries,
                        Visitor visit) const {
    const Rectangle inside = Intersect(area, bounds_);
    VisitSome(
        after, tries, [&](const Obstacle& obstacle) { return Overlaps(obstacle, inside); },
        [&] { return Overlapping(inside); }, visit);
  }

  // As above, for the obstacles of which is_one(obstacle) is true. all() returns all of those, in the order
  // of ids.
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

  // Puts an obstacle, replacing one with the same id. REQUIRES: its shape is valid.
  void Put(const std::shared_ptr<const Obstacle>& obstacle);
  // REQUIRES: the obstacle is there.
  void Remove(absl::string_view id);

  std::size_t memory_bytes() const;
  // Returns the bytes held by this and not by `other`.
  std::size_t BytesBeyond(const ObstacleTable& other) const;

 private:
  // An obstacle in one of the squares that index it: the at most four smallest squares that together hold it.
  struct Placed {
    // The level, row and column of the square.
    std::uint32_t square = 0;
    const Obstacle* obstacle = nullptr;
  };
  struct PlacedLess {
    bool operator()(const Placed& a, const Placed& b) const {
      return a.square != b.square ? a.square < b.square : a.obstacle->id < b.obstacle->id;
    }
    bool operator()(const Placed& a, std::uint32_t square) const { return a.square < square; }
  };

  // Returns whether the bounds of an obstacle overlap a part of the map.
  bool Overlaps(const Obstacle& obstacle, const Rectangle& inside) const;
  // Counts an obstacle that was removed, and takes it out of the squares.
  void Forget(const Obstacle& obstacle);
  template <typename Visitor>
  void VisitSquares(const Obstacle& obstacle, Visitor visit) const;

  Rectangle bounds_;
  Lattice lattice_;
  SortedChunks<Placed, PlacedLess> by_place_;
  std::size_t cost_obstacles_ = 0;
};

// Returns the obstacle with that id. Returns, with that field, the errors of CheckObstacleId and NOT_FOUND /
// OBSTACLE_NOT_FOUND.
absl::StatusOr<std::shared_ptr<const Obstacle>> FindObstacle(const ObstacleTable& obstacles,
                                                             absl::string_view id, absl::string_view field);

}  // namespace waystar::core
