#include "server/core/grid/path/line_of_sight.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "absl/numeric/int128.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/bit_scan.h"
#include "server/core/grid/cells/cost.h"
#include "server/core/grid/map/cell_costs.h"
#include "server/core/grid/path/line_steps.h"
#include "server/core/grid/shapes/hex_line.h"

namespace waystar::core {
namespace {

// Returns the cost of a straight step into a cell with costs of its own, else 0.
Cost OwnCost(const GridMap& map, Cell cell) {
  return map.cell_costs() == nullptr ? 0 : map.cell_costs()->At(cell).straight;
}

bool HasHexLineOfSight(const WalkGrid& walk, Cell from, Cell to) {
  const HexLine line(from, to);
  for (int y = line.first_row(); y <= line.last_row(); ++y) {
    const HexLine::Run run = line.InRow(y);
    // Cells outside the map are blocked.
    if (run.first < 0 || run.last >= walk.width() || !AreSet(walk.Row(y), run.first, run.last)) {
      return false;
    }
  }
  return true;
}

// Returns the cost of a line over hexagons.
double HexLineCost(DearestOnPath& dearest, Cell from, Cell to, double length) {
  double cost = 0.0;
  double shares = 0.0;
  for (const HexPart& part : HexPartsOf(std::min(from, to, RowMajorLess), std::max(from, to, RowMajorLess))) {
    cost += part.share * CostToDouble(dearest.map().StraightCost(dearest.Under(part.cell)));
    shares += part.share;
  }
  return length * (cost / shares);
}

}  // namespace

bool HasLineOfSight(const WalkGrid& walk, SightRule rule, Cell from, Cell to) {
  if (rule.lattice == Lattice::kHexagonal) {
    return HasHexLineOfSight(walk, from, to);
  }
  // Exchanges x and y of steep segments, and orients the segment to the right.
  const bool is_steep = std::abs(to.y - from.y) > std::abs(to.x - from.x);
  const BitPlane& plane = is_steep ? walk.columns() : walk.rows();
  if (is_steep) {
    std::swap(from.x, from.y);
    std::swap(to.x, to.y);
  }
  if (from.x > to.x) {
    std::swap(from, to);
  }
  const Word* row = plane.row(from.y);
  const int along = to.x - from.x;
  const int across = std::abs(to.y - from.y);
  if (across == 0) {
    return AreSet(row, from.x, to.x);
  }

  // The segment leaves the k-th row at x = (2k + 1) * along / (2 * across). Half a cell further right,
  // rounded down, is the first cell of the next row; a remainder of 0 is a point where four cells meet.
  const int unit = 2 * across;
  const int step = to.y > from.y ? 1 : -1;
  int next_first = from.x + (along + across) / unit;
  int remainder = (along + across) % unit;
  int first = from.x;
  for (int y = from.y; y != to.y;) {
    const bool at_corner = remainder == 0;
    y += step;
    const Word* next_row = plane.row(y);
    if (!AreSet(row, first, at_corner ? next_first - 1 : next_first) ||
        (at_corner &&
         !MayPassCorner(rule.corner, TestBit(row, next_first), TestBit(next_row, next_first - 1)))) {
      return false;
    }
    first = next_first;
    row = next_row;
    next_first += along / across;
    remainder += 2 * (along % across);
    if (remainder >= unit) {
      remainder -= unit;
      ++next_first;
    }
  }
  return AreSet(row, first, to.x);
}

double LineCost(DearestOnPath& dearest, Cell from, Cell to) {
  const GridMap& map = dearest.map();
  const Lattice lattice = LatticeOf(map.settings().connectivity);
  const double length = std::sqrt(static_cast<double>(SquaredDistance(lattice, from, to)));
  if (map.HasUniformCost() || length == 0.0) {
    return length * map.settings().terrains[map.TerrainAt(from)].cost;
  }
  if (lattice == Lattice::kHexagonal) {
    return HexLineCost(dearest, from, to, length);
  }

  std::array<std::int64_t, kMaxTerrains> shares{};
  // Sum of share times cost over cells with costs of their own.
  absl::uint128 own_shares = 0;
  std::int64_t all = 0;
  ForEachPartOfLine(from, to, [&](Cell cell, std::int64_t part, std::int64_t whole) {
    all = whole;
    const Cell paying = dearest.Under(cell);
    if (const Cost own = OwnCost(map, paying); own != 0) {
      own_shares += absl::uint128{static_cast<std::uint64_t>(part)} * static_cast<std::uint64_t>(own);
    } else {
      shares[map.TerrainAt(paying)] += part;
    }
  });
  double weighted = static_cast<double>(own_shares) / static_cast<double>(kCostScale);
  for (std::size_t i = 0; i < map.settings().terrains.size(); ++i) {
    weighted += static_cast<double>(shares[i]) * map.settings().terrains[i].cost;
  }
  return length * (weighted / static_cast<double>(all));
}

}  // namespace waystar::core
