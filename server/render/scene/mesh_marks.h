// Marks that a search on a navigation mesh adds to its picture, and the hidden lines of oblique pictures.
#pragma once

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/geometry/box.h"
#include "server/geometry/world_point.h"
#include "server/render/canvas/geometry.h"
#include "server/render/scene/layout.h"
#include "server/render/scene/scene.h"
#include "server/render/scene/world_plot.h"

namespace waystar::core {

// Draws the search. For each expanded interval, in search order, draws the area visible between its parent,
// or its root, and itself, from yellow to red by the path cost to the middle of the interval. Open intervals
// are lines. Text shows digits, and 'o' for open intervals. Returns the error of `stop`.
// REQUIRES: text has a ground.
absl::Status AddMeshSearch(const IntervalRecorder& search, const WorldProjection& projection,
                           const Layout& layout, bool is_text, const StopCheck& stop, Scene& scene);

// Adds legend entries for these marks, if there are any.
void AddMeshSearchToLegend(const IntervalRecorder& search, Scene& scene);

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
