// Hidden-line computation for oblique pictures of a navigation mesh.
#pragma once

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/geometry/box.h"
#include "server/geometry/world_point.h"
#include "server/render/scene/world_plot.h"

namespace waystar::core {

// The drawn polygons as occluders. Of two points at the same place of the picture, the higher one is in
// front.
class MeshCover {
 public:
  // Points less than `slack` behind a polygon count as visible, since a line on the surface may lie slightly
  // below it. The mesh must outlive the cover.
  MeshCover(const NavMesh& mesh, const WorldProjection& projection, absl::Span<const PolygonNumber> polygons,
            double slack);

  // Returns the hidden parts of a straight line as disjoint intervals of [0, 1], sorted. Costs O(polygons).
  std::vector<std::pair<double, double>> HiddenParts(const WorldPoint& from, const WorldPoint& to) const;

 private:
  struct Cover {
    PolygonNumber polygon = kNoPolygon;
    // Bounds on the picture.
    Box box;
    double top = 0.0;
  };

  const NavMesh& mesh_;
  const WorldProjection projection_;
  const double slack_;
  std::vector<Cover> covers_;
};

}  // namespace waystar::core
