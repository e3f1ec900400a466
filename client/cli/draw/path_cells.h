#pragma once

#include <vector>

#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Every cell of the answer's path from `start` to its end, both included, whichever form the path has. Of a
// line between two points that are not in line, those nearest to it. Empty if the answer has no path.
std::vector<v1::Cell> PathCells(const v1::Cell& start, const v1::FindPathResponse& answer);

}  // namespace waystar::cli
