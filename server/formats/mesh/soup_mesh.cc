#include "server/formats/mesh/soup_mesh.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/core/elements/waypoint.h"
#include "server/core/mesh/map/mesh_check.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/polygon_tree.h"
#include "server/core/mesh/search/landmarks.h"

namespace waystar::core {
namespace {

// Returns the precision of single-precision coordinates within the bounds.
double PrecisionOf(const MeshBounds& bounds) {
  return std::max({-bounds.low.x, bounds.high.x, -bounds.low.y, bounds.high.y, 0.0}) / (1 << 20);
}

MeshBounds BoundsOf(const MeshSpec& spec) {
  MeshBounds bounds;
  for (const WorldPoint& vertex : spec.vertices) {
    bounds.Add(vertex);
  }
  return bounds;
}

}  // namespace

absl::Status AddVertex(const WorldPoint& vertex, std::size_t line, std::vector<WorldPoint>& vertices) {
  vertices.push_back(vertex);
  return CheckPosition(vertex).ok() ? absl::OkStatus()
                                    : BadLine(line, absl::StrCat("the coordinates of a vertex are from ",
                                                                 -kMaxReach, " to ", kMaxReach));
}

WeldTolerance WithWeld(const WeldTolerance& tolerance, const MeshSpec& spec, std::optional<double> weld) {
  if (!weld) {
    return tolerance;
  }
  const double plan = *weld + PrecisionOf(BoundsOf(spec));
  return {.plan = plan, .height = std::max(tolerance.height, plan)};
}

namespace {

void NoteLosses(std::size_t dropped, const MeshSpec& spec, ImportNotes& notes) {
  if (dropped > 0) {
    notes.Add("faces without an area, seen from above, are dropped", "", static_cast<std::int64_t>(dropped));
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

// Returns true if another polygon covers the middle of this one at the same height. `tree` holds all
// polygons.
bool IsCovered(const NavMesh& mesh, const PolygonTree& tree, PolygonNumber polygon) {
  // Limit of polygons checked, for crowded places.
  constexpr int kMostNear = 64;
  double x = 0.0;
  double y = 0.0;
  const auto vertices = mesh.VerticesOf(polygon);
  for (const std::uint32_t vertex : vertices) {
    x += mesh.VertexAt(vertex).x;
    y += mesh.VertexAt(vertex).y;
  }
  const auto count = static_cast<double>(vertices.size());
  const WorldPoint middle = Rounded(mesh.NearestPoint(polygon, x / count, y / count));
  // A negative limit ends the visit, since no distance is below it.
  double limit = std::numeric_limits<double>::infinity();
  int looked_at = 0;
  bool is_covered = false;
  tree.VisitNear(
      {.position = middle, .radius = 0.0, .height = kMeshTolerance}, limit, [](PolygonNumber) {},
      [&](PolygonNumber other) {
        const WorldPoint point = mesh.NearestPoint(other, middle.x, middle.y);
        is_covered = other != polygon && point.x == middle.x && point.y == middle.y &&
                     std::abs(point.z - middle.z) <= kMeshTolerance;
        limit = is_covered || ++looked_at == kMostNear ? -1.0 : limit;
      });
  return is_covered;
}

// Notes the number of polygons that overlap others at the same height.
absl::Status NoteCovered(const NavMesh& mesh, const StopCheck* stop, ImportNotes& notes) {
  std::vector<MeshBounds> boxes(mesh.polygon_count());
  for (PolygonNumber polygon = 0; polygon < boxes.size(); ++polygon) {
    for (const std::uint32_t vertex : mesh.VerticesOf(polygon)) {
      boxes[polygon].Add(mesh.VertexAt(vertex));
    }
  }
  const PolygonTree tree(boxes, stop);
  std::int64_t covered = 0;
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, polygon));
    covered += IsCovered(mesh, tree, polygon) ? 1 : 0;
  }
  if (covered > 0) {
    notes.Add("polygons lie on others at the same height, and are joined at common edges alone", "", covered);
  }
  return absl::OkStatus();
}

// Notes faces that are not ground, if there are many.
void NoteGeometry(const MeshSpec& spec, ImportNotes& notes) {
  constexpr std::size_t kShare = 10;
  std::size_t steep = 0;
  std::size_t down = 0;
  std::size_t up = 0;
  std::size_t first = 0;
  for (const MeshPolygon& polygon : spec.polygons) {
    // Twice the area as projected along each axis.
    double x = 0.0;
    double y = 0.0;
    double z = 0.0;
    for (std::size_t k = 0; k < polygon.corner_count; ++k) {
      const WorldPoint& a = spec.vertices[spec.corners[first + k]];
      const WorldPoint& b = spec.vertices[spec.corners[first + (k + 1 < polygon.corner_count ? k + 1 : 0)]];
      x += (a.y - b.y) * (a.z + b.z);
      y += (a.z - b.z) * (a.x + b.x);
      z += (a.x - b.x) * (a.y + b.y);
    }
    first += polygon.corner_count;
    // |cos| < 1/2: steeper than 60 degrees.
    if (3.0 * z * z < x * x + y * y) {
      ++steep;
    } else if (z != 0.0) {
      ++(z < 0.0 ? down : up);
    }
  }
  // A mesh may have either winding.
  const std::size_t turned = std::min(up, down);
  if (kShare * steep >= spec.polygons.size() || kShare * turned >= spec.polygons.size()) {
    notes.Add(absl::StrCat("this looks like the geometry of a level: of ", spec.polygons.size(), " faces ",
                           steep, " are steeper than 60 degrees, and ", turned,
                           " face the other way; build a mesh of it (--build)"));
  }
}

absl::Status NoteGaps(const NavMesh& mesh, const WeldTolerance& tolerance, const StopCheck* stop,
                      ImportNotes& notes) {
  constexpr double kFar = 0.125;
  const MeshBounds& bounds = mesh.bounds();
  const double side = std::max(bounds.high.x - bounds.low.x, bounds.high.y - bounds.low.y);
  const double far = std::min(kFar, side / 50.0);
  WAYSTAR_ASSIGN_OR_RETURN(
      const std::int64_t gaps,
      CountMeshGaps(mesh, {.low = tolerance.plan, .high = far, .height = tolerance.height}, stop));
  if (gaps > 0) {
    notes.Add(absl::StrCat("edges lie beside others, up to ", absl::SixDigits(far),
                           " away, and are not joined: if they should be, say within what (--weld)"),
              "", gaps);
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
  absl::StatusOr<NavMesh> mesh = CreateMesh(std::move(spec), stop);
  if (!mesh.ok() && !ErrorFieldOf(mesh.status()).empty()) {
    return WithField(mesh.status(), "");
  }
  if (mesh.ok() && notes != nullptr) {
    WAYSTAR_RETURN_IF_ERROR(NoteCovered(*mesh, stop, *notes));
    WAYSTAR_RETURN_IF_ERROR(NoteGaps(*mesh, tolerance, stop, *notes));
  }
  return mesh;
}

absl::StatusOr<NavMesh> MeshOfFile(MeshSoup soup, std::optional<double> weld, const StopCheck* stop,
                                   ImportNotes* notes) {
  const MeshBounds bounds = BoundsOf(soup.spec);
  const double side = std::max({bounds.high.x - bounds.low.x, bounds.high.y - bounds.low.y, 0.0});
  const double plan = std::max(std::min(side * 1e-4, 0.01), PrecisionOf(bounds));
  const WeldTolerance tolerance = WithWeld({.plan = plan, .height = 25.0 * plan}, soup.spec, weld);
  return MeshOfSoup(std::move(soup), tolerance, stop, notes);
}

absl::StatusOr<NavMesh> MeshOfFaces(MeshSoup soup, std::optional<double> weld, const StopCheck* stop,
                                    ImportNotes* notes) {
  if (notes != nullptr) {
    NoteGeometry(soup.spec, *notes);
  }
  return MeshOfFile(std::move(soup), weld, stop, notes);
}

}  // namespace waystar::core
