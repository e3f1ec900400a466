#include "server/core/grid/path/summary.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "server/core/grid/cells/cost.h"
#include "server/core/grid/cells/lattice.h"
#include "server/core/grid/path/line_steps.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/grid/shapes/hex_line.h"

namespace waystar::core {
namespace {

class Summarizer {
 public:
  Summarizer(const GridMap& map, int footprint)
      : map_(map), lattice_(LatticeOf(map.settings().connectivity)), dearest_(map, footprint) {}

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

}  // namespace waystar::core
