// Times changes of maps and the queries between them, in this process, on one thread.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
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
#include "server/core/grid/hierarchy/hierarchy.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/map/plain_cells.h"
#include "server/core/grid/map/profile_views.h"
#include "server/core/search/query.h"
#include "server/core/store/map_store.h"
#include "server/core/watch/grid_answer.h"
#include "server/core/watch/kept_answer.h"
#include "tests/bench/bench.h"
#include "tests/testing/without_portals.h"

ABSL_FLAG(bool, parts, false, "Times what each part that a map keeps takes of a change.");
ABSL_FLAG(bool, weighted, false, "Times changes and queries of weighted and hexagonal maps beside plain A*.");
ABSL_FLAG(bool, hierarchy, false, "Times queries by a hierarchy that was built before the map's changes.");
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

double Ask(const GridMap& map, const Query& query, core::Algorithm algorithm = core::Algorithm::kAuto) {
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
                                    const std::optional<Query>& query) {
  Random random(1);
  std::pair<Sample, Sample> times;
  for (int round = 0; round < rounds; ++round) {
    const Flip flip = flipper(applier.map(), random);
    for (const Edit* edit : {&flip.block, &flip.unblock}) {
      times.first.Add(applier.Apply(*edit));
      if (query) {
        times.second.Add(Ask(applier.map(), *query));
      }
    }
  }
  return times;
}

void PrintMap(const std::string& name, const GridMap& map) {
  Random random(2);
  const Cell start = WalkableCell(map, random);
  const Query query{start, {std::min(start.x + 5, map.width() - 1), start.y}};
  std::cout << absl::StreamFormat("%-18s", name);
  Ask(map, query);
  InPlace in_place(map);
  const auto time_alone = [&](auto& applier, int rounds, const Flipper& flipper) {
    PrintTimes(TimeFlips(applier, rounds, flipper, std::nullopt).first);
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
  auto searched = TimeFlips(in_store, 5 * kRounds, FlipOneCell, query);
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
void PrintUpdates(int max_side) {
  std::cout << absl::StreamFormat("%-18s", "us: median, p99");
  for (const char* const what :
       {"cell, no store", "one cell", "1000 cells", "10x10", "100x100", "cell, searched", "its next query"}) {
    std::cout << absl::StreamFormat(" | %17s", what);
  }
  std::cout << "\n";
  ForEachMap(max_side, [&](const std::string& name, const GridMap& map) { PrintMap(name, map); });
}

// Returns a map with walls, a tenth of its cells, and patches of `patch` x `patch` cells of eight terrains
// that cost 1 to 8; with `patch` 0 all cost 1.
GridMap PatchedMap(int side, core::Connectivity connectivity, int patch) {
  core::GridSettings settings;
  settings.connectivity = connectivity;
  if (connectivity == core::Connectivity::kSix) {
    settings.diagonal_cost = 1.0;
    settings.frame.hexagons = core::HexBoard{.columns = side, .rows = side};
  }
  for (int cost = 2; cost <= 8; ++cost) {
    settings.terrains.push_back({.symbol = static_cast<char>('0' + cost), .cost = static_cast<double>(cost)});
  }
  Random random(4);
  std::vector<Edit> edits;
  for (std::size_t terrain = 1; patch > 0 && terrain < settings.terrains.size(); ++terrain) {
    Shape shape;
    for (int i = 0; i < side * side / (patch * patch) / 8; ++i) {
      shape.rectangles.push_back(
          {random.Between(0, side - patch), random.Between(0, side - patch), patch, patch});
    }
    edits.emplace_back(core::SetTerrain{shape, settings.terrains[terrain].symbol});
  }
  Shape walls;
  for (int i = 0; i < side * side / 80; ++i) {
    walls.rectangles.push_back({random.Between(0, side - 8), random.Between(0, side - 1), 8, 1});
  }
  edits.emplace_back(core::BlockCells{walls});
  return OrDie(core::ApplyEdits(OrDie(GridMap::Create(side, side, settings)), edits)).map;
}

// Part of a map that changes and queries keep up to date.
struct Part {
  std::string name;
  // Brings it up to date, after `changes` made the map from one on which it was.
  std::function<void(const GridMap&, const core::MapChanges& changes)> update;
};

// Terrains for agents of profile `number`, to which one of them costs something else.
core::TerrainRules RulesOf(const GridMap& map, int number) {
  core::TerrainRules rules(map.settings());
  rules.terrains[1].cost = 3.0 + number;
  return rules;
}

void UpdateViews(const GridMap& map, int profiles) {
  for (int i = 0; i < profiles; ++i) {
    core::ViewUnder(map, RulesOf(map, i));
  }
}

// Paths of up to 100 cells that are watched on a map.
std::shared_ptr<core::AnswerIndex> WatchPaths(const GridMap& map, int count) {
  Random random(3);
  std::shared_ptr<core::AnswerIndex> index = core::MakeAnswerIndex({.map = map});
  for (int i = 0; i < count; ++i) {
    const Cell start = WalkableCell(map, random);
    const core::PathQuery query{
        .start = start, .goal = {std::min(start.x + random.Between(1, 100), map.width() - 1), start.y}};
    const auto result = core::FindPath(map, query, {}, TheScratch());
    index->Add(static_cast<core::AnswerIndex::Id>(i),
               std::make_shared<core::GridAnswer>(map, query, core::WithoutPortals(result)));
  }
  return index;
}

void JudgeAll(const GridMap& map) {
  const core::PlainCells& plain = map.plain_cells();
  core::PlainCells::Work work;
  for (std::size_t row = 0; row <= core::WordOf(map.height() - 1); ++row) {
    for (std::size_t column = 0; column <= core::WordOf(map.width() - 1); ++column) {
      if (plain.Find(column, row) == nullptr) {
        plain.Judge(map, column, row, work);
      }
    }
  }
}

std::vector<Part> Parts() {
  const auto watched = [](int count) {
    auto index = std::make_shared<std::shared_ptr<core::AnswerIndex>>();
    return [index, count](const GridMap& now, const core::MapChanges& changes) {
      if (*index == nullptr) {
        *index = WatchPaths(now, count);
      }
      std::vector<core::AnswerIndex::Id> ids;
      (*index)->FindAffected(changes, {.map = now}, ids);
    };
  };
  return {
      {"cells, in a snapshot", [](const GridMap&, const auto&) {}},
      {"components",
       [](const GridMap& now, const auto&) { now.walk().components(core::Adjacency::kStraight); }},
      {"index of jumps",
       [](const GridMap& now, const auto&) {
         now.walk().MakeDiagonalJumpIndex(core::CornerRule::kNoCornerCutting);
       }},
      {"grid of 2 x 2 agents", [](const GridMap& now, const auto&) { now.walk(2); }},
      {"cost floor", [](const GridMap& now, const auto&) { now.cost_floor(); }},
      {"plain cells", [](const GridMap& now, const auto&) { JudgeAll(now); }},
      {"view of 1 profile", [](const GridMap& now, const auto&) { UpdateViews(now, 1); }},
      {"views of 16 profiles", [](const GridMap& now, const auto&) { UpdateViews(now, 16); }},
      {"1,000 watched paths", watched(1000)},
  };
}

// Kind of change whose times PrintParts compares.
struct Alteration {
  std::string name;
  int cells;
  // One square, or scattered cells.
  bool is_square;
  int rounds;
};

// Returns the median time of changes, and of bringing the part up to date after each. They paint cells, or
// else block them.
std::pair<double, double> TimePart(GridMap map, const Part& part, const Alteration& alteration, bool paints) {
  part.update(map, {});
  Random random(1);
  Sample changes;
  Sample updates;
  for (int round = 0; round < alteration.rounds; ++round) {
    Shape shape;
    if (alteration.is_square) {
      const int side = static_cast<int>(std::sqrt(alteration.cells));
      shape.rectangles.push_back(
          {random.Between(0, map.width() - side), random.Between(0, map.height() - side), side, side});
    } else {
      for (int i = 0; i < alteration.cells; ++i) {
        shape.cells.push_back(WalkableCell(map, random));
      }
    }
    const Flip flip =
        paints ? Flip{core::SetTerrain{shape, '2'}, core::SetTerrain{shape, '.'}} : FlipOf(shape);
    for (const Edit* edit : {&flip.block, &flip.unblock}) {
      std::optional<core::BatchEditor::Result> result;
      changes.Add(MicrosOf([&] {
        core::BatchEditor editor(map);
        OrDie(editor.Apply({edit, 1}, absl::UnixEpoch()).status());
        result.emplace(std::move(editor).Finish());
      }));
      updates.Add(MicrosOf([&] { part.update(result->map, result->changes); }));
      map = std::move(result->map);
    }
  }
  return {changes.Median(), updates.Median()};
}

// Prints what changes take on a map that keeps one part up to date, and what it then takes to bring that part
// up to date where that is left to its next use.
void PrintParts(int side) {
  const std::vector<Alteration> alterations = {{"1 cell", 1, true, 500},
                                               {"10 x 10", 100, true, 200},
                                               {"100 cells", 100, false, 100},
                                               {"100 x 100", 10'000, true, 30},
                                               {"10,000 cells", 10'000, false, 15}};
  for (const bool paints : {false, true}) {
    std::cout << absl::StreamFormat("%-21s", paints ? "us: painted, next use" : "us: blocked, next use");
    for (const Alteration& alteration : alterations) {
      std::cout << absl::StreamFormat(" | %15s", alteration.name);
    }
    std::cout << "\n";
    for (const Part& part : Parts()) {
      std::cout << absl::StreamFormat("%-21s", part.name);
      for (const Alteration& alteration : alterations) {
        const auto [change, update] =
            TimePart(PatchedMap(side, core::Connectivity::kEight, 8), part, alteration, paints);
        std::cout << absl::StreamFormat(" | %7.1f %7.1f", change, update);
      }
      std::cout << "\n" << std::flush;
    }
  }
}

// Plays changes, and four queries after each, with an algorithm. Returns their times.
std::pair<Sample, Sample> PlayChanges(const GridMap& original, core::Algorithm algorithm, bool paints,
                                      int side, int reach) {
  // Short searches need some more until those of all places have been judged.
  const int changes = reach < original.width() ? 120 : 16;
  GridMap map = original;
  map.Prepare();
  Random random(5);
  std::pair<Sample, Sample> times;
  for (int i = 0; i < changes; ++i) {
    const Shape shape = {.rectangles = {{random.Between(0, map.width() - side),
                                         random.Between(0, map.height() - side), side, side}}};
    const Edit edit = paints       ? Edit(core::SetTerrain{shape, map.settings().terrains[1].symbol})
                      : i % 2 == 0 ? Edit(core::BlockCells{shape})
                                   : Edit(core::UnblockCells{shape});
    times.first.Add(MicrosOf([&] { map = OrDie(core::ApplyEdits(map, {edit})).map; }));
    for (int k = 0; k < 4; ++k) {
      const Cell start = WalkableCell(map, random);
      Cell goal = WalkableCell(map, random);
      while (std::max(std::abs(goal.x - start.x), std::abs(goal.y - start.y)) > reach) {
        goal = WalkableCell(map, random);
      }
      times.second.Add(Ask(map, {start, goal}, algorithm));
    }
  }
  return times;
}

// Prints how long changes with four queries after each take with the usual algorithm, and with A*.
void PrintBesideAStar(int side) {
  std::cout << absl::StreamFormat("%-26s %-14s %6s | %17s | %17s | %s\n", "us: means", "change", "reach",
                                  "change and query", "with A*", "A* takes times as long");
  for (const auto& [name, connectivity, patch] :
       {std::tuple("patches of 2 x 2", core::Connectivity::kEight, 2),
        std::tuple("patches of 8 x 8", core::Connectivity::kEight, 8),
        std::tuple("patches of 32 x 32", core::Connectivity::kEight, 32),
        std::tuple("patches of 8 x 8, 4-conn.", core::Connectivity::kFour, 8),
        std::tuple("hexagons", core::Connectivity::kSix, 0),
        std::tuple("hexagons, 8 x 8", core::Connectivity::kSix, 8)}) {
    const GridMap map = PatchedMap(side, connectivity, patch);
    for (const bool paints : {false, true}) {
      for (const int changed : {1, 16}) {
        for (const int reach : {30, side}) {
          const auto play = [&](core::Algorithm algorithm) {
            return PlayChanges(map, algorithm, paints, changed, reach);
          };
          // The first of either only warms up.
          play(core::Algorithm::kAuto);
          play(core::Algorithm::kAStar);
          const auto usual = play(core::Algorithm::kAuto);
          const auto plain = play(core::Algorithm::kAStar);
          std::cout << absl::StreamFormat("%-26s %-5s %2d x %2d  %6d | %7.1f %9.1f | %7.1f %9.1f | %.2f\n",
                                          name, paints ? "paint" : "block", changed, changed, reach,
                                          usual.first.Mean(), usual.second.Mean(), plain.first.Mean(),
                                          plain.second.Mean(),
                                          (plain.first.Mean() + 4 * plain.second.Mean()) /
                                              (usual.first.Mean() + 4 * usual.second.Mean()))
                    << std::flush;
        }
      }
    }
  }
}

// Prints, for each game map, how long changes and queries take with a hierarchy that was built before all of
// them, and by jump point search. Squares of 1 to 8 cells come, and the oldest of 12 goes: four queries after
// each change.
void PrintHierarchy() {
  constexpr int kChanges = 200;
  constexpr std::size_t kSquares = 12;
  std::cout << absl::StreamFormat("%-18s | %8s %8s | %8s %8s | %s\n", "us: means, map", "change", "query",
                                  "change", "by jumps", "share that the hierarchy answered, times as fast");
  for (const MovingAiMap& file :
       MapsNamed({"arena2", "lak303d", "hrt201n", "AR0202SR", "Boston_0_512", "TheFrozenSea", "maze512-1-0",
                  "16room_000", "divideandconquer"})) {
    GridMap plain = LoadMovingAiMap(file);
    plain.Prepare();
    GridMap map = LoadMovingAiMap(file);
    map.Prepare();
    map.static_index().Put(
        OrDie(core::Hierarchy::Build(map.walk(), map.min_straight(), map.min_diagonal(), {})),
        map.walkable());
    Random random(6);
    std::deque<Shape> squares;
    std::array<Sample, 2> changes;
    std::array<Sample, 2> queries;
    int answered = 0;
    for (int i = 0; i < kChanges; ++i) {
      const Cell corner = WalkableCell(map, random);
      const int side = random.Between(1, 8);
      Shape shape;
      for (int y = corner.y; y < std::min(corner.y + side, map.height()); ++y) {
        for (int x = corner.x; x < std::min(corner.x + side, map.width()); ++x) {
          if (map.IsWalkable({x, y})) {
            shape.cells.push_back({x, y});
          }
        }
      }
      squares.push_back(shape);
      std::vector<Edit> edits = {core::BlockCells{shape}};
      if (squares.size() > kSquares) {
        edits.emplace_back(core::UnblockCells{squares.front()});
        squares.pop_front();
      }
      changes[0].Add(MicrosOf([&] { map = OrDie(core::ApplyEdits(map, edits)).map; }));
      changes[1].Add(MicrosOf([&] { plain = OrDie(core::ApplyEdits(plain, edits)).map; }));
      for (int k = 0; k < 4; ++k) {
        const Query query{WalkableCell(map, random), WalkableCell(map, random)};
        queries[1].Add(Ask(plain, query, core::Algorithm::kJumpPoint));
        queries[0].Add(MicrosOf([&] {
          const auto found = core::FindPath(
              map,
              {.start = query.start, .goal = query.goal, .algorithm = core::Algorithm::kSubgoalHierarchy}, {},
              TheScratch());
          answered += found.ok() && found->statistics.algorithm == core::Algorithm::kSubgoalHierarchy ? 1 : 0;
        }));
      }
    }
    std::cout << absl::StreamFormat("%-18s | %8.1f %8.1f | %8.1f %8.1f | %d %% %.2f\n",
                                    file.path.stem().string(), changes[0].Mean(), queries[0].Mean(),
                                    changes[1].Mean(), queries[1].Mean(), answered / (4 * kChanges / 100),
                                    (changes[1].Mean() + 4 * queries[1].Mean()) /
                                        (changes[0].Mean() + 4 * queries[0].Mean()))
              << std::flush;
  }
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
  if (absl::GetFlag(FLAGS_hierarchy)) {
    waystar::bench::PrintHierarchy();
    return 0;
  }
  if (absl::GetFlag(FLAGS_weighted)) {
    waystar::bench::PrintBesideAStar(std::min(max_side, 512));
    return 0;
  }
  if (absl::GetFlag(FLAGS_parts)) {
    waystar::bench::PrintParts(std::max(256, std::min(max_side, 1024)));
    return 0;
  }
  waystar::bench::PrintUpdates(max_side);
  return 0;
}
