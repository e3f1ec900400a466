#include "tests/bench/synthetic_updates.h"

#include <cstddef>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/core/map/edit.h"
#include "server/core/search/find_path.h"
#include "tests/bench/sample.h"
#include "tests/bench/stopwatch.h"
#include "tests/testing/layouts.h"

namespace waystar::bench {
namespace {

using core::Cell;
using core::Edit;
using core::GridMap;

constexpr int kSquares[] = {1, 10, 100};
constexpr int kRounds = 200;
// In the upper left corner, kept free, where no square falls.
constexpr Cell kStart{1, 1};
constexpr Cell kGoal{6, 3};
constexpr int kMargin = 8;

struct Figures {
  Sample change;
  Sample next_query;
};

double AskNearBy(const GridMap& map, core::Algorithm algorithm, core::Scratch& scratch) {
  return MicrosOf([&] {
    core::FindPath(map, {.start = kStart, .goal = kGoal, .algorithm = algorithm}, {}, scratch).IgnoreError();
  });
}

GridMap Change(const GridMap& map, const Edit& edit, core::Algorithm algorithm, core::Scratch& scratch,
               Figures& figures) {
  absl::StatusOr<core::EditResult> result;
  figures.change.Add(MicrosOf([&] { result = core::ApplyEdits(map, {edit}); }));
  figures.next_query.Add(AskNearBy(result->map, algorithm, scratch));
  return std::move(result)->map;
}

void PrintMap(const std::string& name, const GridMap& map, core::Algorithm algorithm) {
  core::Scratch scratch(std::size_t{1} << 30);
  testing::Random random(1);
  std::cout << absl::StreamFormat("%-20s", name);
  AskNearBy(map, algorithm, scratch);
  for (const int side : kSquares) {
    Figures figures;
    for (int round = 0; round < kRounds; ++round) {
      const core::Shape square{.rectangles = {{random.Between(kMargin, map.width() - side),
                                               random.Between(kMargin, map.height() - side), side, side}}};
      const GridMap blocked = Change(map, core::BlockCells{square}, algorithm, scratch, figures);
      Change(blocked, core::UnblockCells{square}, algorithm, scratch, figures);
    }
    const double change = figures.change.Percentile(0.5);
    std::cout << absl::StreamFormat(" | %9.2f %9.3f %9.1f", change, change / (side * side),
                                    figures.next_query.Percentile(0.5));
  }
  std::cout << "\n" << std::flush;
}

}  // namespace

void PrintSyntheticUpdates(int max_side, core::Algorithm algorithm) {
  std::cout << absl::StreamFormat("%-20s", "map");
  for (const int side : kSquares) {
    std::cout << absl::StreamFormat(" | %9s %9s %9s", absl::StrCat(side, "x", side, " us"), "us/cell",
                                    "next us");
  }
  std::cout << "\n";
  for (int side = 256; side <= max_side; side *= 2) {
    GridMap map = *GridMap::Create(side, side, {});
    PrintMap(absl::StrCat("open ", side), map, algorithm);
    testing::Random random(1);
    testing::LayNoise(random, 0.1, map);
    const core::UnblockCells corner{{.rectangles = {{0, 0, kMargin, kMargin}}}};
    PrintMap(absl::StrCat("random 10 % ", side), core::ApplyEdits(map, {corner})->map, algorithm);
  }
}

}  // namespace waystar::bench
