// The maps and scenarios of the Moving AI benchmark, where a copy of them is at hand.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"

namespace waystar::testing {

struct Scenario {
  core::Cell start;
  core::Cell goal;
  double optimal_length = 0.0;
  // By how much the file's length may be off, for the digits it was written with.
  double tolerance = 0.0;
};

struct MovingAiMap {
  std::filesystem::path path;
  // "dao/arena2".
  std::string name;
};

// Ends a run whose data cannot be read.
[[noreturn]] void Die(const std::filesystem::path& path, const std::string& why);

// Returns the folder named by WAYSTAR_DATA, or nothing.
std::optional<std::filesystem::path> DataFolder();

// Finds all maps of the folder's movingai/ that have scenarios, in the order of their names.
std::vector<MovingAiMap> FindMovingAiMaps(const std::filesystem::path& data_folder);

// Loads a map. Failures to read end the program with a message: the data is taken to be whole.
core::GridMap LoadMovingAiMap(const MovingAiMap& map);
// Loads the map with swamp at cost 1.5 and water, which is passable here, at cost 2. The scenarios' lengths
// do not hold for it.
core::GridMap LoadWeightedMovingAiMap(const MovingAiMap& map);
std::vector<Scenario> LoadScenarios(const MovingAiMap& map);

}  // namespace waystar::testing
