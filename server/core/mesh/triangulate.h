// Cuts polygons into triangles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/graph/world_point.h"

namespace waystar::core {

// The places in a loop of the corners of a triangle, counterclockwise.
using LoopTriangle = std::array<std::uint32_t, 3>;

// Returns triangles that cover the polygon, each with an area, by clipping ears: Meisters, "Polygons Have
// Ears" (1975). The loop runs counterclockwise. A simple polygon gets all its corners into triangles, also
// those in the middle of a side. Of one that touches or crosses itself some parts may be left out or covered
// twice. It costs O(corners^2) for most polygons and asks `stop`, whose error it returns.
//
// With `flat`, triangles that have no area or run clockwise are added to it. Both kinds together are two
// fewer than the corners, and their sides are those of the loop and pairs of opposite diagonals.
absl::StatusOr<std::vector<LoopTriangle>> TriangulateLoop(absl::Span<const FixedPoint> loop,
                                                          const StopCheck* stop = nullptr,
                                                          std::vector<LoopTriangle>* flat = nullptr);

}  // namespace waystar::core
