// Grid settings (connectivity, diagonal cost and terrains) and the step costs that they imply.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Fixed-point cost in units of 1 / kCostScale. Integer sums are exact and independent of order, so equal
// costs compare equal on every machine. The unit is decimal: costs that people write (1.4, 0.5, 3) have no
// rounding error, and the square root of 2 has an error of 2e-9. Cannot overflow: the most expensive path on
// the largest map (2^26 cells, each entered once at most 2 * kMaxTerrainCost) stays below 2^63. No cell of a
// cheapest path is adjacent to a third cell of the path, so a path enters at most two thirds of the cells.
using Cost = std::int64_t;

inline constexpr Cost kCostScale = 100'000'000;
inline constexpr double kMinTerrainCost = 0.001;
inline constexpr double kMaxTerrainCost = 1000.0;
inline constexpr double kSqrt2 = 1.4142135623730951;

inline Cost CostFromDouble(double cost) {
  return static_cast<Cost>(std::llround(cost * static_cast<double>(kCostScale)));
}

inline double CostToDouble(Cost cost) { return static_cast<double>(cost) / static_cast<double>(kCostScale); }

// Maximum side of a map, in cells.
inline constexpr int kMaxMapSide = 8192;

enum class Connectivity : std::uint8_t {
  kFour,
  kEight,
  // Hexagons with axial coordinates; see Lattice. All steps count as straight.
  kSix,
};

struct Terrain {
  char symbol = '.';
  std::string name = "ground";
  // Cost of a straight step into the cell, from kMinTerrainCost to kMaxTerrainCost.
  double cost = 1.0;
  // If true, the cell cannot be entered.
  bool impassable = false;

  friend bool operator==(const Terrain&, const Terrain&) = default;
};

// Index into GridSettings::terrains.
using TerrainId = std::uint8_t;
inline constexpr std::size_t kMaxTerrains = 128;
inline constexpr std::size_t kMaxTerrainNameBytes = 63;
inline constexpr std::size_t kMaxWorldBytes = 63;

// Symbol written for obstacles. IsObstacleSymbol lists all symbols accepted on input.
inline constexpr char kObstacleSymbol = '#';
constexpr bool IsObstacleSymbol(char symbol) { return symbol == '#' || symbol == '@' || symbol == 'O'; }

struct GridSettings {
  Connectivity connectivity = Connectivity::kEight;
  // Cost of a diagonal step as a multiple of a straight one, from 1 to 2; 1 with kSix.
  double diagonal_cost = kSqrt2;
  // The first terrain is the ground below obstacles.
  std::vector<Terrain> terrains = {Terrain{}};
  // World of the map; portals only connect maps of one world. At most kMaxWorldBytes printable ASCII
  // characters without spaces.
  std::string world;
  // Has hexagons if and only if the connectivity is kSix.
  WorldFrame frame;

  friend bool operator==(const GridSettings&, const GridSettings&) = default;
};

// Returns INVALID_ARGUMENT / BAD_VALUE or BAD_TERRAIN, with a field such as "squares.diagonal_cost", "world"
// or "terrains[i].cost", if a value is out of range or two terrains share a symbol. Returns the errors of
// CheckWorldFrame.
absl::Status CheckGridSettings(const GridSettings& settings);

// Returns the index of the terrain with that symbol, or settings.terrains.size() if there is none.
std::size_t TerrainOf(char symbol, const GridSettings& settings);

// Returns the cost of a diagonal step into a cell, given the rounded cost of a straight one. It is at most
// twice `straight`, which the consistency of the heuristic requires, and is monotonic in `straight`.
Cost DiagonalCost(Cost straight, double diagonal_cost);

// Costs of single steps, by the terrain that is entered.
struct StepCosts {
  explicit StepCosts(const GridSettings& settings);

  std::array<Cost, kMaxTerrains> straight{};
  std::array<Cost, kMaxTerrains> diagonal{};
  std::array<bool, kMaxTerrains> passable{};
  // Minimum costs of steps into passable terrain, for heuristics.
  Cost min_straight = kCostScale;
  Cost min_diagonal = kCostScale;
  // True if all passable terrains cost the same.
  bool uniform = true;
};

// Lattice of a map's cells. Hexagons have axial coordinates: the neighbours of (x, y) are (x + 1, y), (x - 1,
// y), (x, y + 1), (x, y - 1), (x + 1, y - 1) and (x - 1, y + 1), in either orientation. A plane of hexagons
// is therefore a plane of squares with two of the four diagonal steps.
enum class Lattice : std::uint8_t { kSquare, kHexagonal };

constexpr Lattice LatticeOf(Connectivity connectivity) {
  return connectivity == Connectivity::kSix ? Lattice::kHexagonal : Lattice::kSquare;
}

// Returns the squared distance between the centres of two cells that lie (dx, dy) apart, in units of the
// distance between two neighbours. Exact for all map sizes.
constexpr std::int64_t SquaredLength(Lattice lattice, std::int64_t dx, std::int64_t dy) {
  return dx * dx + dy * dy + (lattice == Lattice::kHexagonal ? dx * dy : 0);
}

constexpr std::int64_t SquaredDistance(Lattice lattice, Cell a, Cell b) {
  return SquaredLength(lattice, a.x - b.x, a.y - b.y);
}

// Condition for a diagonal step on the two cells adjacent to both of its ends.
enum class CornerRule : std::uint8_t {
  // Both must be walkable.
  kNoCornerCutting,
  // At least one must be walkable.
  kOneSideFree,
  // Neither needs to be walkable.
  kAlways,
};

inline constexpr int kCornerRuleCount = 3;

// Returns true if the rule allows a diagonal step, given whether the two cells beside it are walkable.
constexpr bool MayPassCorner(CornerRule rule, bool one_side, bool other_side) {
  switch (rule) {
    case CornerRule::kNoCornerCutting:
      return one_side && other_side;
    case CornerRule::kOneSideFree:
      return one_side || other_side;
    case CornerRule::kAlways:
      return true;
  }
  return false;
}

}  // namespace waystar::core
