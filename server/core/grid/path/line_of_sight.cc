#include "server/core/grid/path/line_of_sight.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/map/cell_costs.h"
#include "server/core/grid/shapes/hex_line.h"
#include "server/core/grid/walk/footprint_grids.h"

namespace waystar::core {
namespace {

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
  const Lattice lattice = map.lattice();
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
    if (const Cost own = map.OwnCosts(paying).straight; own != 0) {
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

namespace {

// Position along one axis in units of 1/65536 of a cell, shifted by half a cell so that borders are
// multiples.
using Place = std::int64_t;
constexpr Place kCellUnits = 65536;

Place ToPlace(double coordinate) { return std::llround(coordinate * kCellUnits) + kCellUnits / 2; }
double FromPlace(double place) { return (place - kCellUnits / 2.0) / kCellUnits; }
int CellAt(Place place) { return static_cast<int>(place >= 0 ? place / kCellUnits : -1); }

// Converts to units of 1/65536 of a cell; unlike ToPlace, without the shift by half a cell.
HexLine::Place HexPlaceOf(CellPoint position) {
  return {std::llround(position.x * kCellUnits), std::llround(position.y * kCellUnits)};
}

bool IsOnMap(const GridMap& map, CellPoint position) {
  if (map.lattice() == Lattice::kSquare) {
    return map.Contains({CellAt(ToPlace(position.x)), CellAt(ToPlace(position.y))});
  }
  const HexLine::Place place = HexPlaceOf(position);
  const HexParts touched = HexPartsOf(place, place, kCellUnits);
  return std::any_of(touched.begin(), touched.end(),
                     [&](const HexPart& part) { return map.Contains(part.cell); });
}

absl::Status CheckPosition(const GridMap& map, absl::string_view field, CellPoint position) {
  for (const auto& [name, value] : {std::pair{".x", position.x}, std::pair{".y", position.y}}) {
    if (!std::isfinite(value)) {
      return BadNumber(ErrorReason::kBadValue, absl::StrCat(field, name), value, "a finite number");
    }
  }
  // Checked before the conversion to integers, which could overflow.
  const bool is_near = std::abs(position.x) <= 2.0 * kMaxMapSide && std::abs(position.y) <= 2.0 * kMaxMapSide;
  if (!is_near || !IsOnMap(map, position)) {
    return MakeError(ErrorReason::kOffMap, field,
                     absl::StrCat(field, " (", position.x, ", ", position.y, ") is off the map, which is ",
                                  map.width(), " x ", map.height(), " cells"));
  }
  return absl::OkStatus();
}

// Extent of a ray along one axis.
struct Axis {
  Axis(double start, double end) : from(ToPlace(start)), to(ToPlace(end)) {}

  int step() const { return to > from ? 1 : -1; }
  Place length() const { return std::abs(to - from); }
  // Returns the distance along the axis to the border at which the ray leaves the cell.
  Place WayOutOf(int cell) const {
    return to > from ? Place{cell + 1} * kCellUnits - from : from - Place{cell} * kCellUnits;
  }

  Place from;
  Place to;
};

class Ray {
 public:
  Ray(const WalkGrid& walk, SightRule rule, CellPoint from, CellPoint to)
      : walk_(walk), rule_(rule), x_(from.x, to.x), y_(from.y, to.y) {}

  RayHit Cast() const {
    Cell cell{CellAt(x_.from), CellAt(y_.from)};
    const Cell last{CellAt(x_.to), CellAt(y_.to)};
    if (!walk_.IsWalkable(cell)) {
      return HitAt(cell, std::nullopt, 0.0);
    }
    while (cell != last) {
      // Determines which border comes first; cross-multiplied, so that ties are exact.
      const bool may_cross_x = cell.x != last.x;
      const bool may_cross_y = cell.y != last.y;
      const Place across = may_cross_x ? x_.WayOutOf(cell.x) : 0;
      const Place along = may_cross_y ? y_.WayOutOf(cell.y) : 0;
      const Place to_column = across * y_.length();
      const Place to_row = along * x_.length();
      const bool crosses_x = may_cross_x && (!may_cross_y || to_column <= to_row);
      const bool crosses_y = may_cross_y && (!may_cross_x || to_row <= to_column);
      const double fraction = crosses_x ? static_cast<double>(across) / static_cast<double>(x_.length())
                                        : static_cast<double>(along) / static_cast<double>(y_.length());
      const Cell next{cell.x + (crosses_x ? x_.step() : 0), cell.y + (crosses_y ? y_.step() : 0)};
      if (!walk_.IsWalkable(next)) {
        return HitAt(next, cell, fraction);
      }
      if (crosses_x && crosses_y) {
        const Cell in_row{next.x, cell.y};
        const Cell in_column{cell.x, next.y};
        if (!MayPassCorner(rule_.corner, walk_.IsWalkable(in_row), walk_.IsWalkable(in_column))) {
          return HitAt(walk_.IsWalkable(in_row) ? in_column : in_row, cell, fraction);
        }
      }
      cell = next;
    }
    RayHit free = HitAt(last, last, 1.0);
    free.is_blocked = false;
    return free;
  }

 private:
  RayHit HitAt(Cell cell, std::optional<Cell> last_free, double fraction) const {
    const auto at = [&](const Axis& axis) {
      return FromPlace(static_cast<double>(axis.from) + fraction * static_cast<double>(axis.to - axis.from));
    };
    return {.is_blocked = true,
            .cell = cell,
            .last_free = last_free,
            .position = {at(x_), at(y_)},
            .fraction = fraction};
  }

  const WalkGrid& walk_;
  const SightRule rule_;
  const Axis x_;
  const Axis y_;
};

// Casts a ray over hexagons; it hits every hexagon that shares a point with it, even if only touched.
RayHit CastHexRay(const WalkGrid& walk, CellPoint from, CellPoint to) {
  const HexParts parts = HexPartsOf(HexPlaceOf(from), HexPlaceOf(to), kCellUnits);
  RayHit hit{.cell = parts.back().cell, .last_free = parts.back().cell, .position = to};
  std::optional<Cell> last_free;
  for (const HexPart& part : parts) {
    if (!walk.IsWalkable(part.cell)) {
      return {.is_blocked = true,
              .cell = part.cell,
              .last_free = part.entry > 0.0 ? last_free : std::nullopt,
              .position = {from.x + part.entry * (to.x - from.x), from.y + part.entry * (to.y - from.y)},
              .fraction = part.entry};
    }
    last_free = part.cell;
  }
  return hit;
}

}  // namespace

absl::StatusOr<RayHit> CastRay(const GridMap& map, const Agent& agent, CellPoint from, CellPoint to) {
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(agent.footprint));
  WAYSTAR_RETURN_IF_ERROR(CheckPosition(map, "from", from));
  WAYSTAR_RETURN_IF_ERROR(CheckPosition(map, "to", to));
  const std::shared_ptr<const WalkGrid> walk = map.walk(agent.footprint);
  if (map.lattice() == Lattice::kHexagonal) {
    return CastHexRay(*walk, from, to);
  }
  return Ray(*walk, LineRule(map.settings().connectivity, agent.corner_rule), from, to).Cast();
}

}  // namespace waystar::core
