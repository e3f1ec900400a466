#include "server/core/elements/obstacle_table.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/grid/shapes/shape_raster.h"

namespace waystar::core {
namespace {

// Squares have sides of 2^5, 2^7, ... cells.
constexpr int kLevels = 5;
int SideShift(int level) { return 5 + 2 * level; }
static_assert(kMaxMapSide <= 1 << (5 + 2 * (kLevels - 1)));

std::uint32_t SquareAt(int level, int row, int column) {
  return static_cast<std::uint32_t>(level) << 16U | static_cast<std::uint32_t>(row) << 8U |
         static_cast<std::uint32_t>(column);
}
static_assert(kMaxMapSide >> 5 <= 1 << 8);

}  // namespace

template <typename Visitor>
void ObstacleTable::VisitSquares(const Obstacle& obstacle, Visitor visit) const {
  const Rectangle bounds = BoundsOf(obstacle.shape, lattice_, bounds_);
  if (bounds.empty()) {
    return;
  }
  int level = 0;
  while (std::max(bounds.width, bounds.height) > 1 << SideShift(level)) {
    ++level;
  }
  const int shift = SideShift(level);
  for (int row = bounds.y >> shift; row <= (bounds.y + bounds.height - 1) >> shift; ++row) {
    for (int column = bounds.x >> shift; column <= (bounds.x + bounds.width - 1) >> shift; ++column) {
      visit(Placed{SquareAt(level, row, column), &obstacle});
    }
  }
}

bool ObstacleTable::Overlaps(const Obstacle& obstacle, const Rectangle& inside) const {
  return !Intersect(BoundsOf(obstacle.shape, lattice_, bounds_), inside).empty();
}

std::vector<const Obstacle*> ObstacleTable::Overlapping(const Rectangle& area) const {
  std::vector<const Obstacle*> found;
  const Rectangle inside = Intersect(area, bounds_);
  if (inside.empty()) {
    return found;
  }
  for (int level = 0; level < kLevels; ++level) {
    const int shift = SideShift(level);
    for (int row = inside.y >> shift; row <= (inside.y + inside.height - 1) >> shift; ++row) {
      const std::uint32_t last = SquareAt(level, row, (inside.x + inside.width - 1) >> shift);
      by_place_.VisitFrom(SquareAt(level, row, inside.x >> shift), [&](const Placed& placed) {
        if (placed.square > last) {
          return false;
        }
        if (Overlaps(*placed.obstacle, inside)) {
          found.push_back(placed.obstacle);
        }
        return true;
      });
    }
  }
  std::sort(found.begin(), found.end(), [](const Obstacle* a, const Obstacle* b) { return a->id < b->id; });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void ObstacleTable::Put(const std::shared_ptr<const Obstacle>& obstacle) {
  if (const std::shared_ptr<const Obstacle> before = IdTable::Put(obstacle)) {
    Forget(*before);
  }
  VisitSquares(*obstacle, [&](const Placed& placed) { by_place_.Put(placed); });
  cost_obstacles_ += obstacle->effect.kind == ObstacleEffect::Kind::kBlock ? 0 : 1;
}

void ObstacleTable::Remove(absl::string_view id) { Forget(*IdTable::Remove(id)); }

void ObstacleTable::Forget(const Obstacle& obstacle) {
  VisitSquares(obstacle, [&](const Placed& placed) { by_place_.Remove(placed); });
  cost_obstacles_ -= obstacle.effect.kind == ObstacleEffect::Kind::kBlock ? 0 : 1;
}

std::size_t ObstacleTable::memory_bytes() const { return IdTable::memory_bytes() + by_place_.memory_bytes(); }

std::size_t ObstacleTable::BytesBeyond(const ObstacleTable& other) const {
  return this == &other
             ? 0
             : IdTable::BytesBeyond(other) + by_place_.BytesBeyond(other.by_place_, [](const Placed&) {});
}

absl::StatusOr<std::shared_ptr<const Obstacle>> FindObstacle(const ObstacleTable& obstacles,
                                                             absl::string_view id, absl::string_view field) {
  WAYSTAR_RETURN_IF_ERROR_AT(field, CheckObstacleId(id));
  std::shared_ptr<const Obstacle> found = obstacles.Find(id);
  if (found == nullptr) {
    return MakeError(ErrorReason::kObstacleNotFound, field,
                     absl::StrCat("the map has no obstacle \"", id, "\""));
  }
  return found;
}

}  // namespace waystar::core
