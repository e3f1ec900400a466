// What of a line in space is hidden on a picture of a navigation mesh that is seen from the side.
#pragma once

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/render/world_projection.h"
#include "server/core/shape/box.h"

namespace waystar::core {

// The polygons that are drawn, as they may hide what lies behind them: of two points at the same place of the
// picture, the higher one is in front.
class MeshCover {
 public:
  // What lies less than `slack` behind a polygon is not hidden: a line on the surface may lie a little below
  // it. The mesh must outlive the cover.
  MeshCover(const NavMesh& mesh, const WorldProjection& projection, absl::Span<const PolygonNumber> polygons,
            double slack);

  // Returns the hidden parts of the straight line between two points, as shares of it from 0 to 1, in order
  // and apart from each other. It costs O(polygons).
  std::vector<std::pair<double, double>> HiddenParts(const WorldPoint& from, const WorldPoint& to) const;

 private:
  struct Cover {
    PolygonNumber polygon = kNoPolygon;
    // On the picture.
    Box box;
    double top = 0.0;
  };

  const NavMesh& mesh_;
  const WorldProjection projection_;
  const double slack_;
  std::vector<Cover> covers_;
};

}  // namespace waystar::core
