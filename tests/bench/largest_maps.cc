#include "tests/bench/largest_maps.h"

#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/bench/rebuild.h"
#include "tests/bench/stopwatch.h"
#include "tests/testing/layouts.h"

namespace waystar::bench {
namespace {

using core::GridMap;

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

void PrintMap(const std::string& name, const CellRows& rows, std::size_t scratch_bytes,
              core::Algorithm algorithm) {
  std::optional<GridMap> map;
  const double making = MicrosOf([&] { map = MakeMap(rows, {}); });
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

}  // namespace

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

}  // namespace waystar::bench
