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

// Returns what can be within that cost on foot, given that each step leads at most one cell on.
Rectangle Within(Cell centre, Cost max_cost, Cost cheapest_step) {
  const auto radius = static_cast<std::int32_t>(
      std::min<Cost>(max_cost / cheapest_step, std::numeric_limits<std::int16_t>::max()));
  return {centre.x - radius, centre.y - radius, 2 * radius + 1, 2 * radius + 1};
}

Rectangle Union(const Rectangle& a, const Rectangle& b) {
  return b.empty() ? a : Extend(Extend(a, {b.x, b.y}), {b.x + b.width - 1, b.y + b.height - 1});
}

bool Holds(const Rectangle& region, Cell cell) { return !Intersect(region, {cell.x, cell.y, 1, 1}).empty(); }

// Returns the passages between cells of the region, as the flood meets them.
std::vector<Passage> PassagesIn(const Rectangle& region, absl::Span<const Passage> passages,
                                FloodSense sense) {
  std::vector<Passage> inside;
  for (Passage passage : passages) {
    if (Holds(region, passage.from) && Holds(region, passage.to)) {
      if (sense == FloodSense::kToSeeds) {
        std::swap(passage.from, passage.to);
      }
      inside.push_back(passage);
    }
  }
  return inside;
}

}  // namespace

Rectangle ReachRegion(const GridMap& map, absl::Span<const Passage> passages, Cell seed, FloodSense sense,
                      Cost max_cost, const Rectangle& region) {
  Rectangle reached = Intersect(region, Within(seed, max_cost, map.min_straight()));
  if (passages.empty() || reached == region) {
    return reached;
  }
  const std::vector<Passage> inside = PassagesIn(region, passages, sense);
  // The least cost at which each passage can be left.
  std::vector<Cost> least(inside.size(), std::numeric_limits<Cost>::max());
  using Arrival = std::pair<Cost, std::size_t>;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> open;
  const auto go_on = [&](Cell cell, Cost cost) {
    const OctileHeuristic bound(map, cell);
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const Cost behind = cost + bound(inside[i].from) + inside[i].cost;
      if (behind < least[i] && behind <= max_cost) {
        least[i] = behind;
        open.emplace(behind, i);
      }
    }
  };
  go_on(seed, 0);
  while (!open.empty()) {
    const auto [cost, i] = open.top();
    open.pop();
    if (cost == least[i]) {
      reached = Union(reached, Intersect(region, Within(inside[i].to, max_cost - cost, map.min_straight())));
      go_on(inside[i].to, cost);
    }
  }
  return reached;
}

}  // namespace waystar::core
