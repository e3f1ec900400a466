#include "tests/bench/unreachable_goals.h"

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/bench/regions.h"
#include "tests/bench/sample.h"
#include "tests/bench/stopwatch.h"
#include "tests/testing/layouts.h"
#include "tests/testing/movingai_data.h"

namespace waystar::bench {
namespace {

using core::Cell;
using core::GridMap;

constexpr int kSide = 1024;

struct Pair {
  Cell inside;
  Cell outside;
};

// Cells of the largest region with cells of others.
std::vector<Pair> ChoosePairs(const GridMap& map, const Regions& regions, int count) {
  testing::Random random(7);
  const std::int32_t largest = regions.Largest();
  std::vector<Cell> inside;
  std::vector<Cell> outside;
  const auto wanted = static_cast<std::size_t>(count);
  while (inside.size() < wanted || outside.size() < wanted) {
    const Cell cell{random.Between(0, map.width() - 1), random.Between(0, map.height() - 1)};
    const std::int32_t region = regions.Of(cell);
    if (region != Regions::kNone) {
      std::vector<Cell>& cells = region == largest ? inside : outside;
      cells.push_back(cell);
    }
  }
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < wanted; ++i) {
    pairs.push_back({inside[i], outside[i]});
  }
  return pairs;
}

double Ask(const GridMap& map, const core::PathQuery& query, core::Outcome expected, core::Scratch& scratch) {
  absl::StatusOr<core::PathResult> result;
  const double micros = MicrosOf([&] { result = core::FindPath(map, query, {}, scratch); });
  if (!result.ok() || result->outcome != expected) {
    std::cerr << "wrong answer from " << query.start.x << "," << query.start.y << " to " << query.goal.x
              << "," << query.goal.y << "\n";
    std::exit(1);
  }
  return micros;
}

void PrintMap(const std::string& name, GridMap map, int queries, core::Algorithm algorithm,
              core::Scratch& scratch) {
  // As a server does when a map comes in.
  map.Prepare();
  const Regions regions(map);
  if (regions.count() < 2) {
    std::cout << absl::StreamFormat("%-20s is of one piece\n", name);
    return;
  }
  Sample into;
  Sample out_of;
  Sample nearest;
  for (const Pair& pair : ChoosePairs(map, regions, queries)) {
    core::PathQuery query{.start = pair.inside, .goal = pair.outside, .algorithm = algorithm};
    into.Add(Ask(map, query, core::Outcome::kUnreachable, scratch));
    query.unreachable_policy = core::UnreachablePolicy::kNearestByDistance;
    nearest.Add(Ask(map, query, core::Outcome::kPartial, scratch));
    const core::PathQuery back{.start = pair.outside, .goal = pair.inside, .algorithm = algorithm};
    out_of.Add(Ask(map, back, core::Outcome::kUnreachable, scratch));
  }
  std::cout << absl::StreamFormat("%-20s %8u %9u %12.1f %12.1f %12.1f\n", name, regions.count(),
                                  regions.CellsOf(regions.Largest()), into.Mean(), out_of.Mean(),
                                  nearest.Mean())
            << std::flush;
}

GridMap FieldWithSealedRoom() {
  const GridMap field = *GridMap::Create(kSide, kSide, {});
  return core::ApplyEdits(field, {core::BlockCells{{.rectangles = {{700, 500, 60, 40}}}},
                                  core::UnblockCells{{.rectangles = {{701, 501, 58, 38}}}}})
      ->map;
}

}  // namespace

void PrintUnreachableGoals(int queries, core::Algorithm algorithm) {
  std::cout << absl::StreamFormat("%-20s %8s %9s %12s %12s %12s\n", "goal out of reach", "regions", "largest",
                                  "into it, us", "out of it", "nearest, us");
  core::Scratch scratch(std::size_t{1} << 30);
  testing::Random random(3);
  GridMap map = FieldWithSealedRoom();
  PrintMap("sealed room", map, queries, algorithm, scratch);
  testing::LayNoise(random, 0.4, map);
  PrintMap("random 40 %", map, queries, algorithm, scratch);
  testing::LayRooms(random, 32, 0.02, map);
  PrintMap("rooms", map, queries, algorithm, scratch);
  const auto data = testing::DataFolder();
  if (!data) {
    return;
  }
  for (const testing::MovingAiMap& file : testing::FindMovingAiMaps(*data)) {
    if (file.name == "sc1/TheFrozenSea" || file.name == "cities/Berlin_0_1024") {
      PrintMap(file.name, testing::LoadMovingAiMap(file), queries, algorithm, scratch);
    }
  }
}

}  // namespace waystar::bench
