// Cuts polygons into triangles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

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
