// Outlines of shapes in the world: the convex polygons that they block on a navigation mesh.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/graph/world_point.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// The corners of a convex polygon with an area, counterclockwise and rounded to 2^-20. Heights are 0.
using ConvexOutline = std::vector<WorldPoint>;

// A disc becomes a polygon of this many corners around it, which reaches at most 0.5 % further.
inline constexpr int kDiscCorners = 32;
// A disc has at least this radius, and a line at least twice this width.
inline constexpr double kLeastOutlineRadius = 1.0 / 1024;

// Returns outlines that together cover the shape, in the order of its parts. Coordinates are those of the
// world: a cell and a rectangle begin at (x, y), and a cell ends at (x + 1, y + 1). A line with a width has
// round ends. Polygons that are not convex are cut into triangles.
//
// Returns INVALID_ARGUMENT / BAD_POLYGON with a field such as ".polygons[3]" if a polygon touches or crosses
// itself, or the error of `stop`. It costs O(corners^2) for a polygon. REQUIRES: the shape obeys CheckShape.
absl::StatusOr<std::vector<ConvexOutline>> OutlinesOf(const Shape& shape, const StopCheck* stop = nullptr);

}  // namespace waystar::core
