// The maps on which the cliff tests count: every layout, with cells of several costs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/walk/walk_grid.h"
#include "tests/testing/layouts.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/random.h"

namespace waystar::core {

// A step of A* takes as long as this many cells of a flood: see IsFloodQuicker.
inline constexpr std::uint64_t kCellsOfAStep = 4;

enum class Layout { kOpen, kRooms, kNoise, kMaze, kCaves };
inline constexpr Layout kLayouts[] = {Layout::kOpen, Layout::kRooms, Layout::kNoise, Layout::kMaze,
                                      Layout::kCaves};
inline constexpr Connectivity kConnectivities[] = {Connectivity::kFour, Connectivity::kEight,
                                                   Connectivity::kSix};

// What the cells of a map cost to enter.
enum class CellPrices {
  kOne,
  // Three in ten cells cost three times as much as the others.
  kMud,
  // One cell of the middle costs a hundredth of the others.
  kCheapCell,
  // One cell costs a hundredth, and one a hundred times as much.
  kCheapAndDear,
};

struct MapSpec {
  Layout layout = Layout::kOpen;
  Connectivity connectivity = Connectivity::kEight;
  CellPrices prices = CellPrices::kOne;
  int side = 96;
};

inline GridSettings SettingsOf(Connectivity connectivity) {
  GridSettings settings{.connectivity = connectivity};
  if (connectivity == Connectivity::kSix) {
    settings.diagonal_cost = 1.0;
    settings.frame.hexagons = HexBoard{};
  }
  return settings;
}

inline GridMap MakeMap(const MapSpec& spec) {
  GridSettings settings = SettingsOf(spec.connectivity);
  if (spec.prices == CellPrices::kMud) {
    settings.terrains = {{.symbol = '.', .name = "meadow"}, {.symbol = ',', .name = "mud", .cost = 3.0}};
  }
  GridMap map = GridMap::Create(spec.side, spec.side, std::move(settings)).value();
  Random random(5);
  GridMapEditor editor(map);
  if (spec.prices == CellPrices::kMud) {
    for (int y = 0; y < spec.side; ++y) {
      for (int x = 0; x < spec.side; ++x) {
        editor.SetTerrains(y, x, x + 1, random.Chance(0.3) ? 1 : 0);
      }
    }
  } else if (spec.prices != CellPrices::kOne) {
    editor.SetStepCost({spec.side / 2, spec.side / 2}, CostFromDouble(0.01));
    if (spec.prices == CellPrices::kCheapAndDear) {
      editor.SetStepCost({spec.side / 4, spec.side / 4}, CostFromDouble(100.0));
    }
  }
  map = std::move(editor).Finish();
  switch (spec.layout) {
    case Layout::kOpen:
      break;
    case Layout::kRooms:
      LayRooms(random, 12, 0.15, map);
      break;
    case Layout::kNoise:
      LayNoise(random, 0.25, map);
      break;
    case Layout::kMaze:
      LayMaze(random, 2, 0.3, map);
      break;
    case Layout::kCaves:
      LayCaves(random, 3, map);
      break;
  }
  return map;
}

// Ranges of maps to count on.
struct MapRange {
  std::vector<int> sides;
  std::vector<Connectivity> connectivities = {std::begin(kConnectivities), std::end(kConnectivities)};
  std::vector<CellPrices> prices = {CellPrices::kOne, CellPrices::kMud, CellPrices::kCheapCell,
                                    CellPrices::kCheapAndDear};
  std::vector<Layout> layouts = {std::begin(kLayouts), std::end(kLayouts)};
};

inline void ForEachMap(const MapRange& range, const std::function<void(const GridMap&)>& visit) {
  for (const Layout layout : range.layouts) {
    for (const CellPrices prices : range.prices) {
      for (const Connectivity connectivity : range.connectivities) {
        for (const int side : range.sides) {
          SCOPED_TRACE(absl::StrCat("layout ", static_cast<int>(layout), ", prices ",
                                    static_cast<int>(prices), ", ", ConnectivityName(connectivity), ", side ",
                                    side));
          visit(MakeMap({.layout = layout, .connectivity = connectivity, .prices = prices, .side = side}));
        }
      }
    }
  }
}

// The cells that straight steps, steps between hexagons and portals lead to, cell by cell: those that paths
// which cut no corners lead to.
inline std::vector<Cell> CellsReached(const GridMap& map, Cell start, int footprint = 1) {
  const auto number = [&](Cell cell) {
    return static_cast<std::size_t>(cell.y) * static_cast<std::size_t>(map.width()) +
           static_cast<std::size_t>(cell.x);
  };
  std::multimap<std::size_t, Cell> links;
  map.portals().VisitAfter("", [&](const Portal& portal) {
    links.emplace(number(portal.from), portal.to);
    if (portal.both_ways) {
      links.emplace(number(portal.to), portal.from);
    }
    return true;
  });
  const std::shared_ptr<const WalkGrid> walk = map.walk(footprint);
  std::vector<bool> is_reached(static_cast<std::size_t>(map.bounds().area()), false);
  std::vector<Cell> cells;
  const auto reach = [&](Cell cell) {
    if (walk->IsWalkable(cell) && !is_reached[number(cell)]) {
      is_reached[number(cell)] = true;
      cells.push_back(cell);
    }
  };
  reach(start);
  const bool is_hexagonal = map.settings().connectivity == Connectivity::kSix;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell cell = cells[i];
    for (const Cell step : kSteps) {
      if (is_hexagonal ? step.x != step.y : step.x == 0 || step.y == 0) {
        reach({cell.x + step.x, cell.y + step.y});
      }
    }
    for (auto [link, end] = links.equal_range(number(cell)); link != end; ++link) {
      reach(link->second);
    }
  }
  return cells;
}

// The largest of the parts of the map that paths hold together, of those that a raster of cells lies in.
inline std::vector<Cell> LargestPart(const GridMap& map, int footprint = 1) {
  constexpr int kRaster = 12;
  std::vector<Cell> largest;
  for (int i = 0; i < kRaster * kRaster; ++i) {
    const Cell cell{map.width() * (i % kRaster) / kRaster, map.height() * (i / kRaster) / kRaster};
    if (2 * largest.size() < static_cast<std::size_t>(map.walkable_cells())) {
      std::vector<Cell> part = CellsReached(map, cell, footprint);
      if (part.size() > largest.size()) {
        largest = std::move(part);
      }
    }
  }
  return largest;
}

inline std::vector<Cell> AnyOf(const std::vector<Cell>& cells, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Cell> some;
  while (some.size() < count) {
    some.push_back(cells[static_cast<std::size_t>(random.Between(0, static_cast<int>(cells.size()) - 1))]);
  }
  return some;
}

// The map with portals between cells of those given, both ways, at costs up to `max_cost`.
inline GridMap WithPortalsAmong(const GridMap& map, const std::vector<Cell>& cells, int count,
                                double max_cost) {
  Random random(11);
  std::set<std::array<int, 4>> known;
  std::vector<Portal> portals;
  while (std::ssize(portals) < count) {
    const auto last = static_cast<int>(cells.size()) - 1;
    const Cell from = cells[static_cast<std::size_t>(random.Between(0, last))];
    const Cell to = cells[static_cast<std::size_t>(random.Between(0, last))];
    const double cost = max_cost * random.Between(0, 1000) / 1000;
    if (RowMajorLess(from, to) && known.insert({from.x, from.y, to.x, to.y}).second) {
      portals.push_back(Between(absl::StrCat("p", portals.size()), from, to, cost));
      portals.back().both_ways = true;
    }
  }
  return portals.empty() ? map : With(map, portals);
}

}  // namespace waystar::core
