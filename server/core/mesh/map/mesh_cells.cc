#include "server/core/mesh/map/mesh_cells.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "server/base/error.h"
#include "server/core/mesh/map/convex_join.h"
#include "server/core/mesh/map/plan.h"

namespace waystar::core {
namespace {

using Half = ConvexJoin::Half;

// Returns the polygons as half-edges, one for each corner.
ConvexJoin HalvesOf(const CellSources& sources) {
  std::vector<Half> next(sources.corners.size());
  std::vector<Half> twin(sources.corners.size(), ConvexJoin::kNone);
  std::vector<std::uint32_t> face_of(sources.corners.size());
  for (PolygonNumber polygon = 0; polygon < sources.polygons.size(); ++polygon) {
    const CellSource& source = sources.polygons[polygon];
    const Half end = source.first_corner + source.corner_count;
    for (Half half = source.first_corner; half < end; ++half) {
      next[half] = half + 1 < end ? half + 1 : source.first_corner;
      face_of[half] = polygon;
      const PolygonNumber beyond = sources.neighbours[half];
      if (beyond == kNoPolygon || beyond < polygon) {
        continue;
      }
      const CellSource& other = sources.polygons[beyond];
      if (other.area != source.area || other.is_dented || source.is_dented) {
        continue;
      }
      const std::uint32_t to = sources.corners[half + 1 < end ? half + 1 : source.first_corner];
      const auto first = sources.corners.begin() + other.first_corner;
      const auto across =
          static_cast<Half>(std::find(first, first + other.corner_count, to) - sources.corners.begin());
      twin[half] = across;
      twin[across] = half;
    }
  }
  return {std::move(next), std::move(face_of), std::move(twin), sources.polygons.size()};
}

}  // namespace

absl::StatusOr<MeshCells> FindMeshCells(const CellSources& sources, const StopCheck* stop) {
  ConvexJoin join = HalvesOf(sources);
  const auto point_at = [&](Half half) -> const WorldPoint& {
    return sources.vertices[sources.corners[half]];
  };
  WAYSTAR_RETURN_IF_ERROR(join.Join(point_at, kMaxCellPolygons, stop));

  // One half-edge of each cell.
  std::vector<Half> firsts;
  std::vector<PolygonNumber> number_of(sources.polygons.size(), kNoPolygon);
  for (Half half = 0; half < sources.corners.size(); ++half) {
    if (!join.IsRemoved(half) && number_of[join.RootBeside(half)] == kNoPolygon) {
      number_of[join.RootBeside(half)] = static_cast<PolygonNumber>(firsts.size());
      firsts.push_back(half);
    }
  }
  MeshCells made;
  made.cell_of.resize(sources.polygons.size());
  for (PolygonNumber polygon = 0; polygon < sources.polygons.size(); ++polygon) {
    made.cell_of[polygon] = number_of[join.RootOf(polygon)];
  }
  const auto beyond = [&](Half half) {
    const PolygonNumber polygon = sources.neighbours[half];
    return polygon == kNoPolygon ? kNoPolygon : made.cell_of[polygon];
  };

  std::vector<bool> is_needed(sources.vertices.size());
  for (Half half = 0; half < sources.corners.size(); ++half) {
    if (join.IsRemoved(half)) {
      continue;
    }
    const Half before = join.Previous(half);
    if (beyond(before) != beyond(half) ||
        Side(point_at(before), point_at(half), point_at(join.Next(half))) != 0.0) {
      is_needed[sources.corners[half]] = true;
    }
  }

  made.cells.reserve(firsts.size());
  for (const Half first : firsts) {
    const CellSource& source = sources.polygons[join.FaceOf(first)];
    CellSource cell{static_cast<std::uint32_t>(made.corners.size()), 0, source.area, source.is_dented};
    Half half = first;
    do {
      if (is_needed[sources.corners[half]]) {
        made.corners.push_back(sources.corners[half]);
        made.neighbours.push_back(beyond(half));
      }
      half = join.Next(half);
    } while (half != first);
    cell.corner_count = static_cast<std::uint32_t>(made.corners.size()) - cell.first_corner;
    made.cells.push_back(cell);
  }
  made.corners.shrink_to_fit();
  made.neighbours.shrink_to_fit();
  return made;
}

}  // namespace waystar::core
