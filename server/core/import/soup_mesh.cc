#include "server/core/import/soup_mesh.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/mesh/mesh_bounds.h"

namespace waystar::core {

WeldTolerance FileTolerance(const MeshSpec& spec) {
  MeshBounds bounds;
  for (const WorldPoint& vertex : spec.vertices) {
    bounds.Add(vertex);
  }
  const double side = std::max({bounds.high.x - bounds.low.x, bounds.high.y - bounds.low.y, 0.0});
  const double reach = std::max({-bounds.low.x, bounds.high.x, -bounds.low.y, bounds.high.y, 0.0});
  const double plan = std::max(std::min(side * 1e-4, 0.01), reach / (1 << 20));
  return {.plan = plan, .height = 25.0 * plan};
}

namespace {

void NoteLosses(std::size_t dropped, const MeshSpec& spec, ImportNotes& notes) {
  if (dropped > 0) {
    notes.Add("faces without an area, seen from above, are left out", "", static_cast<std::int64_t>(dropped));
  }
  std::bitset<std::numeric_limits<decltype(MeshPolygon::area)>::max() + 1> areas;
  for (const MeshPolygon& polygon : spec.polygons) {
    areas.set(polygon.area);
  }
  if (areas.count() > 1) {
    notes.Add(absl::StrCat("costs of areas are not read: the ", areas.count(),
                           " areas of the mesh are walked alike"));
  }
}

// Notes how many polygons have others on them at the same height.
absl::Status NoteCovered(const NavMesh& mesh, const StopCheck* stop, ImportNotes& notes) {
  std::int64_t covered = 0;
  std::vector<MeshPlace> places;
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, polygon));
    double x = 0.0;
    double y = 0.0;
    const auto vertices = mesh.VerticesOf(polygon);
    for (const std::uint32_t vertex : vertices) {
      x += mesh.VertexAt(vertex).x;
      y += mesh.VertexAt(vertex).y;
    }
    const auto count = static_cast<double>(vertices.size());
    places.clear();
    mesh.FindAllNear({.position = mesh.NearestPoint(polygon, x / count, y / count),
                      .radius = 0.0,
                      .height = kMeshTolerance},
                     places);
    covered += places.size() > 1 ? 1 : 0;
  }
  if (covered > 0) {
    notes.Add("polygons lie on others at the same height, and are joined at common edges alone", "", covered);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NavMesh> MeshOfSoup(MeshSoup soup, const WeldTolerance& tolerance, const StopCheck* stop,
                                   ImportNotes* notes, WeldReport* report) {
  WeldReport own;
  WeldReport& made = report == nullptr ? own : *report;
  WAYSTAR_ASSIGN_OR_RETURN(MeshSpec spec, WeldMesh(std::move(soup), tolerance, stop, &made));
  if (spec.polygons.empty()) {
    return MakeError(ErrorReason::kBadSize, "", "no polygon of the file has an area, seen from above");
  }
  if (notes != nullptr) {
    NoteLosses(made.dropped, spec, *notes);
  }
  absl::StatusOr<NavMesh> mesh = NavMesh::Create(std::move(spec), stop);
  if (!mesh.ok() && !ErrorFieldOf(mesh.status()).empty()) {
    return WithField(mesh.status(), "");
  }
  if (mesh.ok() && notes != nullptr) {
    WAYSTAR_RETURN_IF_ERROR(NoteCovered(*mesh, stop, *notes));
  }
  return mesh;
}

}  // namespace waystar::core
