#include "server/core/grid/path/path.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/cell_costs.h"
#include "server/core/grid/search/direct_way.h"
#include "server/core/grid/shapes/hex_line.h"

namespace waystar::core {
namespace {

// A straight or diagonal run between two corners.
struct Run {
  Run(Cell from, Cell to)
      : step{Sign(to.x - from.x), Sign(to.y - from.y)},
        length(std::max(std::abs(to.x - from.x), std::abs(to.y - from.y))) {}

  Cell step;
  int length;
};

// Appends a corner, or replaces the last one if the direction does not change there.
void AddCorner(Cell cell, std::vector<Cell>& corners) {
  const std::size_t size = corners.size();
  if (size >= 2 && Run(corners[size - 2], corners[size - 1]).step == Run(corners[size - 1], cell).step) {
    corners.back() = cell;
  } else {
    corners.push_back(cell);
  }
}

bool HasParent(const NodeTable& nodes, NodeIndex node) {
  return node != kNoNode && nodes[node].parent != node;
}

// Sum of step costs that is independent of their order.
class StepSum {
 public:
  explicit StepSum(const GridMap& map) : map_(map) {}

  void Add(Cell entered, Direction direction, int steps = 1) {
    const std::size_t kind = IsDiagonal(direction) ? 1 : 0;
    const Cost own = map_.OwnCosts(entered).straight;
    if (own != 0) {
      own_costs_[kind] += own * steps;
    } else {
      counts_[map_.TerrainAt(entered)][kind] += static_cast<std::uint32_t>(steps);
    }
  }

  double Total() const {
    const GridSettings& settings = map_.settings();
    // Each is rounded once, so that 10 straight steps and 7 diagonal ones of 1.4 sum to 19.8 and not
    // 19.799999999999997.
    double cost = std::fma(static_cast<double>(own_costs_[1]), settings.diagonal_cost,
                           static_cast<double>(own_costs_[0])) /
                  static_cast<double>(kCostScale);
    for (std::size_t i = 0; i < settings.terrains.size(); ++i) {
      cost += settings.terrains[i].cost * std::fma(counts_[i][1], settings.diagonal_cost, counts_[i][0]);
    }
    return cost;
  }

 private:
  const GridMap& map_;
  // Number of straight and diagonal steps into each terrain.
  std::array<std::array<std::uint32_t, 2>, kMaxTerrains> counts_{};
  // Sums of the straight costs of cells with costs of their own, entered by straight and by diagonal steps.
  std::array<Cost, 2> own_costs_{};
};

// StepSum for maps of uniform cost.
double CostOnUniform(const GridMap& map, absl::Span<const Cell> corners) {
  std::int64_t straight = 0;
  std::int64_t diagonal = 0;
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const int dx = std::abs(corners[i].x - corners[i - 1].x);
    const int dy = std::abs(corners[i].y - corners[i - 1].y);
    (dx != 0 && dy != 0 ? diagonal : straight) += std::max(dx, dy);
  }
  const TerrainId terrain = map.TerrainAt(corners.back());
  return map.settings().terrains[terrain].cost *
         std::fma(static_cast<double>(diagonal), map.settings().diagonal_cost, static_cast<double>(straight));
}

}  // namespace

void TraceSteps(Cell start, Cell end, Scratch& scratch, std::vector<Cell>& corners) {
  corners.push_back(end);
  for (Cell cell = end; cell != start;) {
    cell = Step(cell, Opposite(scratch.Find(cell)->entered_by));
    AddCorner(cell, corners);
  }
  std::reverse(corners.begin(), corners.end());
}

void TraceJumps(Connectivity connectivity, Cell end, const NodeTable& nodes, std::vector<Cell>& corners) {
  corners.push_back(end);
  for (NodeIndex node = nodes.Find(end); HasParent(nodes, node); node = nodes[node].parent) {
    const Cell to = Unpack(nodes[node].cell);
    const Cell from = Unpack(nodes[nodes[node].parent].cell);
    const Cell turn = TurnTowards(connectivity, from, to);
    if (turn != to && turn != from) {
      AddCorner(turn, corners);
    }
    AddCorner(from, corners);
  }
  std::reverse(corners.begin(), corners.end());
}

void TraceLines(Cell end, const NodeTable& nodes, std::vector<Cell>& points) {
  points.push_back(end);
  for (NodeIndex node = nodes.Find(end); HasParent(nodes, node); node = nodes[node].parent) {
    points.push_back(Unpack(nodes[nodes[node].parent].cell));
  }
  std::reverse(points.begin(), points.end());
}

std::vector<Cell> CornersOf(absl::Span<const Cell> cells) {
  std::vector<Cell> corners;
  for (const Cell cell : cells) {
    AddCorner(cell, corners);
  }
  return corners;
}

void ExpandCells(absl::Span<const Cell> corners, std::vector<Cell>& cells) {
  cells.push_back(corners.front());
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const Run run(corners[i - 1], corners[i]);
    for (int k = 0; k < run.length; ++k) {
      const Cell last = cells.back();
      cells.push_back({last.x + run.step.x, last.y + run.step.y});
    }
  }
}

void ExpandDirections(absl::Span<const Cell> corners, std::vector<Direction>& directions) {
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const Run run(corners[i - 1], corners[i]);
    directions.insert(directions.end(), static_cast<std::size_t>(run.length), DirectionOf(run.step));
  }
}

double CostOf(const GridMap& map, int footprint, absl::Span<const Cell> corners, bool enters_impassable) {
  if (map.HasUniformCost() && !enters_impassable) {
    return CostOnUniform(map, corners);
  }
  StepSum sum(map);
  DearestOnPath dearest(map, footprint);
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const Run run(corners[i - 1], corners[i]);
    const Direction direction = DirectionOf(run.step);
    Cell cell = corners[i - 1];
    for (int k = 0; k < run.length; ++k) {
      cell = {cell.x + run.step.x, cell.y + run.step.y};
      sum.Add(dearest.Under(cell), direction);
    }
  }
  return sum.Total();
}

void WritePathForm(const GridMap& map, const WalkGrid& walk, const PathQuery& query, Scratch& scratch,
                   PathResult& result) {
  const std::vector<Cell>& corners = scratch.corners();
  result.cost = CostOf(map, query.footprint, corners);
  switch (query.path_form) {
    case PathForm::kEveryCell:
      ExpandCells(corners, scratch.points());
      result.points = scratch.points();
      break;
    case PathForm::kCorners:
      result.points = corners;
      break;
    case PathForm::kDirections:
      ExpandDirections(corners, scratch.directions());
      result.directions = scratch.directions();
      break;
    case PathForm::kSmoothed:
      ExpandCells(corners, scratch.points());
      WriteSmoothed(map, walk, query, scratch.points(), result);
      break;
  }
}

void WriteSmoothed(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                   std::vector<Cell>& points, PathResult& result) {
  DearestOnPath dearest(map, query.footprint);
  Smooth(dearest, walk, LineRule(map.settings().connectivity, query.corner_rule), points);
  result.points = points;
  result.cost = PolylineCost(dearest, points);
}

namespace {

class Summarizer {
 public:
  Summarizer(const GridMap& map, int footprint)
      : map_(map), lattice_(map.lattice()), dearest_(map, footprint) {}

  void AddSteps(Cell from, Cell to) {
    AddDirection(from, to);
    ForEachStepOnLine(from, to, [&](Cell cell, Cell next) {
      const bool is_diagonal = lattice_ == Lattice::kSquare && cell.x != next.x && cell.y != next.y;
      const Cell paying = dearest_.Under(next);
      const double cost = CostAt(paying) * (is_diagonal ? map_.settings().diagonal_cost : 1.0);
      AddPart(paying, 1, is_diagonal ? kSqrt2 : 1.0, cost);
      return true;
    });
  }

  void AddLine(Cell from, Cell to) {
    AddDirection(from, to);
    const double length = std::sqrt(static_cast<double>(SquaredDistance(lattice_, from, to)));
    if (lattice_ == Lattice::kHexagonal) {
      for (const HexPart& part : HexPartsOf(from, to)) {
        const double of_part = length * part.share;
        AddLinePart(part.cell, part.cell == from ? 0 : 1, of_part);
      }
      return;
    }
    ForEachPartOfLine(from, to, [&](Cell cell, std::int64_t part, std::int64_t whole) {
      const double of_part = length * (static_cast<double>(part) / static_cast<double>(whole));
      AddLinePart(cell, cell == from ? 0 : 1, of_part);
    });
  }

  PathSummary Finish() && { return std::move(summary_); }

 private:
  double CostAt(Cell cell) const { return CostToDouble(map_.StraightCost(cell)); }

  void AddDirection(Cell from, Cell to) {
    const std::int64_t dx = to.x - from.x;
    const std::int64_t dy = to.y - from.y;
    if (dx == 0 && dy == 0) {
      return;
    }
    const bool goes_on = dx * last_dy_ == dy * last_dx_ && dx * last_dx_ + dy * last_dy_ > 0;
    if (has_direction_ && !goes_on) {
      ++summary_.turns;
    }
    has_direction_ = true;
    last_dx_ = dx;
    last_dy_ = dy;
  }

  void AddLinePart(Cell cell, int cells, double length) {
    const Cell paying = dearest_.Under(cell);
    AddPart(paying, cells, length, length * CostAt(paying));
  }

  void AddPart(Cell cell, int cells, double length, double cost) {
    const TerrainId terrain = map_.TerrainAt(cell);
    if (summary_.legs.empty() || summary_.legs.back().terrain != terrain) {
      summary_.legs.push_back({.terrain = terrain});
    }
    PathLeg& leg = summary_.legs.back();
    leg.cells += cells;
    leg.length += length;
    leg.cost += cost;
    summary_.length += length;
  }

  const GridMap& map_;
  const Lattice lattice_;
  DearestOnPath dearest_;
  PathSummary summary_;
  bool has_direction_ = false;
  std::int64_t last_dx_ = 0;
  std::int64_t last_dy_ = 0;
};

}  // namespace

PathSummary Summarize(const GridMap& map, const PathQuery& query, const PathResult& result) {
  Summarizer summarizer(map, query.footprint);
  const bool is_lines =
      query.path_form == PathForm::kSmoothed || result.statistics.algorithm == Algorithm::kLazyThetaStar;
  for (std::size_t i = 1; i < result.points.size(); ++i) {
    if (is_lines) {
      summarizer.AddLine(result.points[i - 1], result.points[i]);
    } else {
      summarizer.AddSteps(result.points[i - 1], result.points[i]);
    }
  }
  Cell at = query.start;
  for (const Direction direction : result.directions) {
    const Cell next = Step(at, direction);
    summarizer.AddSteps(at, next);
    at = next;
  }
  return std::move(summarizer).Finish();
}

namespace {

// Returns true if p lies on the segment from a to b.
bool LiesBetween(Cell a, Cell p, Cell b) {
  const std::int64_t ax = a.x - p.x;
  const std::int64_t ay = a.y - p.y;
  const std::int64_t bx = b.x - p.x;
  const std::int64_t by = b.y - p.y;
  return ax * by == ay * bx && ax * bx + ay * by <= 0;
}

class String {
 public:
  String(DearestOnPath& dearest, const WalkGrid& walk, SightRule rule, std::vector<Cell>& points)
      : dearest_(dearest),
        walk_(walk),
        rule_(rule),
        is_uniform_(dearest.map().HasUniformCost()),
        points_(points) {}

  void Tauten() {
    LeaveOut();
    for (bool goes_on = is_uniform_; goes_on;) {
      goes_on = Pull();
      LeaveOut();
    }
  }

 private:
  // Minimum relative shortening of the string for another round of pulling.
  static constexpr double kWorthwhile = 1e-4;
  // Maximum number of points removed at once around a corner.
  static constexpr std::size_t kMostAtOnce = 4;
  static constexpr int kLongestPull = 16;
  // Minimum gain of moving a point: more than rounding errors, so that moves cannot cycle.
  static constexpr double kMinGain = 1e-6;

  double Distance(Cell a, Cell b) const {
    return std::sqrt(static_cast<double>(SquaredDistance(rule_.lattice, a, b)));
  }

  bool Sees(Cell a, Cell b) const { return HasLineOfSight(walk_, rule_, a, b); }

  // Returns true if a point may be removed. If it is on the line, the line crosses the same cells; sight and
  // cost are then not checked, because the cost check could fail by rounding.
  bool CanLeaveOut(Cell before, Cell point, Cell after) const {
    return LiesBetween(before, point, after) ||
           (Sees(before, after) &&
            (is_uniform_ || LineCost(dearest_, before, after) <=
                                LineCost(dearest_, before, point) + LineCost(dearest_, point, after)));
  }

  void LeaveOut() {
    // Makes lines grow evenly. On open ground the second pass alone would check each later point from the
    // first one, in time quadratic in the length.
    for (std::size_t size = points_.size(); LeaveOutEveryOther() > size / 8;) {
      size = points_.size();
    }
    LeaveOutTheRest();
  }

  // Replaces pairs of lines by one line where allowed. Returns the number of points removed.
  std::size_t LeaveOutEveryOther() {
    const std::size_t size = points_.size();
    std::size_t kept = 1;
    std::size_t i = 1;
    while (i + 1 < size) {
      if (CanLeaveOut(points_[kept - 1], points_[i], points_[i + 1])) {
        ++i;
      }
      points_[kept++] = points_[i++];
    }
    if (i < size) {
      points_[kept++] = points_[i];
    }
    points_.resize(kept);
    return size - kept;
  }

  // Removes points until none can be removed. Invariant: none of the points kept so far can be.
  void LeaveOutTheRest() {
    std::size_t kept = 1;
    for (std::size_t i = 1; i < points_.size(); ++i) {
      const Cell next = points_[i];
      for (std::size_t count = 1; count < kept && count <= kMostAtOnce;) {
        const bool can_leave_out = count == 1 ? CanLeaveOut(points_[kept - 2], points_[kept - 1], next)
                                              : CanLeaveOut(kept, count, next);
        kept -= can_leave_out ? count : 0;
        count = can_leave_out ? 1 : count + 1;
      }
      points_[kept++] = next;
    }
    points_.resize(kept);
  }

  // Returns true if `next` may directly follow the kept points without the last `count`.
  bool CanLeaveOut(std::size_t kept, std::size_t count, Cell next) const {
    const Cell before = points_[kept - count - 1];
    if (!Sees(before, next)) {
      return false;
    }
    if (is_uniform_) {
      return true;
    }
    const absl::Span<const Cell> piece = absl::MakeConstSpan(points_).subspan(kept - count - 1, count + 1);
    return LineCost(dearest_, before, next) <=
           PolylineCost(dearest_, piece) + LineCost(dearest_, piece.back(), next);
  }

  // Moves each inner point to shorten the lines to its neighbours. Returns true if another round is
  // worthwhile.
  bool Pull() {
    double length = 0.0;
    double gain = 0.0;
    for (std::size_t i = 1; i + 1 < points_.size(); ++i) {
      gain += PullPoint(points_[i - 1], points_[i], points_[i + 1]);
      length += Distance(points_[i - 1], points_[i]);
    }
    return gain > kWorthwhile * length;
  }

  // Moves a point to shorten the lines to its neighbours. Returns the amount by which they became shorter.
  double PullPoint(Cell before, Cell& point, Cell after) const {
    const double length_before = Distance(before, point) + Distance(point, after);
    double length = length_before;
    for (int pull = kLongestPull; pull > 0; pull /= 2) {
      for (const Cell step : kSteps) {
        while (true) {
          const Cell moved = {point.x + pull * step.x, point.y + pull * step.y};
          const double moved_length = Distance(before, moved) + Distance(moved, after);
          if (moved_length > length - kMinGain || !walk_.IsWalkable(moved) || !Sees(before, moved) ||
              !Sees(moved, after)) {
            break;
          }
          point = moved;
          length = moved_length;
        }
      }
    }
    return length_before - length;
  }

  DearestOnPath& dearest_;
  const WalkGrid& walk_;
  const SightRule rule_;
  const bool is_uniform_;
  std::vector<Cell>& points_;
};

}  // namespace

double PolylineCost(DearestOnPath& dearest, absl::Span<const Cell> points) {
  double cost = 0.0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    cost += LineCost(dearest, points[i - 1], points[i]);
  }
  return cost;
}

void Smooth(DearestOnPath& dearest, const WalkGrid& walk, SightRule rule, std::vector<Cell>& points) {
  if (points.size() > 2) {
    String(dearest, walk, rule, points).Tauten();
  }
}

}  // namespace waystar::core
