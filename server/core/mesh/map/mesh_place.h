// Places on navigation meshes.
#pragma once

#include "server/core/mesh/map/mesh_spec.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Maximum distance, seen from above, at which a position counts as on the mesh: the error of single-precision
// coordinates several thousand units from the origin.
inline constexpr double kMeshTolerance = 1.0 / 1024;

// A point on the surface of a polygon.
struct MeshPlace {
  PolygonNumber polygon = kNoPolygon;
  WorldPoint point;

  friend bool operator==(const MeshPlace&, const MeshPlace&) = default;
};

}  // namespace waystar::core
