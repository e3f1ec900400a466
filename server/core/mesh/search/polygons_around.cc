#include "server/core/mesh/search/polygons_around.h"

#include <cmath>

#include "absl/types/span.h"
#include "server/core/mesh/map/plan.h"

namespace waystar::core {
namespace {

// Maximum displacement of a place out of its polygon by rounding, with some tolerance.
constexpr double kPlaceSlack = 2.0 / kFixedScale;

// Adds the polygons around the place that the set does not contain to both the set and the list.
template <typename Mesh, typename Polygons>
void Collect(const Mesh& mesh, const MeshPlace& place, PolygonSet& found, Polygons& polygons) {
  if (!found.Add(place.polygon)) {
    return;
  }
  std::size_t i = polygons.size();
  polygons.push_back(place.polygon);
  for (; i < polygons.size(); ++i) {
    const absl::Span<const PolygonNumber> neighbours = mesh.NeighboursOf(polygons[i]);
    ForEachEdge(mesh, polygons[i], [&](std::uint32_t k, const WorldPoint& a, const WorldPoint& b) {
      // Fast path: most edges are far from the place, which is on their left.
      if (neighbours[k] == kNoPolygon || Side(a, b, place.point) > 0.0) {
        return;
      }
      const double side = static_cast<double>(SideOf(ToFixed(a), ToFixed(b), ToFixed(place.point))) /
                          (kFixedScale * kFixedScale);
      const double dx = b.x - a.x;
      const double dy = b.y - a.y;
      const double whole = dx * dx + dy * dy;
      // Beyond the ends of the edge, a wall may separate the polygons.
      const double along = (place.point.x - a.x) * dx + (place.point.y - a.y) * dy;
      if (side <= 0.0 && side >= -kPlaceSlack * std::sqrt(whole) && along >= 0.0 && along <= whole) {
        const PolygonNumber next = mesh.Behind(neighbours[k], b);
        if (found.Add(next)) {
          polygons.push_back(next);
        }
      }
    });
  }
}

template <typename Mesh>
bool IsAloneIn(const Mesh& mesh, const MeshPlace& place) {
  const absl::Span<const PolygonNumber> neighbours = mesh.NeighboursOf(place.polygon);
  bool is_alone = true;
  ForEachEdge(mesh, place.polygon, [&](std::uint32_t k, const WorldPoint& a, const WorldPoint& b) {
    // Rounded products compare as the exact ones do, unless they are equal.
    const bool is_left = (b.x - a.x) * (place.point.y - a.y) > (b.y - a.y) * (place.point.x - a.x);
    const bool is_vertex = a.x == place.point.x && a.y == place.point.y;
    is_alone &= (is_left || neighbours[k] == kNoPolygon) && !is_vertex;
  });
  return is_alone;
}

template <typename Mesh, typename Polygons>
void Find(const Mesh& mesh, const MeshPlace& place, Polygons& polygons) {
  if (IsAloneIn(mesh, place)) {
    polygons.push_back(place.polygon);
    return;
  }
  PolygonSet found;
  Collect(mesh, place, found, polygons);
}

// Returns the corner of the polygon at the point, seen from above, if a wall touches it.
std::optional<std::uint32_t> WallVertexAt(const NavMesh& mesh, PolygonNumber polygon,
                                          const WorldPoint& point) {
  for (const std::uint32_t vertex : mesh.VerticesOf(polygon)) {
    const WorldPoint& at = mesh.VertexAt(vertex);
    if (at.x == point.x && at.y == point.y) {
      const bool is_at_wall = mesh.WallsAt(vertex).from != VertexWalls::kNone;
      return is_at_wall ? std::optional(vertex) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

PlacesAround FindPlacesAround(const NavMesh& mesh, const MeshPlace& place) {
  PlacesAround places = {place};
  const std::optional<std::uint32_t> vertex = WallVertexAt(mesh, place.polygon, place.point);
  if (!vertex) {
    return places;
  }
  std::vector<MeshPlace> near;
  mesh.FindAllNear({.position = mesh.VertexAt(*vertex), .radius = 0.0, .height = kMeshTolerance}, near);
  absl::flat_hash_set<std::uint32_t> fans = {*vertex};
  // In a cut mesh, the polygons of a fan may have vertices of their own.
  PolygonSet around;
  if (mesh.is_cut()) {
    AddPolygonsAround(mesh, place, around);
  }
  for (const MeshPlace& other : near) {
    const std::optional<std::uint32_t> own = WallVertexAt(mesh, other.polygon, place.point);
    if (own && !around.Has(other.polygon) && fans.insert(*own).second) {
      places.push_back({other.polygon, {place.point.x, place.point.y, other.point.z}});
      if (mesh.is_cut()) {
        AddPolygonsAround(mesh, places.back(), around);
      }
    }
  }
  return places;
}

PartsAround FindPartsAround(const NavMesh& mesh, const MeshPlace& place) {
  PartsAround parts;
  for (const MeshPlace& at : FindPlacesAround(mesh, place)) {
    parts.push_back(mesh.PartOf(at.polygon));
  }
  std::ranges::sort(parts);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

bool HaveSharedPart(const PartsAround& a, const PartsAround& b) {
  return std::ranges::any_of(a, [&](std::uint32_t part) { return std::ranges::binary_search(b, part); });
}

bool IsAlone(const NavMesh& mesh, const MeshPlace& place) { return IsAloneIn(mesh, place); }

void FindPolygonsAround(const NavMesh& mesh, const MeshPlace& place, std::vector<PolygonNumber>& polygons) {
  Find(mesh, place, polygons);
}

void FindPolygonsAround(const CellLayer& cells, const MeshPlace& place,
                        std::vector<PolygonNumber>& polygons) {
  Find(cells, place, polygons);
}
void FindPolygonsAround(const CutCellLayer& cells, const MeshPlace& place,
                        std::vector<PolygonNumber>& polygons) {
  Find(cells, place, polygons);
}

void FindPolygonsOfAllFans(const NavMesh& mesh, const MeshPlace& place,
                           std::vector<PolygonNumber>& polygons) {
  for (const MeshPlace& at : FindPlacesAround(mesh, place)) {
    FindPolygonsAround(mesh, at, polygons);
  }
}

PolygonsAround FindPolygonsAround(const NavMesh& mesh, const MeshPlace& place) {
  PolygonsAround polygons;
  Find(mesh, place, polygons);
  return polygons;
}

PolygonsAround FindPolygonsAround(const NavMesh& mesh, const PlacesAround& places) {
  PolygonsAround polygons;
  for (const MeshPlace& place : places) {
    Find(mesh, place, polygons);
  }
  return polygons;
}

void AddPolygonsAround(const NavMesh& mesh, const MeshPlace& place, PolygonSet& polygons) {
  PolygonsAround added;
  Collect(mesh, place, polygons, added);
}

}  // namespace waystar::core
