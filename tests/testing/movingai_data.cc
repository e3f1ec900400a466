#include "tests/testing/movingai_data.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "server/formats/text/grid_overrides.h"
#include "server/formats/text/moving_ai.h"

namespace waystar::testing {
namespace {

// Lengths have 6 significant digits, those of bg512 two decimals; half a unit of the last one, and a little
// for the single precision they were computed in.
double ToleranceOf(const std::string& map_name, double length) {
  if (absl::StartsWith(map_name, "bg512/")) {
    return 0.01;
  }
  return length < 1'000 ? 0.00051 : length < 10'000 ? 0.0051 : 0.051;
}

core::GridMap Load(const MovingAiMap& map, const core::GridOverrides& overrides) {
  std::ifstream file(map.path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  absl::StatusOr<core::GridMap> grid = core::ParseMovingAi(bytes, overrides);
  if (!grid.ok()) {
    Die(map.path, grid.status().ToString());
  }
  return *std::move(grid);
}

}  // namespace

void Die(const std::filesystem::path& path, const std::string& why) {
  std::cerr << path << ": " << why << "\n";
  std::exit(1);
}

std::optional<std::filesystem::path> DataFolder() {
  const char* folder = std::getenv("WAYSTAR_DATA");
  if (folder == nullptr || *folder == '\0') {
    return std::nullopt;
  }
  return folder;
}

std::vector<MovingAiMap> FindMovingAiMaps(const std::filesystem::path& data_folder) {
  const std::filesystem::path root = data_folder / "movingai";
  std::vector<MovingAiMap> maps;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    std::filesystem::path scenarios = entry.path();
    scenarios += ".scen";
    if (entry.path().extension() == ".map" && std::filesystem::exists(scenarios)) {
      std::filesystem::path name = std::filesystem::relative(entry.path(), root);
      maps.push_back({.path = entry.path(), .name = name.replace_extension().string()});
    }
  }
  std::sort(maps.begin(), maps.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return maps;
}

core::GridMap LoadMovingAiMap(const MovingAiMap& map) { return Load(map, {}); }

core::GridMap LoadWeightedMovingAiMap(const MovingAiMap& map) {
  return Load(
      map, {.terrains = {{.symbol = 'S', .cost = 1.5}, {.symbol = 'W', .cost = 2.0, .impassable = false}}});
}

std::vector<Scenario> LoadScenarios(const MovingAiMap& map) {
  std::filesystem::path path = map.path;
  path += ".scen";
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  if (!absl::StartsWith(line, "version")) {
    Die(path, "no version line");
  }
  std::vector<Scenario> scenarios;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    int bucket = 0;
    std::string map_file;
    int width = 0;
    int height = 0;
    Scenario scenario;
    if (words >> bucket >> map_file >> width >> height >> scenario.start.x >> scenario.start.y >>
        scenario.goal.x >> scenario.goal.y >> scenario.optimal_length) {
      scenario.tolerance = ToleranceOf(map.name, scenario.optimal_length);
      scenarios.push_back(scenario);
    } else if (line.find_first_not_of(" \t\r") != std::string::npos) {
      Die(path, "not a scenario: " + line);
    }
  }
  return scenarios;
}

}  // namespace waystar::testing
