#include "server/core/mesh_search/polygons_around.h"

#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "server/core/mesh/plan.h"

namespace waystar::core {
namespace {

// How far rounding may put a place outside of its polygon, with some room.
constexpr double kPlaceSlack = 2.0 / kFixedScale;

// Adds to both what the set does not have yet.
template <typename Mesh, typename Polygons>
void Collect(const Mesh& mesh, const MeshPlace& place, PolygonSet& found, Polygons& polygons) {
  if (!found.Add(place.polygon)) {
    return;
  }
  polygons.push_back(place.polygon);
  for (std::size_t i = 0; i < polygons.size(); ++i) {
    const absl::Span<const std::uint32_t> corners = mesh.VerticesOf(polygons[i]);
    const absl::Span<const PolygonNumber> neighbours = mesh.NeighboursOf(polygons[i]);
    for (std::size_t k = 0; k < corners.size(); ++k) {
      if (neighbours[k] == kNoPolygon) {
        continue;
      }
      const WorldPoint& a = mesh.VertexAt(corners[k]);
      const WorldPoint& b = mesh.VertexAt(corners[k + 1 < corners.size() ? k + 1 : 0]);
      // Most edges are far from the place, which is to the left of them.
      if (Side(a, b, place.point) > 0.0) {
        continue;
      }
      const double side = static_cast<double>(SideOf(ToFixed(a), ToFixed(b), ToFixed(place.point))) /
                          (kFixedScale * kFixedScale);
      const double dx = b.x - a.x;
      const double dy = b.y - a.y;
      const double whole = dx * dx + dy * dy;
      // Beyond the ends of the edge there may be a wall between the polygons.
      const double along = (place.point.x - a.x) * dx + (place.point.y - a.y) * dy;
      if (side <= 0.0 && side >= -kPlaceSlack * std::sqrt(whole) && along >= 0.0 && along <= whole &&
          found.Add(neighbours[k])) {
        polygons.push_back(neighbours[k]);
      }
    }
  }
}

template <typename Mesh>
bool IsAloneIn(const Mesh& mesh, const MeshPlace& place) {
  const absl::Span<const std::uint32_t> corners = mesh.VerticesOf(place.polygon);
  const absl::Span<const PolygonNumber> neighbours = mesh.NeighboursOf(place.polygon);
  bool is_alone = true;
  const WorldPoint* a = &mesh.VertexAt(corners[0]);
  for (std::size_t k = 0; k < corners.size(); ++k) {
    const WorldPoint* const b = &mesh.VertexAt(corners[k + 1 < corners.size() ? k + 1 : 0]);
    // Products that are rounded compare as the exact ones do unless they come out equal.
    const bool is_left = (b->x - a->x) * (place.point.y - a->y) > (b->y - a->y) * (place.point.x - a->x);
    is_alone &= is_left || neighbours[k] == kNoPolygon;
    a = b;
  }
  return is_alone;
}

template <typename Mesh>
void Find(const Mesh& mesh, const MeshPlace& place, std::vector<PolygonNumber>& polygons) {
  assert(polygons.empty());
  if (IsAloneIn(mesh, place)) {
    polygons.push_back(place.polygon);
    return;
  }
  PolygonSet found;
  Collect(mesh, place, found, polygons);
}

}  // namespace

bool IsAlone(const NavMesh& mesh, const MeshPlace& place) { return IsAloneIn(mesh, place); }

void FindPolygonsAround(const NavMesh& mesh, const MeshPlace& place, std::vector<PolygonNumber>& polygons) {
  Find(mesh, place, polygons);
}

void FindPolygonsAround(const CellLayer& cells, const MeshPlace& place,
                        std::vector<PolygonNumber>& polygons) {
  Find(cells, place, polygons);
}

PolygonsAround FindPolygonsAround(const NavMesh& mesh, const MeshPlace& place) {
  if (IsAlone(mesh, place)) {
    return {place.polygon};
  }
  PolygonsAround polygons;
  PolygonSet found;
  Collect(mesh, place, found, polygons);
  return polygons;
}

void AddPolygonsAround(const NavMesh& mesh, const MeshPlace& place, PolygonSet& polygons) {
  PolygonsAround added;
  Collect(mesh, place, polygons, added);
}

}  // namespace waystar::core
