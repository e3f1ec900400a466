// Grid settings (connectivity, diagonal cost and terrains) and the step costs that they imply.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/core/grid/cells/cost.h"
#include "server/core/grid/cells/world_frame.h"

namespace waystar::core {

// Maximum side of a map, in cells.
inline constexpr int kMaxMapSide = 8192;

enum class Connectivity : std::uint8_t {
  kFour,
  kEight,
  // Hexagons with axial coordinates; see lattice.h. All steps count as straight.
  kSix,
};

// A type of cell.
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

}  // namespace waystar::core
