// Selection of the jumps for a map.
#pragma once

#include <cstdint>

#include "server/core/grid/engines/eight_connected_jumps.h"
#include "server/core/grid/engines/four_connected_jumps.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/walk/walk_grid.h"

namespace waystar::core {

template <CornerRule kRule, typename Search, typename Run>
auto RunWithEightConnectedJumps(const GridMap& map, const WalkGrid& walk, Search& search, Run run) {
  std::uint64_t in_vain = 0;
  if (const DiagonalJumpIndex* stops = walk.diagonal_jumps(kRule)) {
    return run(EightConnectedJumps<kRule, DiagonalJumpIndex, Search>(map, walk, *stops, search, in_vain));
  }
  const EveryCellStops every_cell;
  const auto result =
      run(EightConnectedJumps<kRule, EveryCellStops, Search>(map, walk, every_cell, search, in_vain));
  walk.RecordMisses(kRule, in_vain);
  return result;
}

// Returns run(jumps), where `jumps` follow directions by the corner rule and report to `search`; see
// EightConnectedJumps. Records vain look-arounds with `walk`.
// REQUIRES: the map is 4- or 8-connected.
template <typename Search, typename Run>
auto RunWithJumps(const GridMap& map, const WalkGrid& walk, CornerRule rule, Search& search, Run run) {
  if (map.settings().connectivity == Connectivity::kFour) {
    std::uint64_t in_vain = 0;
    const auto result = run(FourConnectedJumps<Search>(map, walk, walk.turn_jumps(), search, in_vain));
    walk.RecordTurnMisses(in_vain);
    return result;
  }
  switch (rule) {
    case CornerRule::kNoCornerCutting:
      return RunWithEightConnectedJumps<CornerRule::kNoCornerCutting>(map, walk, search, run);
    case CornerRule::kOneSideFree:
      return RunWithEightConnectedJumps<CornerRule::kOneSideFree>(map, walk, search, run);
    case CornerRule::kAlways:
      break;
  }
  return RunWithEightConnectedJumps<CornerRule::kAlways>(map, walk, search, run);
}

}  // namespace waystar::core
