// Maps made at random, from a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/core/edit/edit.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/obstacle.h"
#include "tests/testing/random.h"

namespace waystar::testing {

struct MapSpec {
  int max_side = 40;
  // Keeps a map with one long side small, for what asks about every cell of it.
  int max_cells = core::kMaxMapSide * core::kMaxMapSide;
  bool weighted = false;
  core::Connectivity connectivity = core::Connectivity::kEight;
};

// A source of random maps, cells and edits. The same seed gives the same ones with every standard library.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  // From `low` to `high`, both included.
  int Between(int low, int high) { return random_.Between(low, high); }
  bool Chance(double probability) { return random_.Chance(probability); }

  // Any of the layouts of layouts.h; noise, of any density, more often than the others. Sides around
  // multiples of 64 are as likely as others where max_side allows. A weighted map has terrains of cost 0.5
  // to 7.25 and an impassable one.
  core::GridMap Map(const MapSpec& spec);

  // The map with the costs of some single cells changed: rectangles of one cost, discs whose cost falls off
  // to the rim, cells that get their terrain's cost back. From the least cost there is to the highest.
  core::GridMap WithStepCostsChanged(const core::GridMap& map);

  core::Cell CellOf(const core::GridMap& map);
  // Where an agent of that footprint can stand if there is such a cell, found by trying.
  core::Cell WalkableCellOf(const core::GridMap& map, int footprint = 1);

  // Small cells and rectangles that are blocked or unblocked; the map accepts them.
  std::vector<core::Edit> Edits(const core::GridMap& map, int count);

  // Of any shape and effect; not all of it need lie on the map.
  core::Obstacle ObstacleOf(const core::GridMap& map, std::string id);
  // Of any kind and shape, those of named obstacles of one of "o1" to "o6". The map may refuse it.
  core::Edit AnyEdit(const core::GridMap& map);
  // A batch of such edits that the map accepts.
  std::vector<core::Edit> AnyEdits(const core::GridMap& map, int count);

  // In any order.
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

// Each of them is drawn now and then, eight most often.
inline core::Connectivity AnyConnectivity(Generator& generator) {
  const int drawn = generator.Between(0, 9);
  return drawn < 2   ? core::Connectivity::kFour
         : drawn < 5 ? core::Connectivity::kSix
                     : core::Connectivity::kEight;
}

}  // namespace waystar::testing
