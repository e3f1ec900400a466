#include "server/core/grid/path/validate_path.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/grid/path/path.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/grid/shapes/hex_line.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

absl::Status Check(const GridMap& map, const ValidationQuery& query) {
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(query.footprint));
  if (query.points.empty()) {
    return MakeError(ErrorReason::kMissingField, "points", "a path has at least one point");
  }
  if (query.points.size() > kMaxValidatedPoints) {
    return MakeError(ErrorReason::kPathTooLong, "points",
                     absl::StrCat("a path to validate may have at most ", kMaxValidatedPoints,
                                  " points, got ", query.points.size()));
  }
  for (std::size_t i = 0; i < query.points.size(); ++i) {
    const Cell point = query.points[i];
    if (!map.Contains(point)) {
      return MakeError(ErrorReason::kOffMap, absl::StrCat("points[", i, "]"),
                       absl::StrCat("the point (", point.x, ", ", point.y, ") is off the map, which is ",
                                    map.width(), " x ", map.height(), " cells"));
    }
  }
  return absl::OkStatus();
}

constexpr std::uint64_t kCellsBetweenPolls = 1 << 16;

std::uint64_t StepsBetween(Cell from, Cell to) {
  return static_cast<std::uint64_t>(
      std::max(std::abs(std::int64_t{to.x} - from.x), std::abs(std::int64_t{to.y} - from.y)));
}

class Validator {
 public:
  Validator(const GridMap& map, const WalkGrid& walk, const ValidationQuery& query, const Budget& budget)
      : map_(map),
        walk_(walk),
        dearest_(map, query.footprint),
        query_(query),
        rule_(LineRule(map.settings().connectivity, query.corner_rule)),
        allows_diagonals_(map.settings().connectivity != Connectivity::kFour ||
                          query.path_form != PathForm::kDirections),
        budget_(budget) {}

  absl::StatusOr<Validation> Validate() {
    const absl::StatusOr<Validation> validation = Walk();
    return end_ ? InterruptionError(*end_, 0) : validation;
  }

 private:
  // Validates the path. The result is meaningless if end_ is set.
  Validation Walk() {
    if (!walk_.IsWalkable(query_.points.front())) {
      return {.walkable = false, .blocked_index = 0, .blocked_cell = query_.points.front(), .cost = 0.0};
    }
    for (std::size_t i = 1; i < query_.points.size(); ++i) {
      const Cell from = query_.points[i - 1];
      const Cell to = query_.points[i];
      if (IsInterrupted(from, to)) {
        return {};
      }
      if (!IsFree(from, to)) {
        return {.walkable = false,
                .blocked_index = i,
                .blocked_cell = FirstBlocked(from, to),
                .cost = Cost(query_.points.first(i))};
      }
    }
    return {.walkable = true, .cost = Cost(query_.points)};
  }

  // Counts the cells of a line and checks the budget after every kCellsBetweenPolls cells.
  bool IsInterrupted(Cell from, Cell to) {
    cells_ += StepsBetween(from, to) + 1;
    if (!end_ && cells_ >= kCellsBetweenPolls) {
      cells_ = 0;
      end_ = Interruption(budget_);
    }
    return end_.has_value();
  }

  bool IsFree(Cell from, Cell to) const {
    return (allows_diagonals_ || from.x == to.x || from.y == to.y) && HasLineOfSight(walk_, rule_, from, to);
  }

  // REQUIRES: !IsFree(from, to).
  Cell FirstBlocked(Cell from, Cell to) const {
    return rule_.lattice == Lattice::kHexagonal ? FirstBlockedHexagon(from, to)
                                                : FirstBlockedSquare(from, to);
  }

  Cell FirstBlockedHexagon(Cell from, Cell to) const {
    for (const HexPart& part : HexPartsOf(from, to)) {
      if (!walk_.IsWalkable(part.cell)) {
        return part.cell;
      }
    }
    return to;
  }

  Cell FirstBlockedSquare(Cell from, Cell to) const {
    Cell blocked = to;
    ForEachStepOnLine(from, to, [&](Cell cell, Cell next) {
      blocked = next;
      const bool is_diagonal = cell.x != next.x && cell.y != next.y;
      return walk_.IsWalkable(next) &&
             (!is_diagonal ||
              (allows_diagonals_ && MayPassCorner(rule_.corner, walk_.IsWalkable({next.x, cell.y}),
                                                  walk_.IsWalkable({cell.x, next.y}))));
    });
    return blocked;
  }

  bool IsRun(Cell from, Cell to) const {
    const int dx = std::abs(to.x - from.x);
    const int dy = std::abs(to.y - from.y);
    return dx == 0 || dy == 0 || (dx == dy && map_.settings().connectivity == Connectivity::kEight) ||
           (to.x - from.x == from.y - to.y && rule_.lattice == Lattice::kHexagonal);
  }

  double Cost(absl::Span<const Cell> points) {
    double cost = 0.0;
    // Start of the runs that are not counted yet. They are summed together, with the same rounding as in
    // FindPath.
    std::size_t begin = 0;
    for (std::size_t i = 1; i < points.size() && !IsInterrupted(points[i - 1], points[i]); ++i) {
      if (query_.path_form == PathForm::kSmoothed || !IsRun(points[i - 1], points[i])) {
        if (i - begin > 1) {
          cost += CostOf(map_, query_.footprint, points.subspan(begin, i - begin));
        }
        cost += LineCost(dearest_, points[i - 1], points[i]);
        begin = i;
      }
    }
    return cost + CostOf(map_, query_.footprint, points.subspan(begin));
  }

  const GridMap& map_;
  const WalkGrid& walk_;
  DearestOnPath dearest_;
  const ValidationQuery& query_;
  const SightRule rule_;
  const bool allows_diagonals_;
  const Budget& budget_;
  std::uint64_t cells_ = 0;
  std::optional<SearchEnd> end_;
};

}  // namespace

absl::StatusOr<Validation> ValidatePath(const GridMap& map, const ValidationQuery& query,
                                        const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(Check(map, query));
  const std::shared_ptr<const WalkGrid> walk = map.walk(query.footprint);
  return Validator(map, *walk, query, budget).Validate();
}

std::uint64_t WorkOfValidation(const ValidationQuery& query) {
  // Side of the largest agent whose covered cells are read one by one.
  constexpr int kLargest = 8;
  std::uint64_t cells = query.points.size();
  for (std::size_t i = 1; i < query.points.size(); ++i) {
    cells += StepsBetween(query.points[i - 1], query.points[i]);
  }
  const auto side = static_cast<std::uint64_t>(std::clamp(query.footprint, 1, kLargest));
  return cells * side * side;
}

}  // namespace waystar::core
