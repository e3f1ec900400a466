#include "server/core/mesh/search/mesh_region.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/search/polygon_set.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/geometry/world_point.h"

namespace waystar::core {
namespace {

constexpr std::uint32_t kNoVertex = kNoPolygon;

Box BoxAround(const NavMesh& mesh, PolygonNumber polygon) {
  Box box;
  for (const std::uint32_t vertex : mesh.VerticesOf(polygon)) {
    const WorldPoint& at = mesh.VertexAt(vertex);
    box = box.And({at.x, at.y, at.x, at.y});
  }
  return box;
}

}  // namespace

bool MeshRegion::Holds(const Box& region, const NavMesh& whole, PolygonNumber polygon) {
  return region.And(BoxAround(whole, polygon)) == region;
}

absl::StatusOr<std::optional<MeshRegion>> MeshRegion::Make(const NavMesh& whole, const Box& region,
                                                           const Box& reach, MemoryAccount* account,
                                                           const StopCheck* stop) {
  std::vector<PolygonNumber> numbers;
  // Maps numbers of polygons and vertices of the whole mesh to numbers here.
  std::vector<PolygonNumber> polygons(whole.polygon_count(), kNoPolygon);
  std::vector<std::uint32_t> vertices(whole.vertex_count(), kNoVertex);
  for (PolygonNumber polygon = 0; polygon < whole.polygon_count(); ++polygon) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, polygon));
    const Box box = BoxAround(whole, polygon);
    if (region.And(box) == region && reach.Overlaps(box)) {
      polygons[polygon] = static_cast<PolygonNumber>(numbers.size());
      numbers.push_back(polygon);
    }
  }
  if (numbers.empty()) {
    return std::nullopt;
  }
  MeshSpec spec;
  for (const PolygonNumber polygon : numbers) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, polygons[polygon]));
    const absl::Span<const std::uint32_t> corners = whole.VerticesOf(polygon);
    for (const std::uint32_t vertex : corners) {
      if (vertices[vertex] == kNoVertex) {
        vertices[vertex] = static_cast<std::uint32_t>(spec.vertices.size());
        spec.vertices.push_back(whole.VertexAt(vertex));
      }
      spec.corners.push_back(vertices[vertex]);
    }
    for (const PolygonNumber neighbour : whole.NeighboursOf(polygon)) {
      spec.neighbours.push_back(neighbour == kNoPolygon ? kNoPolygon : polygons[neighbour]);
    }
    spec.polygons.push_back(
        {.corner_count = static_cast<std::uint32_t>(corners.size()), .area = whole.AreaOf(polygon)});
  }
  absl::StatusOr<NavMesh> mesh = NavMesh::Create(std::move(spec), stop);
  if (mesh.status().code() == absl::StatusCode::kInvalidArgument) {
    return MakeError(ErrorReason::kRegionTooLarge, "region", "the region has too many vertices");
  }
  WAYSTAR_RETURN_IF_ERROR(mesh.status());
  MeshRegion held(*std::move(mesh), std::move(numbers));
  const std::size_t bytes = held.mesh_.memory_bytes() + held.numbers_.capacity() * sizeof(PolygonNumber);
  if (account != nullptr && !account->Reserve(bytes, held.memory_)) {
    return MakeError(ErrorReason::kMapsMemoryFull, "region",
                     absl::StrCat("all maps together, with a mesh of the region, would take more than ",
                                  account->max_bytes() >> 20, " MiB, the server's limit"));
  }
  return held;
}

void MeshRegion::AddPlaces(const NavMesh& whole, const MeshPlace& place,
                           std::vector<MeshPlace>& places) const {
  std::vector<PolygonNumber> around;
  FindPolygonsOfAllFans(whole, place, around);
  PolygonSet joined;
  for (const PolygonNumber polygon : around) {
    const auto number = std::ranges::lower_bound(numbers_, polygon);
    if (number == numbers_.end() || *number != polygon) {
      continue;
    }
    const auto here = static_cast<PolygonNumber>(number - numbers_.begin());
    if (!joined.Has(here)) {
      places.push_back({here, place.point});
      for (const MeshPlace& fan : FindPlacesAround(mesh_, places.back())) {
        AddPolygonsAround(mesh_, fan, joined);
      }
    }
  }
}

}  // namespace waystar::core
