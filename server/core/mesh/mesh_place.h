// Places on navigation meshes.
#pragma once

#include "server/core/graph/world_point.h"
#include "server/core/mesh/mesh_spec.h"

namespace waystar::core {

// A position that lies no further from the mesh than this, seen from above, is on it: coordinates in single
// precision are off by so much some thousand units from the origin.
inline constexpr double kMeshTolerance = 1.0 / 1024;

// A point on the surface of a polygon.
struct MeshPlace {
  PolygonNumber polygon = kNoPolygon;
  WorldPoint point;

  friend bool operator==(const MeshPlace&, const MeshPlace&) = default;
};

}  // namespace waystar::core
