// A flood through portals expands no more cells than Dijkstra's algorithm that has the portals as edges, and
// passes each of them once, however little the portals cost.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/field/flood.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/passages.h"
#include "tests/core/cliffs/field_cliff_maps.h"
#include "tests/testing/drawn_map.h"

namespace waystar::core {
namespace {

// Where a chain of portals leads from cell to cell, beside dearer portals that lead to its later cells at
// once. Those to the last cells come first, so that a queue which is not in order comes to them first.
struct Shortcuts {
  std::vector<Passage> passages;
  std::size_t entrances = 0;
};

Shortcuts ShortcutsFrom(Cell seed, const std::vector<Cell>& chain, double last_cost, FloodSense sense) {
  const std::size_t count = chain.size();
  const auto cost_of = [&](std::size_t steps) {
    return CostFromDouble(last_cost * static_cast<double>(steps) / static_cast<double>(count));
  };
  Shortcuts shortcuts{.passages = {}, .entrances = count};
  for (std::size_t i = count; i-- > 0;) {
    shortcuts.passages.push_back({.from = seed, .to = chain[i], .cost = cost_of(i + 1)});
    if (i + 1 < count) {
      shortcuts.passages.push_back({.from = chain[i], .to = chain[i + 1], .cost = cost_of(1) / 4});
    }
  }
  if (sense == FloodSense::kToSeeds) {
    for (Passage& passage : shortcuts.passages) {
      std::swap(passage.from, passage.to);
    }
  }
  return shortcuts;
}

// The costs by Dijkstra's algorithm, cell by cell.
std::vector<Cost> PlainCosts(const GridMap& map, const FloodGround& ground, const FloodGates& gates,
                             Cell seed, FloodSense sense) {
  using Entry = std::pair<Cost, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  std::vector<Cost> costs(ground.cell_count(), Flood::kUnreached);
  const auto reach = [&](std::uint32_t index, Cost cost) {
    if (cost < costs[index]) {
      costs[index] = cost;
      open.emplace(cost, index);
    }
  };
  reach(ground.IndexOf(seed), 0);
  while (!open.empty()) {
    const auto [cost, index] = open.top();
    open.pop();
    if (cost > costs[index]) {
      continue;
    }
    const Cell cell = ground.CellOf(index);
    for (unsigned d = 0; d < kDirectionCount; ++d) {
      if ((ground.moves()[index] >> d & 1U) != 0) {
        const Cell next = Step(cell, static_cast<Direction>(d));
        const Cell entered = sense == FloodSense::kFromSeeds ? next : cell;
        reach(ground.IndexOf(next),
              cost + (d % 2 == 0 ? map.StraightCost(entered) : map.DiagonalCost(entered)));
      }
    }
    for (const Gate& gate : gates.From(index)) {
      reach(gate.to, cost + gate.cost);
    }
  }
  return costs;
}

TEST(PortalFloodCliffTest, CheapPortalsExpandNoCellTwice) {
  ForEachFieldMap(
      {Connectivity::kFour, Connectivity::kEight, Connectivity::kSix}, {96}, [](const GridMap& map) {
        const std::vector<Cell> part = LargestPart(map);
        FloodGround ground;
        ground.Read(map, *map.walk(1), 1, CornerRule::kNoCornerCutting, map.bounds());
        for (const FloodSense sense : {FloodSense::kFromSeeds, FloodSense::kToSeeds}) {
          for (const std::size_t count : {100U, 400U}) {
            // Within a cheapest step, within a usual one, and beyond.
            for (const double last_cost : {0.005, 0.5, 40.0}) {
              SCOPED_TRACE(
                  absl::StrCat(count, " portals of up to ", last_cost, ", sense ", static_cast<int>(sense)));
              std::vector<Cell> chain;
              for (std::size_t i = 1; i <= count; ++i) {
                chain.push_back(part[i * (part.size() - 1) / count]);
              }
              const Shortcuts shortcuts = ShortcutsFrom(part[0], chain, last_cost, sense);
              FloodGates gates;
              gates.Read(ground, shortcuts.passages, sense);
              Flood flood;
              std::uint64_t expanded = 0;
              flood.Run(ground, {.seeds = {&part[0], 1}, .sense = sense, .gates = &gates}, {}, expanded);
              EXPECT_EQ(flood.costs(), PlainCosts(map, ground, gates, part[0], sense));
              EXPECT_EQ(expanded, part.size());
              EXPECT_EQ(flood.gate_looks(), shortcuts.entrances);
            }
          }
        }
      });
}

// They are all beyond what the queue has room for.
TEST(PortalFloodCliffTest, ManyDearPortalsToOneCellExpandItOnce) {
  const GridMap map = testing::DrawMap({"..#.#."});
  std::vector<Passage> passages;
  for (int i = 0; i < 300; ++i) {
    passages.push_back({.from = {0, 0}, .to = {3, 0}, .cost = CostFromDouble(1e5) + 300 - i});
  }
  passages.push_back({.from = {3, 0}, .to = {5, 0}, .cost = 1});
  FloodGround ground;
  ground.Read(map, *map.walk(1), 1, CornerRule::kNoCornerCutting, map.bounds());
  FloodGates gates;
  gates.Read(ground, passages, FloodSense::kFromSeeds);
  Flood flood;
  std::uint64_t expanded = 0;
  const Cell seed{0, 0};
  flood.Run(ground, {.seeds = {&seed, 1}, .sense = FloodSense::kFromSeeds, .gates = &gates}, {}, expanded);
  EXPECT_EQ(flood.costs()[ground.IndexOf({5, 0})], CostFromDouble(1e5) + 2);
  EXPECT_EQ(expanded, 4U);
  EXPECT_EQ(flood.gate_looks(), 2U);
}

}  // namespace
}  // namespace waystar::core
