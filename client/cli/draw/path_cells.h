#pragma once

#include <string>
#include <vector>

#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// A part of a path that lies on one map.
struct PathLeg {
  // Empty if it is the map that the path starts on, and was not left yet.
  std::string map;
  std::vector<v1::Cell> cells;
};

// The legs that portals divide the answer's path from `start` into, whichever form it has. Of a line between
// two points that are not in line, those nearest to it. Empty if the answer has no path.
std::vector<PathLeg> PathLegs(const v1::Cell& start, const v1::FindPathResponse& answer);

// Every cell of the answer's path from `start` to its end, both included, whichever form the path has. Only
// those of `map`, the one that it starts on. Empty if the answer has no path.
std::vector<v1::Cell> PathCells(const std::string& map, const v1::Cell& start,
                                const v1::FindPathResponse& answer);

}  // namespace waystar::cli
