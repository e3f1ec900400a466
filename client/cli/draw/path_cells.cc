#include "client/cli/draw/path_cells.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace waystar::cli {
namespace {

v1::Cell MakeCell(int x, int y) {
  v1::Cell cell;
  cell.set_x(x);
  cell.set_y(y);
  return cell;
}

v1::Cell Step(const v1::Cell& from, v1::Direction direction) {
  static constexpr int kDx[] = {0, 0, 1, 1, 1, 0, -1, -1, -1};
  static constexpr int kDy[] = {0, -1, -1, 0, 1, 1, 1, 0, -1};
  if (!v1::Direction_IsValid(direction)) {
    return from;
  }
  return MakeCell(from.x() + kDx[direction], from.y() + kDy[direction]);
}

// numerator / denominator to the nearest integer. REQUIRES: denominator > 0.
int64_t RoundedQuotient(int64_t numerator, int64_t denominator) {
  const int64_t half = numerator < 0 ? -denominator / 2 : denominator / 2;
  return (numerator + half) / denominator;
}

// The cells that a straight line to `to` passes after the last of `cells`.
void AppendLine(const v1::Cell& to, std::vector<v1::Cell>& cells) {
  const v1::Cell from = cells.back();
  const int64_t dx = int64_t{to.x()} - from.x();
  const int64_t dy = int64_t{to.y()} - from.y();
  const int64_t steps = std::max(std::abs(dx), std::abs(dy));
  for (int64_t step = 1; step <= steps; ++step) {
    cells.push_back(MakeCell(static_cast<int>(from.x() + RoundedQuotient(dx * step, steps)),
                             static_cast<int>(from.y() + RoundedQuotient(dy * step, steps))));
  }
}

}  // namespace

std::vector<PathLeg> PathLegs(const v1::Cell& start, const v1::FindPathResponse& answer) {
  if (!answer.has_end()) {
    return {};
  }
  std::vector<PathLeg> legs = {{.cells = {start}}};
  const bool has_points = answer.points_size() > 0;
  const int count = has_points ? answer.points_size() : answer.directions_size();
  int crossed = 0;
  for (int i = 0; i <= count; ++i) {
    for (; crossed < answer.crossings_size() && answer.crossings(crossed).index() == i; ++crossed) {
      const v1::PortalCrossing& crossing = answer.crossings(crossed);
      const std::string& map = crossing.map().empty() ? legs.back().map : crossing.map();
      legs.push_back({.map = map, .cells = {crossing.arrival()}});
    }
    if (i < count && has_points) {
      AppendLine(answer.points(i), legs.back().cells);
    } else if (i < count) {
      legs.back().cells.push_back(
          Step(legs.back().cells.back(), static_cast<v1::Direction>(answer.directions(i))));
    }
  }
  return legs;
}

std::vector<v1::Cell> PathCells(const std::string& map, const v1::Cell& start,
                                const v1::FindPathResponse& answer) {
  std::vector<v1::Cell> cells;
  for (const PathLeg& leg : PathLegs(start, answer)) {
    if (leg.map.empty() || leg.map == map) {
      cells.insert(cells.end(), leg.cells.begin(), leg.cells.end());
    }
  }
  return cells;
}

}  // namespace waystar::cli
