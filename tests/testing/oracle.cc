#include "tests/testing/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace waystar {
namespace {

using core::Cell;
using core::GridMap;

constexpr double kTolerance = 1e-6;

std::string Show(Cell cell) { return absl::StrCat("(", cell.x, ", ", cell.y, ")"); }

// Between the centres of cells. Those of hexagons lie in a plane whose axes are at an angle of 60 degrees.
double DistanceBetween(const GridMap& map, Cell a, Cell b) {
  const double dx = a.x - b.x;
  const double dy = a.y - b.y;
  const bool is_hexagonal = map.settings().connectivity == core::Connectivity::kSix;
  return is_hexagonal ? std::hypot(dx + dy / 2, dy * std::sqrt(0.75)) : std::hypot(dx, dy);
}

}  // namespace

bool CanStand(const GridMap& map, Cell position, int footprint) {
  for (int y = position.y; y < position.y + footprint; ++y) {
    for (int x = position.x; x < position.x + footprint; ++x) {
      if (!map.IsWalkable({x, y})) {
        return false;
      }
    }
  }
  return true;
}

bool IsLegalStep(const GridMap& map, core::CornerRule rule, Cell from, Cell to, int footprint) {
  const int dx = to.x - from.x;
  const int dy = to.y - from.y;
  if (std::abs(dx) > 1 || std::abs(dy) > 1 || (dx == 0 && dy == 0) || !CanStand(map, to, footprint)) {
    return false;
  }
  if (dx == 0 || dy == 0) {
    return true;
  }
  if (map.settings().connectivity == core::Connectivity::kFour) {
    return false;
  }
  if (map.settings().connectivity == core::Connectivity::kSix) {
    return dx == -dy;
  }
  const bool side_a = CanStand(map, {from.x + dx, from.y}, footprint);
  const bool side_b = CanStand(map, {from.x, from.y + dy}, footprint);
  switch (rule) {
    case core::CornerRule::kNoCornerCutting:
      return side_a && side_b;
    case core::CornerRule::kOneSideFree:
      return side_a || side_b;
    case core::CornerRule::kAlways:
      return true;
  }
  return false;
}

double CellCost(const GridMap& map, Cell cell) {
  const core::Cost own = map.cell_costs() == nullptr ? 0 : map.cell_costs()->At(cell).straight;
  return own != 0 ? core::CostToDouble(own) : map.settings().terrains[map.TerrainAt(cell)].cost;
}

double StepCost(const GridMap& map, Cell from, Cell to, int footprint) {
  double dearest = 0.0;
  for (int y = to.y; y < to.y + footprint; ++y) {
    for (int x = to.x; x < to.x + footprint; ++x) {
      dearest = std::max(dearest, CellCost(map, {x, y}));
    }
  }
  return from.x != to.x && from.y != to.y ? dearest * map.settings().diagonal_cost : dearest;
}

Oracle::Oracle(const GridMap& map, core::CornerRule rule, Cell start, int footprint)
    : map_(map), costs_(static_cast<std::size_t>(map.width()) * static_cast<std::size_t>(map.height())) {
  const auto index = [&](Cell cell) { return static_cast<std::size_t>(cell.y * map.width() + cell.x); };
  using Entry = std::tuple<double, int, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  open.emplace(0.0, start.x, start.y);
  while (!open.empty()) {
    const auto [cost, x, y] = open.top();
    open.pop();
    const Cell cell{x, y};
    if (costs_[index(cell)]) {
      continue;
    }
    costs_[index(cell)] = cost;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const Cell next{x + dx, y + dy};
        if (IsLegalStep(map, rule, cell, next, footprint)) {
          open.emplace(cost + StepCost(map, cell, next, footprint), next.x, next.y);
        }
      }
    }
  }
}

std::optional<double> Oracle::CostTo(Cell cell) const {
  return costs_[static_cast<std::size_t>(cell.y * map_.width() + cell.x)];
}

Cell Oracle::NearestTo(Cell goal) const {
  Cell best;
  double best_distance = HUGE_VAL;
  double best_cost = HUGE_VAL;
  for (int y = 0; y < map_.height(); ++y) {
    for (int x = 0; x < map_.width(); ++x) {
      const std::optional<double> cost = CostTo({x, y});
      const double distance = DistanceBetween(map_, {x, y}, goal);
      if (cost && (distance < best_distance - kTolerance ||
                   (distance < best_distance + kTolerance && *cost < best_cost - kTolerance))) {
        best = {x, y};
        best_distance = distance;
        best_cost = *cost;
      }
    }
  }
  return best;
}

std::string PathFault(const GridMap& map, core::CornerRule rule, Cell start, Cell end,
                      absl::Span<const Cell> points, double cost, int footprint) {
  if (points.empty()) {
    return "the path is empty";
  }
  if (points.front() != start || points.back() != end) {
    return absl::StrCat("the path runs from ", Show(points.front()), " to ", Show(points.back()),
                        ", not from ", Show(start), " to ", Show(end));
  }
  double sum = 0.0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (!IsLegalStep(map, rule, points[i - 1], points[i], footprint)) {
      return absl::StrCat("step ", i, " from ", Show(points[i - 1]), " to ", Show(points[i]),
                          " is not legal");
    }
    sum += StepCost(map, points[i - 1], points[i], footprint);
  }
  if (std::abs(sum - cost) > kTolerance * std::max(1.0, sum)) {
    return absl::StrCat("the steps cost ", sum, ", the answer says ", cost);
  }
  return "";
}

}  // namespace waystar
