// Times changes of maps and the queries between them, in this process, on one thread.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/search/query.h"
#include "server/core/store/map_store.h"
#include "tests/bench/algorithm_name.h"
#include "tests/bench/rebuild.h"
#include "tests/bench/sample.h"
#include "tests/testing/gppc_trace.h"
#include "tests/testing/layouts.h"
#include "tests/testing/movingai_data.h"

ABSL_FLAG(std::string, trace, "",
          "Only traces below $WAYSTAR_DATA/gppc-dynamic whose name contains this; \"none\" leaves all out.");
ABSL_FLAG(std::string, algorithm, "auto", "auto, astar, dijkstra or jump_point.");
ABSL_FLAG(int, max_side, 8192, "The largest of the synthetic maps; 0 leaves them out.");
ABSL_FLAG(bool, single, true, "Single changes of synthetic and game maps, made and taken back.");

namespace waystar::bench {
namespace {

using core::Cell;
using core::Edit;
using core::GridMap;
using core::Shape;
using testing::Random;

constexpr int kRounds = 200;
constexpr int kBatchCells = 1000;
// Like most game maps, these have open places and narrow ones.
constexpr const char* kGameMaps[] = {"arena2", "TheFrozenSea"};

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

Cell RandomCell(const GridMap& map, Random& random) {
  return {random.Between(0, map.width() - 1), random.Between(0, map.height() - 1)};
}

Cell RandomWalkable(const GridMap& map, Random& random) {
  Cell cell = RandomCell(map, random);
  while (!map.IsWalkable(cell)) {
    cell = RandomCell(map, random);
  }
  return cell;
}

// Blocks cells that were free and then frees them, so that each edit changes something.
struct Flip {
  Edit block;
  Edit unblock;
};

Flip FlipOf(const Shape& shape) { return {core::BlockCells{shape}, core::UnblockCells{shape}}; }

Flip FlipOneCell(const GridMap& map, Random& random) {
  return FlipOf({.cells = {RandomWalkable(map, random)}});
}

Flip FlipCells(const GridMap& map, Random& random) {
  Shape shape;
  for (int i = 0; i < kBatchCells; ++i) {
    shape.cells.push_back(RandomWalkable(map, random));
  }
  return FlipOf(shape);
}

Flip FlipSquare(const GridMap& map, int side, Random& random) {
  const int width = std::min(side, map.width());
  const int height = std::min(side, map.height());
  return FlipOf({.rectangles = {{random.Between(0, map.width() - width),
                                 random.Between(0, map.height() - height), width, height}}});
}

// Applies edits and takes the time.
class Applier {
 public:
  virtual ~Applier() = default;
  virtual double Apply(const Edit& edit) = 0;
  virtual const GridMap& map() const = 0;
};

class InPlace final : public Applier {
 public:
  explicit InPlace(GridMap map) : map_(std::move(map)) {}
  double Apply(const Edit& edit) override {
    // Letting go of the map before is the readers' business.
    std::optional<GridMap> before;
    return MicrosOf([&] {
      absl::StatusOr<core::EditResult> result = core::ApplyEdits(map_, {edit});
      before.emplace(std::move(map_));
      map_ = std::move(result->map);
    });
  }
  const GridMap& map() const override { return map_; }

 private:
  GridMap map_;
};

// The one place that knows how a store is updated.
class InStore final : public Applier {
 public:
  explicit InStore(GridMap map) : store_(1) {
    pinned_ = *store_.Create("map", std::move(map), absl::UnixEpoch());
  }
  double Apply(const Edit& edit) override {
    const double micros = MicrosOf([&] { store_.UpdateAndWait("map", {.edits = {edit}}).IgnoreError(); });
    pinned_ = *store_.Pin("map");
    return micros;
  }
  const GridMap& map() const override { return pinned_->grid(); }

 private:
  core::MapStore store_;
  core::PinnedSnapshot pinned_;
};

void PrintTimes(Sample sample) {
  std::cout << absl::StreamFormat(" | %8.2f %8.2f", sample.Percentile(0.5), sample.Percentile(0.99));
}

using Flipper = std::function<Flip(const GridMap&, Random&)>;

// The change's times, and those of the query that comes after each, if one does.
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
  const Cell start = RandomWalkable(map, random);
  const Query query{start, {std::min(start.x + 5, map.width() - 1), start.y}};
  std::cout << absl::StreamFormat("%-18s", name);
  Ask(map, query, algorithm);
  InPlace in_place(map);
  const auto time_alone = [&](Applier& applier, int rounds, const Flipper& flipper) {
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
    GridMap noise = *GridMap::Create(side, side, {});
    Random random(1);
    testing::LayNoise(random, 0.1, noise);
    visit(absl::StrCat("random 10 % ", side), noise);
  }
  if (const auto data = testing::DataFolder()) {
    for (const testing::MovingAiMap& file : testing::FindMovingAiMaps(*data)) {
      for (const char* const name : kGameMaps) {
        if (file.path.stem() == name) {
          visit(name, testing::LoadMovingAiMap(file));
        }
      }
    }
  }
}

// Prints a line for each size and kind of map from 256 to `max_side` cells a side, and for two game maps if
// the benchmark's data are there: median and 99th percentile of the microseconds that changes take, each
// change being made and then taken back. "store" is from the call of MapStore::Update to the published
// snapshot; "next" is the query between two near cells that comes after a cell's change, which shows repairs
// that were put off.
void PrintSyntheticUpdates(int max_side, core::Algorithm algorithm) {
  std::cout << absl::StreamFormat("%-18s", "us: median, p99");
  for (const char* const what :
       {"cell, no store", "one cell", "1000 cells", "10x10", "100x100", "cell, searched", "its next query"}) {
    std::cout << absl::StreamFormat(" | %17s", what);
  }
  std::cout << "\n";
  ForEachMap(max_side, [&](const std::string& name, const GridMap& map) { PrintMap(name, map, algorithm); });
}

using core::GridMap;

struct Figures {
  Sample query;
  Sample first_query;
  Sample fresh_query;
  Sample change;
  Sample patch;
  Sample making;
  double changed_cells = 0;
};

[[noreturn]] void Die(const testing::TraceQuery& query) {
  std::cerr << "wrong answer from " << query.start.x << "," << query.start.y << " to " << query.goal.x << ","
            << query.goal.y << "\n";
  std::exit(1);
}

core::EditResult Apply(const GridMap& map, const std::vector<core::Edit>& edits, Sample& micros) {
  absl::StatusOr<core::EditResult> result;
  micros.Add(MicrosOf([&] { result = core::ApplyEdits(map, edits); }));
  return *std::move(result);
}

double Ask(const GridMap& map, const testing::TraceQuery& query, core::Algorithm algorithm,
           core::Scratch& scratch) {
  absl::StatusOr<core::PathResult> result;
  const double micros = MicrosOf([&] {
    result =
        core::FindPath(map, {.start = query.start, .goal = query.goal, .algorithm = algorithm}, {}, scratch);
  });
  const bool found = result.ok() && result->outcome == core::Outcome::kFound;
  if (found != query.length.has_value() ||
      (found && std::abs(result->cost - *query.length) > testing::kTraceTolerance)) {
    Die(query);
  }
  return micros;
}

// The map after a stage's patches, which are timed as one batch, with the caches as the queries left them,
// and then as a batch each.
GridMap Change(const GridMap& map, const testing::TraceStage& stage, Figures& figures) {
  core::EditResult result = Apply(map, stage.Edits(), figures.change);
  figures.changed_cells += static_cast<double>(result.summary.changed_cells);
  GridMap patched = map;
  for (const std::vector<core::Edit>& patch : stage.patches) {
    patched = Apply(patched, patch, figures.patch).map;
  }
  return std::move(result.map);
}

void PrintTraceHeader() {
  std::cout << absl::StreamFormat("%-31s %7s %8s %9s %11s | %7s %9s %8s %9s | %9s\n", "trace", "queries",
                                  "us/query", "first one", "afresh", "changes", "us/change", "us/patch",
                                  "us/cell", "afresh us");
}

// Replays a trace and prints a line of means. Ends the program with a message at a wrong answer.
//
// The change before the first query, which fills the map, is not counted. "afresh" gives the time
// to make a map of the same cells from nothing after each change, and the time of the same queries on it.
void PrintTraceUpdates(const testing::GppcTrace& trace, core::Algorithm algorithm) {
  core::Scratch scratch(std::size_t{1} << 30);
  Figures figures;
  GridMap map = trace.EmptyMap();
  bool asked = false;
  for (const testing::TraceStage& stage : trace.stages) {
    if (asked) {
      map = Change(map, stage, figures);
    } else if (!stage.patches.empty()) {
      map = core::ApplyEdits(map, stage.Edits())->map;
    }
    const CellRows rows = RowsOf(map);
    std::optional<GridMap> fresh;
    figures.making.Add(MicrosOf([&] { fresh = MakeMap(rows, map.settings()); }));
    bool first = asked;
    for (const testing::TraceQuery& query : stage.queries) {
      const double micros = Ask(map, query, algorithm, scratch);
      figures.query.Add(micros);
      if (std::exchange(first, false)) {
        figures.first_query.Add(micros);
      }
    }
    for (const testing::TraceQuery& query : stage.queries) {
      figures.fresh_query.Add(Ask(*fresh, query, algorithm, scratch));
      asked = true;
    }
  }
  const auto changes = static_cast<double>(figures.change.size());
  std::cout << absl::StreamFormat("%-31s %7u %8.1f %9.1f %11.1f | %7u %9.1f %8.2f %9.3f | %9.0f\n",
                                  trace.name, figures.query.size(), figures.query.Mean(),
                                  figures.first_query.Mean(), figures.fresh_query.Mean(),
                                  figures.change.size(), figures.change.Mean(), figures.patch.Mean(),
                                  figures.change.Mean() * changes / figures.changed_cells,
                                  figures.making.Mean())
            << std::flush;
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  // Shared pointers cost more in a process that has ever had a second thread, as a server has.
  std::thread([] {}).join();
  const auto algorithm = waystar::bench::AlgorithmNamed(absl::GetFlag(FLAGS_algorithm));
  if (!algorithm) {
    std::cerr << "--algorithm is " << waystar::bench::kAlgorithmNames << "\n";
    return 1;
  }
  const int max_side = absl::GetFlag(FLAGS_max_side);
  if (max_side < 0 || max_side > waystar::core::kMaxMapSide) {
    std::cerr << "--max_side is from 0 to " << waystar::core::kMaxMapSide << "\n";
    return 1;
  }
  if (const auto data = waystar::testing::DataFolder()) {
    waystar::bench::PrintTraceHeader();
    for (const auto& path : waystar::testing::FindGppcTraces(*data)) {
      if (absl::StrContains(path.stem().string(), absl::GetFlag(FLAGS_trace))) {
        waystar::bench::PrintTraceUpdates(waystar::testing::LoadGppcTrace(path), *algorithm);
      }
    }
    std::cout << "\n";
  } else {
    std::cerr << "WAYSTAR_DATA names no folder with the traces; they are left out\n";
  }
  if (max_side > 0 && absl::GetFlag(FLAGS_single)) {
    waystar::bench::PrintSyntheticUpdates(max_side, *algorithm);
  }
  return 0;
}
