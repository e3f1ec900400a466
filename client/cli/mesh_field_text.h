#pragma once

#include <cstddef>
#include <string>

#include "waystar/v1/fields.pb.h"

namespace waystar::cli {

// Lists the polygons, those of least cost first, with the nearest point of each, as a table of that width,
// and counts them.
std::string ReachablePolygonsText(const v1::FindReachableResponse& answer, std::size_t width);

// Lists where to go from the middle of each polygon, in the same order, as a table of that width, and counts
// them.
std::string PolygonStepsText(const v1::ComputeFlowFieldResponse& answer, std::size_t width);

}  // namespace waystar::cli
