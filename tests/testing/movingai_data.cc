#include "tests/testing/movingai_data.h"

#include <algorithm>
#include <cstddef>
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
#include "server/formats/text/rows.h"
#include "server/formats/text/text.h"

namespace waystar {
namespace {

// Ends a run whose data cannot be read.
[[noreturn]] void Die(const std::filesystem::path& path, const std::string& why) {
  std::cerr << path << ": " << why << "\n";
  std::exit(1);
}

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

namespace {

using core::Cell;
using core::Edit;
using core::Rectangle;

using Picture = std::vector<std::string>;

std::ifstream Open(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) {
    Die(path, "cannot be read");
  }
  return file;
}

std::vector<Picture> LoadPatches(const std::filesystem::path& path) {
  std::ifstream file = Open(path);
  std::vector<Picture> patches;
  std::string word;
  while (file >> word && word != "patches") {
  }
  std::size_t count = 0;
  file >> count;
  std::size_t number = 0;
  std::size_t height = 0;
  std::string names[4];
  std::size_t width = 0;
  while (file >> names[0] >> number >> names[1] >> height >> names[2] >> width >> names[3]) {
    if (number != patches.size() || names[1] != "height" || names[2] != "width" || names[3] != "map") {
      Die(path, "not the header of patch " + std::to_string(patches.size()));
    }
    Picture picture(height);
    for (std::string& row : picture) {
      if (!(file >> row) || row.size() != width || row.find_first_not_of(".@") != std::string::npos) {
        Die(path, "not a row of patch " + std::to_string(number));
      }
    }
    patches.push_back(std::move(picture));
  }
  if (patches.size() != count) {
    Die(path, "fewer or more patches than it says");
  }
  return patches;
}

// The runs of `symbol` in a picture's rows.
std::vector<Rectangle> RunsOf(char symbol, const Picture& picture, Cell top_left) {
  std::vector<Rectangle> runs;
  for (std::size_t y = 0; y < picture.size(); ++y) {
    const std::string& row = picture[y];
    for (std::size_t begin = row.find(symbol); begin != std::string::npos;) {
      const std::size_t end = std::min(row.find_first_not_of(symbol, begin), row.size());
      runs.push_back({top_left.x + static_cast<int>(begin), top_left.y + static_cast<int>(y),
                      static_cast<int>(end - begin), 1});
      begin = row.find(symbol, end);
    }
  }
  return runs;
}

std::vector<Edit> EditsOf(const Picture& picture, Cell top_left) {
  std::vector<Edit> edits;
  for (const char symbol : {'@', '.'}) {
    std::vector<Rectangle> runs = RunsOf(symbol, picture, top_left);
    if (!runs.empty()) {
      core::Shape shape{.rectangles = std::move(runs)};
      if (symbol == '@') {
        edits.emplace_back(core::BlockCells{std::move(shape)});
      } else {
        edits.emplace_back(core::UnblockCells{std::move(shape)});
      }
    }
  }
  return edits;
}

void ReadCommands(const std::filesystem::path& path, std::ifstream& file, const std::vector<Picture>& patches,
                  std::vector<TraceStage>& stages) {
  char command = 0;
  int stage = 0;
  bool was_query = true;
  while (file >> command >> stage) {
    const bool is_query = command == 'Q';
    if (stages.empty() || (was_query && !is_query)) {
      stages.emplace_back();
    }
    was_query = is_query;
    if (is_query) {
      TraceQuery query;
      double length = 0.0;
      file >> query.start.x >> query.start.y >> query.goal.x >> query.goal.y >> length;
      if (length >= 0.0) {
        query.length = length;
      }
      stages.back().queries.push_back(query);
    } else {
      std::size_t patch = 0;
      Cell top_left;
      file >> patch >> top_left.x >> top_left.y;
      if (command != 'P' || patch >= patches.size()) {
        Die(path, "not a command");
      }
      stages.back().patches.push_back(EditsOf(patches[patch], top_left));
    }
  }
  if (!file.eof()) {
    Die(path, "not a command");
  }
}

}  // namespace

std::vector<Edit> TraceStage::Edits() const {
  std::vector<Edit> all;
  for (const std::vector<Edit>& patch : patches) {
    all.insert(all.end(), patch.begin(), patch.end());
  }
  return all;
}

core::GridMap GppcTrace::EmptyMap() const { return *core::GridMap::Create(width, height, {}); }

GppcTrace LoadGppcTrace(const std::filesystem::path& path) {
  std::ifstream file = Open(path);
  GppcTrace trace;
  std::filesystem::path patches;
  for (std::string key; file >> key && key != "commands";) {
    std::string value;
    if (key == "width") {
      file >> trace.width;
    } else if (key == "height") {
      file >> trace.height;
    } else if (key == "patch") {
      file >> value;
      patches = path.parent_path() / value;
    } else {
      std::getline(file, value);
    }
  }
  ReadCommands(path, file, LoadPatches(patches), trace.stages);
  return trace;
}

}  // namespace waystar
