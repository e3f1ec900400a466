#include "server/core/engine/jps.h"

#include <cstdint>

#include "server/core/engine/eight_connected_jumps.h"
#include "server/core/engine/four_connected_jumps.h"
#include "server/core/engine/jump_search.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/grid_moves.h"
#include "server/core/jump_index/diagonal_jump_index.h"

namespace waystar::core {
namespace {

template <CornerRule kRule, typename Recorder>
SearchReport RunEightConnected(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                               JumpSearch<Recorder>& search) {
  const DirectionSet first = GridMoves::For(Connectivity::kEight, kRule).From(walk, query.start);
  std::uint64_t in_vain = 0;
  if (const DiagonalJumpIndex* stops = walk.diagonal_jumps(kRule)) {
    return search.Run(first, EightConnectedJumps<kRule, DiagonalJumpIndex, JumpSearch<Recorder>>(
                                 map, walk, *stops, search, in_vain));
  }
  const EveryCellStops every_cell;
  const SearchReport report =
      search.Run(first, EightConnectedJumps<kRule, EveryCellStops, JumpSearch<Recorder>>(
                            map, walk, every_cell, search, in_vain));
  walk.RecordMisses(kRule, in_vain);
  return report;
}

}  // namespace

template <typename Recorder>
SearchReport RunJps(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                    Scratch& scratch, Recorder& recorder) {
  JumpSearch<Recorder> search(map, query, budget, scratch, recorder);
  if (map.settings().connectivity == Connectivity::kFour) {
    const DirectionSet first = GridMoves::For(Connectivity::kFour, query.corner_rule).From(walk, query.start);
    std::uint64_t in_vain = 0;
    const SearchReport report = search.Run(
        first, FourConnectedJumps<JumpSearch<Recorder>>(map, walk, walk.turn_jumps(), search, in_vain));
    walk.RecordTurnMisses(in_vain);
    return report;
  }
  switch (query.corner_rule) {
    case CornerRule::kNoCornerCutting:
      return RunEightConnected<CornerRule::kNoCornerCutting>(map, walk, query, search);
    case CornerRule::kOneSideFree:
      return RunEightConnected<CornerRule::kOneSideFree>(map, walk, query, search);
    case CornerRule::kAlways:
      return RunEightConnected<CornerRule::kAlways>(map, walk, query, search);
  }
  return {};
}

template SearchReport RunJps(const GridMap&, const WalkGrid&, const PathQuery&, const Budget&, Scratch&,
                             NoRecorder&);
template SearchReport RunJps(const GridMap&, const WalkGrid&, const PathQuery&, const Budget&, Scratch&,
                             EventRecorder&);

}  // namespace waystar::core
