// Times how long it takes to tell which of many watched paths a change of a map concerns, in this process, on
// one thread. The change itself and the searches that follow from it are not counted.

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"
#include "server/core/elements/map_changes.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/watch/grid_answer.h"
#include "server/core/watch/kept_answer.h"
#include "tests/bench/bench.h"
#include "tests/testing/without_portals.h"

namespace waystar::bench {
namespace {

using core::Cell;
using core::GridMap;

constexpr int kWatches = 10'000;
constexpr int kSide = 1024;
constexpr int kChanges = 2000;

struct Figures {
  Sample untouched;
  Sample touched;
  double affected = 0.0;
};

// A walkable cell at most `reach` from `around`, found by trying.
Cell WalkableCellNear(const GridMap& map, Random& random, Cell around, int reach) {
  for (;;) {
    const Cell cell = {
        random.Between(std::max(0, around.x - reach), std::min(map.width() - 1, around.x + reach)),
        random.Between(std::max(0, around.y - reach), std::min(map.height() - 1, around.y + reach))};
    if (map.IsWalkable(cell)) {
      return cell;
    }
  }
}

void Print(const std::string& name, const GridMap& original, int reach) {
  core::MapSnapshot snapshot{.map = original};
  GridMap& map = std::get<GridMap>(snapshot.map);
  core::Scratch scratch(std::size_t{1} << 30);
  Random random(1);
  const std::unique_ptr<core::AnswerIndex> index = core::MakeAnswerIndex(snapshot);
  Sample adding;
  for (int i = 0; i < kWatches; ++i) {
    core::PathQuery query{.start = WalkableCell(map, random)};
    query.goal = WalkableCellNear(map, random, query.start, reach);
    const auto result = core::FindPath(map, query, {}, scratch);
    adding.Add(MicrosOf([&] {
      index->Add(static_cast<core::AnswerIndex::Id>(i),
                 std::make_shared<core::GridAnswer>(map, query, core::WithoutPortals(result)));
    }));
  }
  Figures blocked;
  Figures freed;
  std::vector<core::AnswerIndex::Id> ids;
  for (int i = 0; i < kChanges; ++i) {
    const Cell cell = AnyCell(map, random);
    const bool is_free = map.IsWalkable(cell);
    core::GridMapEditor editor(map);
    editor.SetObstacle(cell, is_free);
    GridMap next = std::move(editor).Finish();
    if (next.IsWalkable(cell) == is_free) {
      continue;
    }
    core::MapChanges changes;
    changes.walkability.push_back(
        {cell.y, (cell.x + 1) / core::kWordBits, core::Word{1} << ((cell.x + 1) % core::kWordBits)});
    // The answers stay as they are: a path that was blocked once goes on being watched where it was.
    map = std::move(next);
    ids.clear();
    const double micros = MicrosOf([&] { index->FindAffected(changes, snapshot, ids); });
    Figures& figures = is_free ? blocked : freed;
    (ids.empty() ? figures.untouched : figures.touched).Add(micros);
    figures.affected += static_cast<double>(ids.size()) / kChanges;
  }
  const auto print = [](Figures& figures) {
    std::cout << absl::StreamFormat(" | %5d %7.2f %7.2f | %5d %7.2f %7.2f %7.1f", figures.untouched.size(),
                                    figures.untouched.Median(), figures.untouched.Percentile(0.99),
                                    figures.touched.size(), figures.touched.Median(),
                                    figures.touched.Percentile(0.99), figures.affected);
  };
  std::cout << absl::StreamFormat("%-24s %6d %7.2f", name, reach, adding.Median());
  print(blocked);
  print(freed);
  std::cout << "\n" << std::flush;
}

void PrintAll() {
  std::cout
      << "Microseconds a change of one cell, with " << kWatches
      << " watched paths: blocked cells that concern none (count, median, 99 %), that concern some (and how "
         "many of them a change), then the same for freed cells\n";
  std::cout << absl::StreamFormat("%-24s %6s %7s\n", "map", "reach", "add us");
  std::vector<std::pair<std::string, GridMap>> maps;
  maps.emplace_back("open", *GridMap::Create(kSide, kSide, {}));
  maps.emplace_back("random 10 %", NoiseMap(kSide, 0.1));
  for (const MovingAiMap& map : MapsNamed({"Berlin_0_1024"})) {
    maps.emplace_back(map.name, LoadMovingAiMap(map));
  }
  for (const auto& [name, map] : maps) {
    for (const int reach : {30, 100, kSide}) {
      Print(name, map, reach);
    }
  }
}

}  // namespace
}  // namespace waystar::bench

int main() {
  waystar::bench::PrintAll();
  return 0;
}
