// Times changes of maps and the queries between them, in this process, on one thread.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/search/query.h"
#include "server/core/store/map_store.h"
#include "tests/bench/bench.h"

ABSL_FLAG(std::string, algorithm, "auto", "auto, astar, dijkstra or jump_point.");
ABSL_FLAG(int, max_side, 8192, "The largest of the synthetic maps; 0 leaves them out.");

namespace waystar::bench {
namespace {

using core::Cell;
using core::Edit;
using core::GridMap;
using core::Shape;

constexpr int kRounds = 200;
constexpr int kBatchCells = 1000;

core::Scratch& TheScratch() {
  static auto& scratch = *new core::Scratch(std::size_t{1} << 30);
  return scratch;
}

struct Query {
  Cell start;
  Cell goal;
};

double Ask(const GridMap& map, const Query& query, core::Algorithm algorithm) {
  return MicrosOf([&] {
    core::FindPath(map, {.start = query.start, .goal = query.goal, .algorithm = algorithm}, {}, TheScratch())
        .IgnoreError();
  });
}

// Blocks cells that were free and then frees them, so that each edit changes something.
struct Flip {
  Edit block;
  Edit unblock;
};

Flip FlipOf(const Shape& shape) { return {core::BlockCells{shape}, core::UnblockCells{shape}}; }

Flip FlipOneCell(const GridMap& map, Random& random) {
  return FlipOf({.cells = {WalkableCell(map, random)}});
}

Flip FlipCells(const GridMap& map, Random& random) {
  Shape shape;
  for (int i = 0; i < kBatchCells; ++i) {
    shape.cells.push_back(WalkableCell(map, random));
  }
  return FlipOf(shape);
}

Flip FlipSquare(const GridMap& map, int side, Random& random) {
  const int width = std::min(side, map.width());
  const int height = std::min(side, map.height());
  return FlipOf({.rectangles = {{random.Between(0, map.width() - width),
                                 random.Between(0, map.height() - height), width, height}}});
}

// Applies edits to a map and takes the time.
class InPlace {
 public:
  explicit InPlace(GridMap map) : map_(std::move(map)) {}
  double Apply(const Edit& edit) {
    // Letting go of the map before is the readers' business.
    std::optional<GridMap> before;
    return MicrosOf([&] {
      absl::StatusOr<core::EditResult> result = core::ApplyEdits(map_, {edit});
      before.emplace(std::move(map_));
      map_ = std::move(result->map);
    });
  }
  const GridMap& map() const { return map_; }

 private:
  GridMap map_;
};

// The same by a store.
class InStore {
 public:
  explicit InStore(GridMap map) : store_(1) {
    pinned_ = *store_.Create("map", std::move(map), absl::UnixEpoch());
  }
  double Apply(const Edit& edit) {
    const double micros = MicrosOf([&] { OrDie(store_.UpdateAndWait("map", {.edits = {edit}}).status()); });
    pinned_ = *store_.Pin("map");
    return micros;
  }
  const GridMap& map() const { return pinned_->grid(); }

 private:
  core::MapStore store_;
  core::PinnedSnapshot pinned_;
};

void PrintTimes(Sample sample) {
  std::cout << absl::StreamFormat(" | %8.2f %8.2f", sample.Median(), sample.Percentile(0.99));
}

using Flipper = std::function<Flip(const GridMap&, Random&)>;

// The change's times, and those of the query that comes after each, if one does.
template <typename Applier>
std::pair<Sample, Sample> TimeFlips(Applier& applier, int rounds, const Flipper& flipper,
                                    const std::optional<Query>& query, core::Algorithm algorithm) {
  Random random(1);
  std::pair<Sample, Sample> times;
  for (int round = 0; round < rounds; ++round) {
    const Flip flip = flipper(applier.map(), random);
    for (const Edit* edit : {&flip.block, &flip.unblock}) {
      times.first.Add(applier.Apply(*edit));
      if (query) {
        times.second.Add(Ask(applier.map(), *query, algorithm));
      }
    }
  }
  return times;
}

void PrintMap(const std::string& name, const GridMap& map, core::Algorithm algorithm) {
  Random random(2);
  const Cell start = WalkableCell(map, random);
  const Query query{start, {std::min(start.x + 5, map.width() - 1), start.y}};
  std::cout << absl::StreamFormat("%-18s", name);
  Ask(map, query, algorithm);
  InPlace in_place(map);
  const auto time_alone = [&](auto& applier, int rounds, const Flipper& flipper) {
    PrintTimes(TimeFlips(applier, rounds, flipper, std::nullopt, algorithm).first);
  };
  time_alone(in_place, 5 * kRounds, FlipOneCell);
  InStore in_store(map);
  time_alone(in_store, 5 * kRounds, FlipOneCell);
  time_alone(in_store, kRounds / 4, FlipCells);
  InStore squares(map);
  for (const int side : {10, 100}) {
    time_alone(squares, kRounds,
               [side](const GridMap& now, Random& from) { return FlipSquare(now, side, from); });
  }
  auto searched = TimeFlips(in_store, 5 * kRounds, FlipOneCell, query, algorithm);
  PrintTimes(std::move(searched.first));
  PrintTimes(std::move(searched.second));
  std::cout << "\n" << std::flush;
}

void ForEachMap(int max_side, const std::function<void(const std::string&, const GridMap&)>& visit) {
  for (int side = 256; side <= max_side; side *= 2) {
    visit(absl::StrCat("open ", side), *GridMap::Create(side, side, {}));
    // Not the same map: what searches of one have paid for would make updates of the other keep its indexes.
    visit(absl::StrCat("random 10 % ", side), NoiseMap(side, 0.1));
  }
  // Like most game maps, these have open places and narrow ones.
  for (const MovingAiMap& file : MapsNamed({"arena2", "TheFrozenSea"})) {
    visit(file.path.stem(), LoadMovingAiMap(file));
  }
}

// Prints a line for each size and kind of map from 256 to `max_side` cells a side, and for two game maps if
// the benchmark's data are there: median and 99th percentile of the microseconds that changes take, each
// change being made and then taken back. "store" is from the call of MapStore::Update to the published
// snapshot; "next" is the query between two near cells that comes after a cell's change, which shows repairs
// that were put off.
void PrintUpdates(int max_side, core::Algorithm algorithm) {
  std::cout << absl::StreamFormat("%-18s", "us: median, p99");
  for (const char* const what :
       {"cell, no store", "one cell", "1000 cells", "10x10", "100x100", "cell, searched", "its next query"}) {
    std::cout << absl::StreamFormat(" | %17s", what);
  }
  std::cout << "\n";
  ForEachMap(max_side, [&](const std::string& name, const GridMap& map) { PrintMap(name, map, algorithm); });
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  // Shared pointers cost more in a process that has ever had a second thread, as a server has.
  std::thread([] {}).join();
  const int max_side = absl::GetFlag(FLAGS_max_side);
  if (max_side < 0 || max_side > waystar::core::kMaxMapSide) {
    waystar::bench::Die("--max_side is from 0 to 8192");
  }
  waystar::bench::PrintUpdates(max_side, waystar::bench::AlgorithmNamed(absl::GetFlag(FLAGS_algorithm)));
  return 0;
}
