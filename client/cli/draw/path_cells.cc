#include "client/cli/draw/path_cells.h"

namespace waystar::cli {
namespace {

int Sign(int64_t value) { return (value > 0) - (value < 0); }

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

v1::Cell StepTowards(const v1::Cell& from, const v1::Cell& to) {
  return MakeCell(from.x() + Sign(int64_t{to.x()} - from.x()), from.y() + Sign(int64_t{to.y()} - from.y()));
}

bool Same(const v1::Cell& a, const v1::Cell& b) { return a.x() == b.x() && a.y() == b.y(); }

}  // namespace

std::vector<v1::Cell> PathCells(const v1::Cell& start, const v1::FindPathResponse& answer) {
  if (!answer.has_end()) {
    return {};
  }
  std::vector<v1::Cell> cells = {start};
  for (const int direction : answer.directions()) {
    cells.push_back(Step(cells.back(), static_cast<v1::Direction>(direction)));
  }
  for (const v1::Cell& point : answer.points()) {
    while (!Same(cells.back(), point)) {
      cells.push_back(StepTowards(cells.back(), point));
    }
  }
  return cells;
}

}  // namespace waystar::cli
