// Generator of random maps, cells and edits, from a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/core/edit/edit.h"
#include "server/core/elements/obstacle.h"
#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"
#include "tests/testing/random.h"

namespace waystar {

struct MapSpec {
  int max_side = 40;
  // The limit that keeps a map with one long side small, for tests that ask about every cell of it.
  int max_cells = core::kMaxMapSide * core::kMaxMapSide;
  bool weighted = false;
  core::Connectivity connectivity = core::Connectivity::kEight;
};

// The same seed gives the same maps, cells and edits with every standard library.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  // Returns a number from `low` to `high`, both included.
  int Between(int low, int high) { return random_.Between(low, high); }
  bool Chance(double probability) { return random_.Chance(probability); }

  // Makes a map of any of the layouts of layouts.h; noise, of any density, comes more often than the others.
  // Sides around multiples of 64 are as likely as others where max_side allows. A weighted map has terrains
  // of cost 0.5 to 7.25 and an impassable one.
  core::GridMap Map(const MapSpec& spec);

  // Returns the map with the costs of some single cells changed: rectangles of one cost, discs whose cost
  // falls off to the rim, and cells that get their terrain's cost back. Costs range from the least there is
  // to the highest.
  core::GridMap WithStepCostsChanged(const core::GridMap& map);

  core::Cell CellOf(const core::GridMap& map);
  // Returns a cell where an agent of that footprint can stand, if there is one, found by trying.
  core::Cell WalkableCellOf(const core::GridMap& map, int footprint = 1);

  // Returns edits that block or unblock cells and small rectangles, and that the map accepts.
  std::vector<core::Edit> Edits(const core::GridMap& map, int count);

  // Returns an obstacle of any shape and effect, of which not all need lie on the map.
  core::Obstacle ObstacleOf(const core::GridMap& map, std::string id);
  // Returns an edit of any kind and shape; those of named obstacles are of one of "o1" to "o6". The map may
  // refuse it.
  core::Edit AnyEdit(const core::GridMap& map);
  // Returns a batch of such edits that the map accepts.
  std::vector<core::Edit> AnyEdits(const core::GridMap& map, int count);

  // Puts the values in a random order.
  template <typename T>
  void Shuffle(std::vector<T>& values) {
    for (int i = static_cast<int>(values.size()) - 1; i > 0; --i) {
      std::swap(values[static_cast<std::size_t>(i)], values[static_cast<std::size_t>(Between(0, i))]);
    }
  }

 private:
  int Side(int longest);
  void LayObstacles(core::GridMap& map);
  void PaintTerrain(core::GridMap& map);

  Random random_;
};

// "Four", "Eight" or "Six".
inline const char* ConnectivityName(core::Connectivity connectivity) {
  switch (connectivity) {
    case core::Connectivity::kFour:
      return "Four";
    case core::Connectivity::kEight:
      return "Eight";
    case core::Connectivity::kSix:
      return "Six";
  }
  return "";
}

// Draws a connectivity: eight most often.
inline core::Connectivity AnyConnectivity(Generator& generator) {
  const int drawn = generator.Between(0, 9);
  return drawn < 2   ? core::Connectivity::kFour
         : drawn < 5 ? core::Connectivity::kSix
                     : core::Connectivity::kEight;
}

}  // namespace waystar
