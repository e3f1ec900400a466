// The named obstacles of a map.
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

// Knows obstacles by id and by place. Copies share what they hold: a copy costs one pointer for about a
// hundred obstacles, a change clones a few chunks of that size.
//
// Thread safety: const methods may run beside each other, and beside changes of another copy.
class ObstacleTable {
 public:
  // Of a map with these bounds.
  explicit ObstacleTable(const Rectangle& bounds, Lattice lattice = Lattice::kSquare)
      : bounds_(bounds), lattice_(lattice) {}

  std::size_t size() const { return by_id_.size(); }
  // How many change costs.
  std::size_t cost_obstacles() const { return cost_obstacles_; }

  // Null if there is none. Holds as long as this table or a copy of it has the obstacle.
  const Obstacle* Find(absl::string_view id) const { return FindShared(id).get(); }
  std::shared_ptr<const Obstacle> FindShared(absl::string_view id) const;

  // Calls visit(obstacle) in the order of ids for those whose id is greater than `id`, until it says false.
  template <typename Visitor>
  void VisitAfter(absl::string_view id, Visitor visit) const {
    by_id_.VisitFrom(id, [&](const std::shared_ptr<const Obstacle>& obstacle) {
      return obstacle->id == std::string_view(id.data(), id.size()) || visit(*obstacle);
    });
  }

  // Calls visit(obstacle) for those that only one of the two tables has; one that was changed is another.
  // Costs a look at each pointer to a hundred obstacles, and at the obstacles of those that differ.
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

  // Those whose bounds (BoundsOf in shape_raster.h) overlap a part of the map, in the order of ids. Costs
  // time in proportion to the obstacles and to squares of 32 x 32 cells near it.
  std::vector<const Obstacle*> Overlapping(const Rectangle& area) const;

  // Takes the place of one with the same id. REQUIRES: its shape is valid.
  void Put(std::shared_ptr<const Obstacle> obstacle);
  // REQUIRES: it is there.
  void Remove(absl::string_view id);

  std::size_t memory_bytes() const;
  // Held by this and not by `other`.
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

  // An obstacle in one of the at most four squares that it lies in, of the smallest squares of which that is
  // true.
  struct Placed {
    // Level of squares, row and column.
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
