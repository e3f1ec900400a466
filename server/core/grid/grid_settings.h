// Settings of a grid: connectivity, diagonal cost and terrains, and the step costs that they imply.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/core/grid/cost.h"
#include "server/core/grid/world_frame.h"

namespace waystar::core {

// The longest side a map may have.
inline constexpr int kMaxMapSide = 8192;

enum class Connectivity : std::uint8_t {
  kFour,
  kEight,
  // Hexagons with axial coordinates; see lattice.h. All of their steps count as straight.
  kSix,
};

// A class of cells that cost the same to enter.
struct Terrain {
  char symbol = '.';
  std::string name = "ground";
  // The cost of a straight step into such a cell, from kMinTerrainCost to kMaxTerrainCost.
  double cost = 1.0;
  // If true, no step may enter such a cell.
  bool impassable = false;

  friend bool operator==(const Terrain&, const Terrain&) = default;
};

// An index into GridSettings::terrains.
using TerrainId = std::uint8_t;
inline constexpr std::size_t kMaxTerrains = 128;
inline constexpr std::size_t kMaxTerrainNameBytes = 63;
inline constexpr std::size_t kMaxWorldBytes = 63;

// The symbol that obstacles are written as. On input the others of this list mean obstacles as well.
inline constexpr char kObstacleSymbol = '#';
constexpr bool IsObstacleSymbol(char symbol) { return symbol == '#' || symbol == '@' || symbol == 'O'; }

struct GridSettings {
  Connectivity connectivity = Connectivity::kEight;
  // The cost of a diagonal step as a multiple of a straight one, from 1 to 2. It is 1 with kSix.
  double diagonal_cost = kSqrt2;
  // The first terrain is the ground below obstacles.
  std::vector<Terrain> terrains = {Terrain{}};
  // Portals stay within one world. It has up to kMaxWorldBytes printable ASCII characters without spaces.
  std::string world;
  // The frame has hexagons if, and only if, the connectivity is kSix.
  WorldFrame frame;

  friend bool operator==(const GridSettings&, const GridSettings&) = default;
};

// Returns INVALID_ARGUMENT / BAD_VALUE or BAD_TERRAIN, with a field such as "squares.diagonal_cost", "world"
// or "terrains[i].cost", if a value is out of its range or two terrains share a symbol, and the errors of
// CheckWorldFrame.
absl::Status CheckGridSettings(const GridSettings& settings);

// Returns the index of the terrain with that symbol, or settings.terrains.size() if there is none.
std::size_t TerrainOf(char symbol, const GridSettings& settings);

// Returns the cost of a diagonal step into a cell, given that of a straight one. It starts from the rounded
// cost, so that a diagonal never costs more than the two straight steps it replaces: the consistency of the
// heuristic rests on that. The result grows with `straight`.
Cost DiagonalCost(Cost straight, double diagonal_cost);

// Costs of single steps, by the terrain that is entered.
struct StepCosts {
  explicit StepCosts(const GridSettings& settings);

  std::array<Cost, kMaxTerrains> straight{};
  std::array<Cost, kMaxTerrains> diagonal{};
  std::array<bool, kMaxTerrains> passable{};
  // The least costs of steps into passable terrain, which a heuristic may count on.
  Cost min_straight = kCostScale;
  Cost min_diagonal = kCostScale;
  // True if all passable terrains cost the same.
  bool uniform = true;
};

}  // namespace waystar::core
