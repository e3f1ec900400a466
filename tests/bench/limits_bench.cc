// Times what is hardest for a search: goals out of reach, and the largest maps. In this process, on one
// thread.

#include <cstddef>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/search/query.h"
#include "tests/bench/bench.h"
#include "tests/testing/layouts.h"

ABSL_FLAG(std::string, algorithm, "auto", "auto, astar, dijkstra or jump_point.");
ABSL_FLAG(int, queries, 20, "Queries for each map with goals out of reach; 0 leaves those maps out.");
ABSL_FLAG(int, side, 8192, "Of the largest maps, from 64 to 8192; 0 leaves them out.");
ABSL_FLAG(int, scratch_mib, 4096, "What a search on the largest maps may use.");

namespace waystar::bench {
namespace {

using core::Cell;
using core::GridMap;

// A map's cells, row by row, as GridMapEditor::SetRow takes them.
using CellRows = std::vector<std::vector<core::TerrainId>>;

// A clearing a side this long keeps the start and the goal from being walled in.
constexpr int kClearing = 16;

std::string OutcomeName(const absl::StatusOr<core::PathResult>& result) {
  if (!result.ok()) {
    return std::string(result.status().message());
  }
  switch (result->outcome) {
    case core::Outcome::kFound:
      return absl::StrFormat("cost %.2f", result->cost);
    case core::Outcome::kBudgetExhausted:
      return "scratch exhausted";
    default:
      return "no path";
  }
}

CellRows RowsOf(const GridMap& map) {
  CellRows rows(static_cast<std::size_t>(map.height()));
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      rows[static_cast<std::size_t>(y)].push_back(map.HasObstacle({x, y}) ? core::GridMapEditor::kObstacle
                                                                          : map.TerrainAt({x, y}));
    }
  }
  return rows;
}

// Makes a map the way that a client's whole map comes in.
GridMap MakeMap(const CellRows& rows) {
  const GridMap empty = *GridMap::Create(static_cast<std::int64_t>(rows.front().size()),
                                         static_cast<std::int64_t>(rows.size()), {});
  core::GridMapEditor editor(empty);
  for (std::size_t y = 0; y < rows.size(); ++y) {
    editor.SetRow(static_cast<int>(y), rows[y]);
  }
  return std::move(editor).Finish();
}

void PrintMap(const std::string& name, const CellRows& rows, std::size_t scratch_bytes,
              core::Algorithm algorithm) {
  std::optional<GridMap> map;
  const double making = MicrosOf([&] { map = MakeMap(rows); });
  const double cells = static_cast<double>(map->width()) * map->height();
  std::cout << absl::StreamFormat("%-12s %9.0f %11.3f", name, making / 1e3,
                                  static_cast<double>(map->memory_bytes()) / cells)
            << std::flush;

  const core::PathQuery query{
      .start = {0, 0}, .goal = {map->width() - 1, map->height() - 1}, .algorithm = algorithm};
  core::Scratch scratch(scratch_bytes);
  absl::StatusOr<core::PathResult> result;
  const double first = MicrosOf([&] { result = core::FindPath(*map, query, {}, scratch); });
  const double second = MicrosOf([&] { result = core::FindPath(*map, query, {}, scratch); });
  std::cout << absl::StreamFormat(" %10.1f %10.1f %12u %12.1f  %s\n", first / 1e3, second / 1e3,
                                  result.ok() ? result->statistics.expanded : 0,
                                  static_cast<double>(scratch.memory_bytes()) / (1 << 20),
                                  OutcomeName(result))
            << std::flush;
}

CellRows Lay(int side, const std::function<void(testing::Random&, GridMap&)>& lay) {
  testing::Random random(1);
  GridMap map = *GridMap::Create(side, side, {});
  lay(random, map);
  const core::UnblockCells clearings{
      .shape = {.rectangles = {{0, 0, kClearing, kClearing},
                               {side - kClearing, side - kClearing, kClearing, kClearing}}}};
  return RowsOf(core::ApplyEdits(map, {clearings})->map);
}

// Prints a line for each kind of map of `side` cells a side: the time to make it from rows of cells, the
// bytes it holds a cell, and the time and scratch of a query from corner to corner, twice: in a new scratch,
// and in the one that the first has grown. A search may use `scratch_bytes`; where they do not suffice the
// line says so.
void PrintLargestMaps(int side, std::size_t scratch_bytes, core::Algorithm algorithm) {
  std::cout << absl::StreamFormat("%d x %d\n%-12s %9s %11s %10s %10s %12s %12s\n", side, side, "map",
                                  "make ms", "bytes/cell", "first ms", "again ms", "expanded", "scratch MiB");
  const auto print = [&](const std::string& name,
                         const std::function<void(testing::Random&, GridMap&)>& lay) {
    PrintMap(name, Lay(side, lay), scratch_bytes, algorithm);
  };
  print("open", [](testing::Random&, GridMap&) {});
  print("random 10 %", [](testing::Random& random, GridMap& map) { testing::LayNoise(random, 0.1, map); });
  print("random 35 %", [](testing::Random& random, GridMap& map) { testing::LayNoise(random, 0.35, map); });
  print("maze", [](testing::Random& random, GridMap& map) { testing::LayMaze(random, 1, 0.1, map); });
}

constexpr int kSide = 1024;

// Cells of the largest region with cells of others.
std::vector<std::pair<Cell, Cell>> ChoosePairs(const GridMap& map, const Regions& regions, int count) {
  testing::Random random(7);
  const int largest = regions.Largest();
  std::vector<Cell> inside;
  std::vector<Cell> outside;
  const auto wanted = static_cast<std::size_t>(count);
  while (inside.size() < wanted || outside.size() < wanted) {
    const Cell cell = WalkableCell(map, random);
    (regions.Of(cell) == largest ? inside : outside).push_back(cell);
  }
  std::vector<std::pair<Cell, Cell>> pairs;
  for (std::size_t i = 0; i < wanted; ++i) {
    pairs.emplace_back(inside[i], outside[i]);
  }
  return pairs;
}

double Ask(const GridMap& map, const core::PathQuery& query, core::Outcome expected, core::Scratch& scratch) {
  absl::StatusOr<core::PathResult> result;
  const double micros = MicrosOf([&] { result = core::FindPath(map, query, {}, scratch); });
  if (!result.ok() || result->outcome != expected) {
    Die(absl::StrCat("wrong answer from ", query.start.x, ",", query.start.y, " to ", query.goal.x, ",",
                     query.goal.y));
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
  for (const auto& [inside, outside] : ChoosePairs(map, regions, queries)) {
    core::PathQuery query{.start = inside, .goal = outside, .algorithm = algorithm};
    into.Add(Ask(map, query, core::Outcome::kUnreachable, scratch));
    query.unreachable_policy = core::UnreachablePolicy::kNearestByDistance;
    nearest.Add(Ask(map, query, core::Outcome::kPartial, scratch));
    const core::PathQuery back{.start = outside, .goal = inside, .algorithm = algorithm};
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

// Prints a line for each kind of map, 1024 cells a side: `queries` queries from its largest region to cells
// of other regions, and as many the other way round, each answered "unreachable"; then the first with the
// policy of the nearest cell. A real map is among them where WAYSTAR_DATA names a folder. Ends the program
// with a message at a wrong answer.
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
  for (const testing::MovingAiMap& file : MapsNamed({"sc1/TheFrozenSea", "cities/Berlin_0_1024"})) {
    PrintMap(file.name, testing::LoadMovingAiMap(file), queries, algorithm, scratch);
  }
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const auto algorithm = waystar::bench::AlgorithmNamed(absl::GetFlag(FLAGS_algorithm));
  const int side = absl::GetFlag(FLAGS_side);
  if (side != 0 && (side < 64 || side > waystar::core::kMaxMapSide)) {
    std::cerr << "--side is 0, or from 64 to " << waystar::core::kMaxMapSide << "\n";
    return 1;
  }
  if (absl::GetFlag(FLAGS_queries) > 0) {
    waystar::bench::PrintUnreachableGoals(absl::GetFlag(FLAGS_queries), algorithm);
    std::cout << "\n";
  }
  if (side != 0) {
    waystar::bench::PrintLargestMaps(side, static_cast<std::size_t>(absl::GetFlag(FLAGS_scratch_mib)) << 20,
                                     algorithm);
  }
  return 0;
}
