// Detour, which judges the answers on meshes that it can read as well.
#pragma once

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/geometry/world_point.h"
#include "tests/testing/detour_file.h"

namespace waystar {

// Thread safety: none.
class DetourJudge {
 public:
  // Reads an MSET file, with references of 32 or 64 bits; fails the test if Detour does not take it. A point
  // is on a polygon that is no further above or below it than `height`.
  explicit DetourJudge(absl::string_view mset, float height = 0.05F);

  // Returns the length, seen from above, of Detour's path between two points on the mesh, whose z is the
  // height; nothing if it finds none, or if it does not know the points.
  std::optional<double> LengthOf(const core::WorldPoint& start, const core::WorldPoint& goal);

  // Returns how far the nearest wall is, seen from above, if it is nearer than the radius; nothing if there
  // is none, or if Detour does not know the point.
  std::optional<double> DistanceToWall(const core::WorldPoint& point, double radius);

  // Returns where an agent comes that moves along the surface, seen from above; nothing if Detour does not
  // know the start.
  std::optional<core::WorldPoint> Move(const core::WorldPoint& start, const core::WorldPoint& target);

  // Returns the height of Detour's ground at the point; nothing if Detour does not know it.
  std::optional<double> HeightAt(const core::WorldPoint& point);

  // Returns whether Detour finds a polygon at the point.
  bool Knows(const core::WorldPoint& point);

 private:
  // Returns the reference of the polygon at the point, or 0.
  unsigned int PolygonAt(const core::WorldPoint& point, float* on_polygon);

  float height_;
  OwnedDetourMesh mesh_;
  OwnedDetourQuery query_;
};

}  // namespace waystar
