// Queries and floods on maps with many portals, against textbook searches over cells whose edges are steps
// and portals.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/field/flood.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/passages.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/portal/portal_search.h"
#include "tests/core/cliffs/cliff_maps.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

// What a query is allowed beside three times the textbook search: see PortalRace::kHeadStart.
constexpr std::uint64_t kSlack = 2048;

struct Textbook {
  std::optional<double> cost;
  // The cells that were expanded before the goal.
  std::uint64_t expanded = 0;
};

// Dijkstra's algorithm, which ends at the goal.
Textbook SearchByTheBook(const GridMap& map, const PathQuery& query) {
  using Entry = std::pair<double, std::size_t>;
  const auto number = [&](Cell cell) {
    return static_cast<std::size_t>(cell.y) * static_cast<std::size_t>(map.width()) +
           static_cast<std::size_t>(cell.x);
  };
  std::multimap<std::size_t, std::pair<Cell, double>> links;
  map.portals().VisitAfter("", [&](const Portal& portal) {
    if (!portal.closed) {
      const double cost = CostToDouble(portal.cost);
      links.emplace(number(portal.from), std::pair(portal.to, cost));
      if (portal.both_ways) {
        links.emplace(number(portal.to), std::pair(portal.from, cost));
      }
    }
    return true;
  });
  std::vector<double> costs(number({0, map.height()}), -1.0);
  std::vector<bool> is_expanded(costs.size(), false);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  const auto reach = [&](Cell cell, double cost) {
    double& known = costs[number(cell)];
    if (map.IsWalkable(cell) && (known < 0 || cost < known)) {
      known = cost;
      open.emplace(cost, number(cell));
    }
  };
  reach(query.start, 0.0);
  Textbook result;
  while (!open.empty()) {
    const auto [cost, index] = open.top();
    open.pop();
    if (is_expanded[index]) {
      continue;
    }
    const Cell cell{static_cast<int>(index % static_cast<std::size_t>(map.width())),
                    static_cast<int>(index / static_cast<std::size_t>(map.width()))};
    if (cell == query.goal) {
      result.cost = cost;
      break;
    }
    is_expanded[index] = true;
    ++result.expanded;
    for (int d = 0; d < kDirectionCount; ++d) {
      const Cell next = Step(cell, static_cast<Direction>(d));
      if (IsLegalStep(map, query.corner_rule, cell, next, 1)) {
        reach(next, cost + StepCost(map, cell, next, 1));
      }
    }
    for (auto [link, end] = links.equal_range(index); link != end; ++link) {
      reach(link->second.first, cost + link->second.second);
    }
  }
  return result;
}

// One corridor that goes to and fro.
GridMap Serpentine(int width, int rows) {
  const GridMap corridor = *GridMap::Create(width, 2 * rows - 1, {});
  GridMapEditor editor(corridor);
  for (int row = 1; row < rows; ++row) {
    editor.SetObstacles(2 * row - 1, row % 2 == 0 ? 1 : 0, row % 2 == 0 ? width : width - 1, true);
  }
  return std::move(editor).Finish();
}

// Links cells of a corridor with the next, or the one behind: what is near leads far.
GridMap WithSteps(const GridMap& map, int count, Generator& generator, int max_cost) {
  std::set<std::array<int, 3>> known;
  std::vector<Portal> portals;
  while (static_cast<int>(portals.size()) < count) {
    const Cell from = generator.WalkableCellOf(map);
    const Cell to{from.x, from.y + 2 * generator.Between(1, 2)};
    if (map.IsWalkable(from) && map.IsWalkable(to) && known.insert({from.x, from.y, to.y}).second) {
      portals.push_back(
          Between(absl::StrCat("p", portals.size()), from, to, generator.Between(max_cost / 2, max_cost)));
      portals.back().both_ways = true;
    }
  }
  return With(map, portals);
}

// Joins some cells with one another.
GridMap WithHubs(const GridMap& map, int count, Generator& generator) {
  std::vector<Cell> hubs;
  std::vector<Portal> portals;
  for (int i = 0; i < count; ++i) {
    hubs.push_back(generator.WalkableCellOf(map));
    for (int other = 0; other < i; ++other) {
      Portal portal = Between(absl::StrCat("p", portals.size()), hubs[other], hubs.back(), 3.0);
      portal.both_ways = true;
      if (portal.from != portal.to) {
        portals.push_back(portal);
      }
    }
  }
  return With(map, portals);
}

// Expects that queries cost the least, and little more than by the book.
void ExpectNoCliff(const GridMap& map) {
  Scratch scratch(std::size_t{1} << 28);
  Generator generator(1);
  NoWorld world;
  for (int i = 0; i < 8; ++i) {
    PathQuery query{.start = generator.WalkableCellOf(map)};
    query.goal = generator.WalkableCellOf(map);
    const Textbook textbook = SearchByTheBook(map, query);
    const auto found = FindPathThroughPortals(map, world, {.path = query}, {}, scratch);
    ASSERT_THAT(found, IsOk());
    ASSERT_EQ(found->path.outcome == Outcome::kFound, textbook.cost.has_value());
    if (textbook.cost) {
      EXPECT_NEAR(found->path.cost, *textbook.cost, 1e-6 * (1 + *textbook.cost));
    }
    EXPECT_LE(found->path.statistics.expanded, 3 * textbook.expanded + kSlack);
  }
}

TEST(PortalCliffTest, Serpentine) {
  for (const int links : {20, 160, 1000}) {
    SCOPED_TRACE(links);
    Generator generator(3);
    const GridMap corridor = Serpentine(100, 100);
    ExpectNoCliff(WithPortalsAmong(corridor, LargestPart(corridor), links, 8.0));
    for (const int cost : {4, 100, 400}) {
      ExpectNoCliff(WithSteps(corridor, links, generator, cost));
    }
  }
}

TEST(PortalCliffTest, CellsJoinedWithOneAnother) {
  for (const Connectivity connectivity : kConnectivities) {
    for (const int hubs : {11, 22, 44}) {
      SCOPED_TRACE(hubs);
      Generator generator(3);
      const GridMap map = *GridMap::Create(100, 100, SettingsOf(connectivity));
      ExpectNoCliff(WithHubs(map, hubs, generator));
    }
  }
}

// A flood expands no more cells than Dijkstra's algorithm that has the portals as edges, and passes each of
// them once, however little the portals cost.

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
  ForEachMap({.sides = {96}}, [](const GridMap& map) {
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
  const GridMap map = DrawMap({"..#.#."});
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
