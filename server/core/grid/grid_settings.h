// What makes a grid beyond its cells: connectivity, diagonal cost, terrains, and the step costs they imply.
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
  // Hexagons, by axial coordinates: see lattice.h. Their steps all count as straight ones.
  kSix,
};

// A class of cells that cost the same.
struct Terrain {
  char symbol = '.';
  std::string name = "ground";
  // Of a straight step into such a cell, from kMinTerrainCost to kMaxTerrainCost.
  double cost = 1.0;
  // No step may enter such a cell.
  bool impassable = false;

  friend bool operator==(const Terrain&, const Terrain&) = default;
};

// Index into GridSettings::terrains.
using TerrainId = std::uint8_t;
inline constexpr std::size_t kMaxTerrains = 128;
inline constexpr std::size_t kMaxTerrainNameBytes = 63;
inline constexpr std::size_t kMaxWorldBytes = 63;

// Draws an obstacle; the others of this list are read as one as well.
inline constexpr char kObstacleSymbol = '#';
constexpr bool IsObstacleSymbol(char symbol) { return symbol == '#' || symbol == '@' || symbol == 'O'; }

struct GridSettings {
  Connectivity connectivity = Connectivity::kEight;
  // Of a diagonal step, as a multiple of a straight one; from 1 to 2. With kSix 1.
  double diagonal_cost = kSqrt2;
  // The first is the ground below obstacles.
  std::vector<Terrain> terrains = {Terrain{}};
  // Portals lead to maps of the same world. Up to kMaxWorldBytes printable ASCII characters without spaces.
  std::string world;
  // Its hexagons are there exactly with kSix.
  WorldFrame frame;

  friend bool operator==(const GridSettings&, const GridSettings&) = default;
};

// INVALID_ARGUMENT / BAD_VALUE or BAD_TERRAIN, with the field "diagonal_cost", "world" or "terrains[i].cost"
// and so on, if a value is out of its range or two terrains share a symbol; the errors of CheckWorldFrame.
absl::Status CheckGridSettings(const GridSettings& settings);

// What a diagonal step into a cell costs, given what a straight one does. From the rounded cost, so that a
// diagonal never costs more than the two straight steps it replaces: the heuristic's consistency rests on
// that. Grows with `straight`.
Cost DiagonalCost(Cost straight, double diagonal_cost);

// The costs of single steps, by the terrain that is entered.
struct StepCosts {
  explicit StepCosts(const GridSettings& settings);

  std::array<Cost, kMaxTerrains> straight{};
  std::array<Cost, kMaxTerrains> diagonal{};
  std::array<bool, kMaxTerrains> passable{};
  // Of the passable terrains; what a heuristic may count on.
  Cost min_straight = kCostScale;
  Cost min_diagonal = kCostScale;
  // All passable terrains cost the same.
  bool uniform = true;
};

}  // namespace waystar::core
