// Outlines of shapes, and triangles of polygons.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/geometry/shape.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Corners of a convex polygon with an area, counterclockwise and rounded to 2^-20. Heights are 0.
using ConvexOutline = std::vector<WorldPoint>;

// Number of corners of the polygon circumscribed around a disc, which extends at most 2 % further.
inline constexpr int kDiscCorners = 16;
// Minimum radius of a disc, and half the minimum width of a line.
inline constexpr double kLeastOutlineRadius = 1.0 / 1024;

// Returns outlines that together cover the shape, in the order of its parts. Coordinates are those of the
// world: a cell and a rectangle begin at (x, y), and a cell ends at (x + 1, y + 1). A line with a width has
// round ends. Polygons that are not convex are triangulated. Each outline is widened by `widening`, with
// round corners.
//
// Returns INVALID_ARGUMENT / BAD_POLYGON with a field such as ".polygons[3]" if a polygon touches or crosses
// itself, or the error of `stop`. Costs O(corners^2) per polygon.
// REQUIRES: the shape is valid by CheckShape.
absl::StatusOr<std::vector<ConvexOutline>> OutlinesOf(const Shape& shape, double widening = 0.0,
                                                      const StopCheck* stop = nullptr);

// Positions in a loop of the corners of a triangle, counterclockwise.
using LoopTriangle = std::array<std::uint32_t, 3>;

// Returns triangles that cover the polygon, each with an area, by ear clipping: Meisters, "Polygons Have
// Ears" (1975). The loop is counterclockwise. All corners of a simple polygon become corners of triangles,
// including those in the middle of a side. Parts of a polygon that touches or crosses itself may be omitted
// or covered twice. Costs O(corners^2) for most polygons. Returns the error of `stop`.
//
// If `flat` is not null, appends to it the triangles that have no area or run clockwise. Both kinds together
// are two fewer than the corners, and their sides are those of the loop and pairs of opposite diagonals.
absl::StatusOr<std::vector<LoopTriangle>> TriangulateLoop(absl::Span<const FixedPoint> loop,
                                                          const StopCheck* stop = nullptr,
                                                          std::vector<LoopTriangle>* flat = nullptr);

}  // namespace waystar::core
