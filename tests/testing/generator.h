// Maps made at random, from a seed.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "server/core/map/cell.h"
#include "server/core/map/edit.h"
#include "server/core/map/grid_map.h"

namespace waystar::testing {

struct MapSpec {
  int max_side = 40;
  bool weighted = false;
  core::Connectivity connectivity = core::Connectivity::kEight;
};

// A source of random maps, cells and edits. The same seed gives the same ones with every standard library.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  // From `low` to `high`, both included.
  int Between(int low, int high);
  bool Chance(double probability);

  // Noise, rooms with doors, or a maze, of random density; sides around multiples of 64 are as likely as
  // others where max_side allows. A weighted map has terrains of cost 0.5 to 7.25 and an impassable one.
  core::GridMap Map(const MapSpec& spec);

  core::Cell CellOf(const core::GridMap& map);
  // Walkable if the map has such a cell, found by trying.
  core::Cell WalkableCellOf(const core::GridMap& map);

  std::vector<core::Edit> Edits(const core::GridMap& map, int count);

 private:
  void Noise(core::GridMap& map);
  void Rooms(core::GridMap& map);
  void Maze(core::GridMap& map);
  void PaintTerrain(core::GridMap& map);

  std::mt19937_64 random_;
};

}  // namespace waystar::testing
