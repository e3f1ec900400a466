#include "server/core/grid/map/cost_survey.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "server/core/grid/cells/cost.h"
#include "server/core/grid/map/terrain_tiles.h"
#include "server/geometry/cell.h"

namespace waystar::core {
namespace {

// Number of sample cells along each side. Maps with a shorter side are not sampled: any search on them is
// fast.
constexpr int kSamples = 32;
constexpr int kFewestPairs = 64;
// If fewer neighbours than this fraction cost the same, A* is faster than jumps. With patches of 2 x 2 cells
// of eight costs A* takes 0.6 times as long as jumps, with patches of 4 x 4 cells 1.7 times.
constexpr double kNoise = 0.6;
// With fewer distinct costs there are few neighbourhoods, and their judgements are cached.
constexpr std::size_t kFewestCosts = 4;

bool IsNoise(const GridMap& map) {
  if (std::min(map.width(), map.height()) < kSamples) {
    return false;
  }
  int pairs = 0;
  int equal = 0;
  std::vector<Cost> costs;
  for (int i = 0; i < kSamples; ++i) {
    for (int k = 0; k < kSamples; ++k) {
      // Samples at uneven distances, because terrain may form a regular pattern.
      const Cell cell{k * map.width() / kSamples + (7 * k + 3 * i) % (map.width() / kSamples),
                      i * map.height() / kSamples + (3 * k + 7 * i) % (map.height() / kSamples)};
      if (!map.IsWalkable(cell)) {
        continue;
      }
      const Cost cost = map.StraightCost(cell);
      if (costs.size() < kFewestCosts && std::find(costs.begin(), costs.end(), cost) == costs.end()) {
        costs.push_back(cost);
      }
      for (const Cell next : {Cell{cell.x + 1, cell.y}, Cell{cell.x, cell.y + 1}}) {
        if (map.IsWalkable(next)) {
          ++pairs;
          equal += map.StraightCost(next) == cost ? 1 : 0;
        }
      }
    }
  }
  return pairs >= kFewestPairs && costs.size() >= kFewestCosts && equal < kNoise * pairs;
}

}  // namespace

std::uint64_t CostSurvey::WorkOn(const GridMap& map) {
  if (map.HasUniformCost()) {
    return 0;
  }
  constexpr std::uint64_t kWorkOfTile = 3;
  constexpr std::uint64_t kWorkOfSample = 4;
  const TerrainTiles& tiles = map.terrain_tiles();
  const std::uint64_t looks = CostFloor::kMostTiles * static_cast<std::uint64_t>(tiles.columns()) +
                              static_cast<std::uint64_t>(tiles.rows());
  return kWorkOfTile * looks + kWorkOfSample * kSamples * kSamples;
}

CostSurvey CostSurvey::Of(const GridMap& map) {
  return {.floor = CostFloor::Of(map), .is_noise = !map.HasUniformCost() && IsNoise(map)};
}

}  // namespace waystar::core
