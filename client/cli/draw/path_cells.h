#pragma once

#include <string>
#include <vector>

#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// A part of a path that lies on one map.
struct PathLeg {
  // The map of the leg; empty if it is the one that the path starts on and has not left yet.
  std::string map;
  std::vector<v1::Cell> cells;
};

// Returns the legs that portals divide the answer's path from `start` into, whichever form the path has. A
// line between two points that are not in line becomes the cells nearest to it. There are no legs if the
// answer has no path.
std::vector<PathLeg> PathLegs(const v1::Cell& start, const v1::FindPathResponse& answer);

// Returns every cell of the answer's path from `start` to its end, both included, whichever form the path
// has, but only those of `map`, the one that it starts on. There are none if the answer has no path.
std::vector<v1::Cell> PathCells(const std::string& map, const v1::Cell& start,
                                const v1::FindPathResponse& answer);

}  // namespace waystar::cli
