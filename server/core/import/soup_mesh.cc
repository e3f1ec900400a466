#include "server/core/import/soup_mesh.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

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

}  // namespace

absl::StatusOr<NavMesh> MeshOfSoup(MeshSoup soup, const WeldTolerance& tolerance, const StopCheck* stop,
                                   ImportNotes* notes) {
  std::size_t dropped = 0;
  WAYSTAR_ASSIGN_OR_RETURN(MeshSpec spec, WeldMesh(std::move(soup), tolerance, stop, &dropped));
  if (spec.polygons.empty()) {
    return MakeError(ErrorReason::kBadSize, "", "no polygon of the file has an area, seen from above");
  }
  if (notes != nullptr) {
    NoteLosses(dropped, spec, *notes);
  }
  absl::StatusOr<NavMesh> mesh = NavMesh::Create(std::move(spec), stop);
  if (!mesh.ok() && !ErrorFieldOf(mesh.status()).empty()) {
    return WithField(mesh.status(), "");
  }
  return mesh;
}

}  // namespace waystar::core
