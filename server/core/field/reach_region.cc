#include "server/core/field/reach_region.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "server/core/search/octile.h"

namespace waystar::core {
namespace {

// What can be within that cost on foot: each step leads one cell on at the most.
Rectangle Within(Cell centre, Cost max_cost, Cost cheapest_step) {
  const auto radius = static_cast<std::int32_t>(
      std::min<Cost>(max_cost / cheapest_step, std::numeric_limits<std::int16_t>::max()));
  return {centre.x - radius, centre.y - radius, 2 * radius + 1, 2 * radius + 1};
}

Rectangle Union(const Rectangle& a, const Rectangle& b) {
  return b.empty() ? a : Extend(Extend(a, {b.x, b.y}), {b.x + b.width - 1, b.y + b.height - 1});
}

bool Holds(const Rectangle& region, Cell cell) { return !Intersect(region, {cell.x, cell.y, 1, 1}).empty(); }

// A door as the flood meets it.
struct Passage {
  Cell from;
  Cell to;
  Cost cost = 0;
  // What it costs at the least to come through it.
  Cost least = std::numeric_limits<Cost>::max();
};

std::vector<Passage> PassagesIn(const Rectangle& region, absl::Span<const Door> doors, FloodSense sense) {
  std::vector<Passage> passages;
  for (const Door& door : doors) {
    if (Holds(region, door.from) && Holds(region, door.to)) {
      passages.push_back({.from = sense == FloodSense::kFromSeeds ? door.from : door.to,
                          .to = sense == FloodSense::kFromSeeds ? door.to : door.from,
                          .cost = door.portal->cost});
    }
  }
  return passages;
}

}  // namespace

Rectangle ReachRegion(const GridMap& map, absl::Span<const Door> doors, Cell seed, FloodSense sense,
                      Cost max_cost, const Rectangle& region) {
  Rectangle reached = Intersect(region, Within(seed, max_cost, map.min_straight()));
  if (doors.empty() || reached == region) {
    return reached;
  }
  std::vector<Passage> passages = PassagesIn(region, doors, sense);
  using Arrival = std::pair<Cost, std::size_t>;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> open;
  const auto go_on = [&](Cell cell, Cost cost) {
    const OctileHeuristic bound(map, cell);
    for (std::size_t i = 0; i < passages.size(); ++i) {
      const Cost behind = cost + bound(passages[i].from) + passages[i].cost;
      if (behind < passages[i].least && behind <= max_cost) {
        passages[i].least = behind;
        open.emplace(behind, i);
      }
    }
  };
  go_on(seed, 0);
  while (!open.empty()) {
    const auto [cost, i] = open.top();
    open.pop();
    if (cost == passages[i].least) {
      reached =
          Union(reached, Intersect(region, Within(passages[i].to, max_cost - cost, map.min_straight())));
      go_on(passages[i].to, cost);
    }
  }
  return reached;
}

}  // namespace waystar::core
