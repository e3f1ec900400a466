// Queries on maps with many portals, against a textbook search over cells whose edges are steps and portals.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/portal/portal_search.h"
#include "tests/testing/generator.h"
#include "tests/testing/layouts.h"
#include "tests/testing/oracle.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Between;
using ::waystar::testing::Generator;
using ::waystar::testing::IsLegalStep;
using ::waystar::testing::IsOk;
using ::waystar::testing::LayNoise;
using ::waystar::testing::Random;
using ::waystar::testing::StepCost;
using ::waystar::testing::With;

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

GridSettings Settings(Connectivity connectivity) {
  GridSettings settings{.connectivity = connectivity};
  if (connectivity == Connectivity::kSix) {
    settings.diagonal_cost = 1.0;
    settings.frame.hexagons = HexBoard{};
  }
  return settings;
}

// One corridor that goes to and fro.
GridMap Serpentine(int width, int rows, Connectivity connectivity = Connectivity::kEight) {
  const GridMap corridor = *GridMap::Create(width, 2 * rows - 1, Settings(connectivity));
  GridMapEditor editor(corridor);
  for (int row = 1; row < rows; ++row) {
    editor.SetObstacles(2 * row - 1, row % 2 == 0 ? 1 : 0, row % 2 == 0 ? width : width - 1, true);
  }
  return std::move(editor).Finish();
}

GridMap Cave(int side, Connectivity connectivity = Connectivity::kEight) {
  Random random(7);
  GridMap map = *GridMap::Create(side, side, Settings(connectivity));
  LayNoise(random, 0.35, map);
  return map;
}

// Links two free cells each, both ways, at costs up to the highest.
GridMap WithLinks(const GridMap& map, int count, Generator& generator, int max_cost = 8) {
  std::vector<Portal> portals;
  while (static_cast<int>(portals.size()) < count) {
    Portal portal = Between(absl::StrCat("p", portals.size()), generator.WalkableCellOf(map),
                            generator.WalkableCellOf(map), generator.Between(0, max_cost));
    portal.both_ways = true;
    if (portal.from != portal.to) {
      portals.push_back(portal);
    }
  }
  return With(map, portals);
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
void ExpectNoCliff(const GridMap& map, Algorithm algorithm = Algorithm::kAuto) {
  Scratch scratch(std::size_t{1} << 28);
  Generator generator(1);
  NoWorld world;
  for (int i = 0; i < 8; ++i) {
    PathQuery query{.start = generator.WalkableCellOf(map), .algorithm = algorithm};
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
    ExpectNoCliff(WithLinks(Serpentine(100, 100), links, generator));
  }
}

TEST(PortalCliffTest, SerpentineWithSteps) {
  for (const int links : {20, 160, 1000}) {
    for (const int cost : {4, 100, 400}) {
      SCOPED_TRACE(links);
      Generator generator(3);
      ExpectNoCliff(WithSteps(Serpentine(100, 100), links, generator, cost));
    }
  }
}

TEST(PortalCliffTest, Cave) {
  for (const int links : {30, 100, 300}) {
    SCOPED_TRACE(links);
    Generator generator(3);
    ExpectNoCliff(WithLinks(Cave(400), links, generator));
  }
}

TEST(PortalCliffTest, CellsJoinedWithOneAnother) {
  for (const Connectivity connectivity : {Connectivity::kFour, Connectivity::kEight, Connectivity::kSix}) {
    for (const int hubs : {11, 22, 44}) {
      SCOPED_TRACE(hubs);
      Generator generator(3);
      const GridMap map = *GridMap::Create(100, 100, Settings(connectivity));
      ExpectNoCliff(WithHubs(map, hubs, generator));
    }
  }
}

}  // namespace
}  // namespace waystar::core
