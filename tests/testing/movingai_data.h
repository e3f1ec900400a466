// The maps and scenarios of the Moving AI benchmark and the traces of a competition, where a copy of them is
// at hand.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "server/core/edit/edit.h"
#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"

namespace waystar {

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

// The traces of the Grid-Based Path Planning Competition's dynamic track: maps that change between queries.
//
// A trace is a .scen file and a .patch file. The first says
//
//   version 2
//   height 209
//   width 281
//   cost 1 octile
//   patch dao_arena2.patch
//   commands
//   P <stage> <patch> <x> <y>
//   Q <stage> <start x> <start y> <goal x> <goal y> <length>
//
// and the second holds patches, numbered from 0, each a picture as in a .map file. The map starts free of
// obstacles. A patch with its top left cell at (x, y) overwrites what it covers: '@' puts an obstacle, '.'
// takes it off. A run of P lines is one change. The length is that of an optimal path without corner cutting,
// a diagonal step being sqrt(2); -1 stands for no path.
struct TraceQuery {
  core::Cell start;
  core::Cell goal;
  // The optimal length. Nothing where no path leads to the goal.
  std::optional<double> length;
};

// Stage: one change, and the queries that follow it.
struct TraceStage {
  // Each patch, as the edits that apply it. There is none in the first stage of a trace that starts with
  // queries.
  std::vector<std::vector<core::Edit>> patches;
  std::vector<TraceQuery> queries;

  // Returns the edits of all patches in order, for one batch.
  std::vector<core::Edit> Edits() const;
};

struct GppcTrace {
  int width = 0;
  int height = 0;
  std::vector<TraceStage> stages;

  core::GridMap EmptyMap() const;
};

// By how much a trace's lengths may be off: half a unit of the last digit they are written with.
inline constexpr double kTraceTolerance = 1e-6;

// Loads a trace. Failures to read end the program with a message: the data is taken to be whole.
GppcTrace LoadGppcTrace(const std::filesystem::path& path);

}  // namespace waystar
