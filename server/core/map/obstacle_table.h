// The named obstacles of a map, indexed by id and by place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/lattice.h"
#include "server/core/map/obstacle.h"
#include "server/core/map/sorted_chunks.h"

namespace waystar::core {

// Copies share what they hold: a copy costs one pointer for about a hundred obstacles, and a change clones a
// few chunks of that size.
//
// Thread safety: const methods may run beside each other, and beside changes of another copy.
class ObstacleTable {
 public:
  // Makes the empty table of a map with these bounds.
  explicit ObstacleTable(const Rectangle& bounds, Lattice lattice = Lattice::kSquare)
      : bounds_(bounds), lattice_(lattice) {}

  std::size_t size() const { return by_id_.size(); }
  // Returns how many obstacles change costs.
  std::size_t cost_obstacles() const { return cost_obstacles_; }

  // Returns null if there is none. The pointer is valid while this table or a copy of it has the obstacle.
  const Obstacle* Find(absl::string_view id) const { return FindShared(id).get(); }
  std::shared_ptr<const Obstacle> FindShared(absl::string_view id) const;

  // Calls visit(obstacle) in the order of ids for those greater than `id`, until it returns false.
  template <typename Visitor>
  void VisitAfter(absl::string_view id, Visitor visit) const {
    by_id_.VisitFrom(id, [&](const std::shared_ptr<const Obstacle>& obstacle) {
      return obstacle->id == std::string_view(id.data(), id.size()) || visit(*obstacle);
    });
  }

  // Calls visit(obstacle) for the obstacles that only one of the two tables has; one that was changed counts
  // as another. It looks at each pointer to a hundred obstacles, and at the obstacles of those that differ.
  template <typename Visitor>
  void VisitDifferences(const ObstacleTable& other, Visitor visit) const {
    const auto visit_own = [&](const ObstacleTable& own, const ObstacleTable& others) {
      own.by_id_.VisitBeyond(others.by_id_, [&](const std::shared_ptr<const Obstacle>& obstacle) {
        if (others.FindShared(obstacle->id) != obstacle) {
          visit(*obstacle);
        }
      });
    };
    if (this != &other) {
      visit_own(*this, other);
      visit_own(other, *this);
    }
  }

  // Returns the obstacles whose bounds (BoundsOf in shape_raster.h) overlap a part of the map, in the order
  // of ids. The time is proportional to the obstacles, and to the squares of 32 x 32 cells, near it.
  std::vector<const Obstacle*> Overlapping(const Rectangle& area) const;

  // Puts an obstacle, replacing one with the same id. REQUIRES: its shape is valid.
  void Put(std::shared_ptr<const Obstacle> obstacle);
  // REQUIRES: the obstacle is there.
  void Remove(absl::string_view id);

  std::size_t memory_bytes() const;
  // Returns the bytes held by this and not by `other`.
  std::size_t BytesBeyond(const ObstacleTable& other) const;

 private:
  struct IdLess {
    bool operator()(const std::shared_ptr<const Obstacle>& a,
                    const std::shared_ptr<const Obstacle>& b) const {
      return a->id < b->id;
    }
    bool operator()(const std::shared_ptr<const Obstacle>& a, absl::string_view b) const {
      return absl::string_view(a->id) < b;
    }
  };

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

  template <typename Visitor>
  void VisitSquares(const Obstacle& obstacle, Visitor visit) const;

  Rectangle bounds_;
  Lattice lattice_;
  SortedChunks<std::shared_ptr<const Obstacle>, IdLess> by_id_;
  SortedChunks<Placed, PlacedLess> by_place_;
  std::size_t cost_obstacles_ = 0;
  std::size_t obstacle_bytes_ = 0;
};

}  // namespace waystar::core
