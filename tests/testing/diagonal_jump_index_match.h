// Judge of diagonal stops that edits have repaired.
#pragma once

#include "gtest/gtest.h"
#include "server/core/grid/jumps/diagonal_jump_index.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/geometry/cell.h"

namespace waystar {

template <core::Direction kDirection>
int CountNeedlessStops(const core::DiagonalJumpIndex& stops, const core::DiagonalJumpIndex& afresh,
                       core::Cell cell) {
  const int steps = stops.StepsToStop<kDirection>(cell);
  const int at_most = afresh.StepsToStop<kDirection>(cell);
  EXPECT_LE(steps, at_most) << "a stop is missing in direction " << static_cast<int>(kDirection) << " of ("
                            << cell.x << ", " << cell.y << ")";
  return steps < at_most ? 1 : 0;
}

// Expects a stop of `stops` wherever there is one of `afresh`. Returns the number of jumps that stop sooner
// than they must.
inline int ExpectNoStopMissing(const core::WalkGrid& grid, const core::DiagonalJumpIndex& stops,
                               const core::DiagonalJumpIndex& afresh) {
  int needless = 0;
  for (int y = 0; y < grid.height() && !::testing::Test::HasFailure(); ++y) {
    for (int x = 0; x < grid.width(); ++x) {
      needless += CountNeedlessStops<core::Direction::kNorthEast>(stops, afresh, {x, y}) +
                  CountNeedlessStops<core::Direction::kSouthEast>(stops, afresh, {x, y}) +
                  CountNeedlessStops<core::Direction::kSouthWest>(stops, afresh, {x, y}) +
                  CountNeedlessStops<core::Direction::kNorthWest>(stops, afresh, {x, y});
    }
  }
  return needless;
}

}  // namespace waystar
