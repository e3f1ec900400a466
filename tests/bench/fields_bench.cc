// What many goals and many agents cost on the maps of 512 x 512 of the Moving AI benchmark: a matrix of costs
// beside as many single queries, a flow field of the whole map, and the cells within a cost; explanations
// beside A*, and judgements of straight moves.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/core/grid/engines/explain_path.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/field/cost_matrix.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/query/check_moves.h"
#include "server/core/store/map_store.h"
#include "tests/bench/bench.h"
#include "tests/testing/flood.h"

ABSL_FLAG(std::string, only, "", "print only maps whose name contains this");
ABSL_FLAG(int, repeat, 5, "passes; the least time of each is printed");
ABSL_FLAG(int, side, 32, "starts, and goals, of the matrix");
ABSL_FLAG(bool, weighted, false, "swamp costs 1.5, water 2 and is passable");

namespace waystar::bench {
namespace {

using core::Cell;
using core::GridMap;

constexpr int kMapSide = 512;

// The least of the passes.
template <typename Function>
double LeastMicros(Function function) {
  double least = MicrosOf(function);
  for (int pass = 1; pass < absl::GetFlag(FLAGS_repeat); ++pass) {
    least = std::min(least, MicrosOf(function));
  }
  return least;
}

// Cells of the largest region.
std::vector<Cell> ChooseCells(const GridMap& map, int count, Random& random) {
  // Without corner cutting a diagonal step joins no others.
  const Flood regions(map.walk().rows(), core::Adjacency::kStraight);
  std::vector<int> sizes(1);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      if (const auto region = static_cast<std::size_t>(regions.At({x, y})); region != 0) {
        sizes.resize(std::max(sizes.size(), region + 1));
        ++sizes[region];
      }
    }
  }
  const auto largest = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
  std::vector<Cell> cells;
  while (cells.size() < static_cast<std::size_t>(count)) {
    const Cell cell = AnyCell(map, random);
    if (regions.At(cell) == largest) {
      cells.push_back(cell);
    }
  }
  return cells;
}

std::vector<double> SingleCosts(const GridMap& map, const std::vector<Cell>& starts,
                                const std::vector<Cell>& goals, core::Scratch& scratch) {
  std::vector<double> costs;
  for (const Cell source : starts) {
    for (const Cell target : goals) {
      costs.push_back(
          OrDie(core::FindPath(map, {.start = source, .goal = target, .path_form = core::PathForm::kCorners},
                               {}, scratch))
              .cost);
    }
  }
  return costs;
}

void CheckAlike(const std::vector<double>& matrix, const std::vector<double>& single) {
  for (std::size_t i = 0; i < single.size(); ++i) {
    if (!(std::abs(matrix[i] - single[i]) <= 1e-6 * (1.0 + single[i]))) {
      Die(absl::StrCat("entry ", i, " is ", matrix[i], ", the query says ", single[i]));
    }
  }
}

// Returns how many times as long as A* the explanations of paths between these cells take, nothing in the
// way.
double ExplanationsByAStar(const GridMap& map, const std::vector<Cell>& starts,
                           const std::vector<Cell>& goals, core::Scratch& scratch) {
  const auto query_of = [&](std::size_t i) {
    return core::PathQuery{.start = starts[i], .goal = goals[i], .algorithm = core::Algorithm::kAStar};
  };
  const core::BlockerPrices prices{.price = core::BlockerPrices::kMax};
  std::vector<double> found(starts.size());
  std::vector<double> explained(starts.size());
  const double a_star = LeastMicros([&] {
    for (std::size_t i = 0; i < starts.size(); ++i) {
      found[i] = OrDie(core::FindPath(map, query_of(i), {}, scratch)).cost;
    }
  });
  const double explain = LeastMicros([&] {
    for (std::size_t i = 0; i < starts.size(); ++i) {
      explained[i] =
          OrDie(core::ExplainPath({.map = map, .before_overlay = map}, query_of(i), prices, {}, scratch))
              .cost;
    }
  });
  CheckAlike(explained, found);
  return explain / a_star;
}

// Returns the microseconds that the judgement of a straight move of a few cells takes.
double MicrosOfMove(const GridMap& map, const std::vector<Cell>& cells, core::QueryScratch& scratch) {
  const core::MapSnapshot snapshot{.id = "map", .epoch = 1, .revision = 1, .map = map};
  std::vector<core::Move> moves;
  while (moves.size() < core::kMaxMoves) {
    for (const Cell cell : cells) {
      moves.push_back({.from = {.cell = cell},
                       .to = {.cell = Cell{std::min(cell.x + 4, map.width() - 1), cell.y}},
                       .time = absl::Seconds(1),
                       .speed = 8.0});
    }
  }
  moves.resize(core::kMaxMoves);
  core::MapStore store(1);
  const core::OtherMaps others{.store = store, .may_visit = [](absl::string_view) { return false; }};
  const core::AgentQuery agent;
  const core::SharedAgent resolved = OrDie(core::ResolveAgent(snapshot, agent, others, {}));
  // Moves through walls would search for a way round.
  const auto check = [&] {
    return OrDie(core::CheckMoves(resolved, snapshot, {.agent = agent, .snap = {}, .moves = moves}, others,
                                  {}, scratch));
  };
  const core::CheckedMoves first = check();
  std::vector<core::Move> straight;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (first.judgements[i].verdict == core::MoveVerdict::kOk) {
      straight.push_back(moves[i]);
    }
  }
  moves = straight;
  core::CheckedMoves checked;
  const double micros = LeastMicros([&] { checked = check(); });
  return micros / static_cast<double>(moves.size());
}

void PrintMap(const std::string& name, GridMap map) {
  // As a server does when a map comes in.
  map.Prepare();
  Random random(7);
  const int side = absl::GetFlag(FLAGS_side);
  const std::vector<Cell> starts = ChooseCells(map, side, random);
  const std::vector<Cell> goals = ChooseCells(map, side, random);
  core::Scratch scratch(std::size_t{1} << 28);
  core::FieldScratch field_scratch;

  std::vector<double> single;
  const double single_micros = LeastMicros([&] { single = SingleCosts(map, starts, goals, scratch); });
  core::NoWorld no_world;
  core::CostMatrix matrix;
  const double matrix_micros = LeastMicros([&] {
    matrix = OrDie(core::ComputeCostMatrix(map, no_world, {.starts = starts, .goals = goals}, {}, scratch,
                                           field_scratch));
  });
  CheckAlike(matrix.costs, single);
  const double flow_micros = LeastMicros([&] {
    OrDie(core::ComputeFlowField(map, {.goals = {&goals[0], 1}, .want_costs = true}, {}, field_scratch));
  });
  const double reach_micros = LeastMicros(
      [&] { OrDie(core::FindReachable(map, {.start = starts[0], .max_cost = 20.0}, {}, field_scratch)); });
  core::QueryScratch query_scratch(std::size_t{1} << 28);
  std::cout << absl::StreamFormat("%-28s %10.0f %10.0f %7.1f %9.2f %9.1f %8.2f %8.2f\n", name, single_micros,
                                  matrix_micros, single_micros / matrix_micros, flow_micros / 1000.0,
                                  reach_micros, ExplanationsByAStar(map, starts, goals, scratch),
                                  MicrosOfMove(map, starts, query_scratch));
}

void Run() {
  std::cout << absl::StreamFormat("%-28s %10s %10s %7s %9s %9s %8s %8s\n", "map", "single us", "matrix us",
                                  "times", "flow ms", "reach us", "explain", "move us");
  for (const MovingAiMap& entry : MapsNamed({absl::GetFlag(FLAGS_only)})) {
    GridMap map = absl::GetFlag(FLAGS_weighted) ? LoadWeightedMovingAiMap(entry) : LoadMovingAiMap(entry);
    if (map.width() == kMapSide && map.height() == kMapSide) {
      PrintMap(entry.name, std::move(map));
    }
  }
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  waystar::bench::Run();
  return 0;
}
