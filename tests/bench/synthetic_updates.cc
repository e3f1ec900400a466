#include "tests/bench/synthetic_updates.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/store/map_store.h"
#include "tests/bench/sample.h"
#include "tests/bench/stopwatch.h"
#include "tests/testing/layouts.h"
#include "tests/testing/movingai_data.h"

namespace waystar::bench {
namespace {

using core::Cell;
using core::Edit;
using core::GridMap;
using core::Shape;
using testing::Random;

constexpr int kRounds = 200;
constexpr int kBatchCells = 1000;
constexpr int kLongRounds = 5000;
constexpr int kLongQueries = 50;
// What the published game maps have in common with most: open places and narrow ones.
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

// The same cells, with nothing derived from them yet.
GridMap MadeAfresh(const GridMap& map) {
  GridMap afresh = *GridMap::Create(map.width(), map.height(), map.settings());
  core::GridMapEditor editor(afresh);
  for (int y = 0; y < map.height(); ++y) {
    std::vector<core::TerrainId> row(map.TerrainRow(y), map.TerrainRow(y) + map.width());
    for (int x = 0; x < map.width(); ++x) {
      if (map.HasObstacle({x, y})) {
        row[static_cast<std::size_t>(x)] = core::GridMapEditor::kObstacle;
      }
    }
    editor.SetRow(y, row);
  }
  return std::move(editor).Finish();
}

void PrintLongSequence(const std::string& name, const GridMap& map, core::Algorithm algorithm) {
  Random random(3);
  InPlace applier(map);
  std::vector<Query> queries;
  for (int i = 0; i < kLongQueries; ++i) {
    queries.push_back({RandomWalkable(map, random), RandomWalkable(map, random)});
  }
  Ask(map, queries[0], algorithm);
  for (int part = 0; part < 4; ++part) {
    Sample updates;
    Sample between;
    for (int round = 0; round < kLongRounds / 4; ++round) {
      const Cell cell = RandomCell(applier.map(), random);
      const Shape shape{.cells = {cell}};
      updates.Add(applier.Apply(applier.map().HasObstacle(cell) ? Edit(core::UnblockCells{shape})
                                                                : Edit(core::BlockCells{shape})));
      if (round % (kLongRounds / 4 / kLongQueries) == 0) {
        between.Add(Ask(applier.map(), queries[between.size() % queries.size()], algorithm));
      }
    }
    const GridMap afresh = MadeAfresh(applier.map());
    Ask(afresh, queries[0], algorithm);
    Sample edited_queries;
    Sample afresh_queries;
    for (const Query& query : queries) {
      edited_queries.Add(Ask(applier.map(), query, algorithm));
      afresh_queries.Add(Ask(afresh, query, algorithm));
    }
    std::cout << absl::StreamFormat("%-18s %6d", name, (part + 1) * kLongRounds / 4);
    PrintTimes(std::move(updates));
    PrintTimes(std::move(between));
    PrintTimes(edited_queries);
    PrintTimes(afresh_queries);
    std::cout << absl::StreamFormat(" | %8.2f %8.2f\n", edited_queries.Mean(), afresh_queries.Mean())
              << std::flush;
  }
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

}  // namespace

void PrintSyntheticUpdates(int max_side, core::Algorithm algorithm) {
  std::cout << absl::StreamFormat("%-18s", "us: median, p99");
  for (const char* const what :
       {"cell, no store", "one cell", "1000 cells", "10x10", "100x100", "cell, searched", "its next query"}) {
    std::cout << absl::StreamFormat(" | %17s", what);
  }
  std::cout << "\n";
  ForEachMap(max_side, [&](const std::string& name, const GridMap& map) { PrintMap(name, map, algorithm); });
}

void PrintLongSequences(int max_side, core::Algorithm algorithm) {
  std::cout << absl::StreamFormat("%-18s %6s", "us: median, p99", "flips");
  for (const char* const what :
       {"flip", "query between", "50 queries", "... on map afresh", "means of both"}) {
    std::cout << absl::StreamFormat(" | %17s", what);
  }
  std::cout << "\n";
  ForEachMap(max_side,
             [&](const std::string& name, const GridMap& map) { PrintLongSequence(name, map, algorithm); });
}

}  // namespace waystar::bench
