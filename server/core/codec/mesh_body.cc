#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/codec/fields.h"
#include "server/core/codec/map_image.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/portal.h"
#include "server/core/elements/profile_table.h"
#include "server/core/elements/waypoint.h"
#include "server/core/mesh/map/mesh_detail.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/landmarks.h"

namespace waystar::core {

namespace {

void WriteDetail(const MeshDetail& detail, BlockWriter& to, const StopCheck* stop) {
  for (std::size_t polygon = 0; polygon < detail.polygon_count() && !IsStopped(stop); ++polygon) {
    const PolygonDetail ground = detail.Of(polygon);
    to.PutNumber(ground.points.size());
    for (const DetailPoint& point : ground.points) {
      WriteValue(WorldPoint{point.x, point.y, point.z}, to);
    }
    to.PutNumber(ground.triangles.size());
    for (const DetailTriangle& triangle : ground.triangles) {
      for (const std::uint8_t point : triangle) {
        to.PutNumber(point);
      }
    }
  }
}

MeshDetail ReadDetail(std::size_t polygons, BlockReader& from) {
  MeshDetail detail;
  std::vector<DetailPoint> points;
  std::vector<DetailTriangle> triangles;
  for (std::size_t i = 0; i < polygons && from.ok(); ++i) {
    points.clear();
    triangles.clear();
    for (std::uint64_t left = from.Number(kMaxDetailPoints); left > 0 && from.ok(); --left) {
      const auto point = ReadValue<WorldPoint>(from);
      if (!CheckPosition(point).ok()) {
        from.Fail("a point of finer ground is not a position");
      }
      points.push_back(
          {static_cast<float>(point.x), static_cast<float>(point.y), static_cast<float>(point.z)});
    }
    for (std::uint64_t left = from.Number(kMaxDetailTriangles); left > 0 && from.ok(); --left) {
      DetailTriangle& triangle = triangles.emplace_back();
      for (std::uint8_t& point : triangle) {
        point = static_cast<std::uint8_t>(from.Number(points.size() - 1));
      }
    }
    if (triangles.empty() != points.empty()) {
      from.Fail("finer ground has points without triangles, or triangles without points");
    }
    if (from.ok()) {
      detail.Add(points, triangles);
    }
  }
  return detail;
}

void WriteGround(const NavMesh& mesh, BlockWriter& to, const StopCheck* stop) {
  to.PutNumber(mesh.vertex_count());
  for (std::uint32_t vertex = 0; vertex < mesh.vertex_count() && !IsStopped(stop); ++vertex) {
    WriteValue(mesh.VertexAt(vertex), to);
  }
  to.PutNumber(mesh.polygon_count());
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count() && !IsStopped(stop); ++polygon) {
    const absl::Span<const std::uint32_t> vertices = mesh.VerticesOf(polygon);
    const absl::Span<const PolygonNumber> neighbours = mesh.NeighboursOf(polygon);
    to.PutNumber(vertices.size());
    to.PutNumber(mesh.AreaOf(polygon));
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      to.PutNumber(vertices[i]);
      to.PutNumber(neighbours[i] == kNoPolygon ? 0 : std::uint64_t{neighbours[i]} + 1);
    }
  }
}

absl::Status ReadGround(BlockReader& from, MeshSpec& spec, const StopCheck* stop) {
  const std::uint64_t vertices = from.Number(kMaxMeshVertices);
  for (std::uint64_t i = 0; i < vertices && from.ok(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
    spec.vertices.push_back(ReadValue<WorldPoint>(from));
  }
  const std::uint64_t polygons = from.Number(kMaxMeshPolygons);
  for (std::uint64_t i = 0; i < polygons && from.ok(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
    const std::uint64_t corners = from.Number(kMaxPolygonCorners);
    spec.polygons.push_back({.corner_count = static_cast<std::uint32_t>(corners),
                             .area = static_cast<std::uint8_t>(from.Number(kMaxMeshAreas - 1))});
    for (std::uint64_t k = 0; k < corners && from.ok(); ++k) {
      spec.corners.push_back(static_cast<std::uint32_t>(from.Number(kMaxMeshVertices)));
      const std::uint64_t neighbour = from.Number(polygons);
      spec.neighbours.push_back(neighbour == 0 ? kNoPolygon : static_cast<PolygonNumber>(neighbour - 1));
    }
  }
  return absl::OkStatus();
}

// Writes the terrains and the finer ground, as images of this version have them.
void WriteLayers(const NavMesh& mesh, MeshImageVersion version, BlockWriter& to, const StopCheck* stop) {
  if (version >= MeshImageVersion::kTerrains) {
    to.PutBool(!mesh.detail().empty());
    WriteValue(std::vector<MeshTerrain>(mesh.terrains().begin(), mesh.terrains().end()), to);
  }
  if (!mesh.detail().empty()) {
    WriteDetail(mesh.detail(), to, stop);
  }
}

void ReadLayers(BlockReader& from, MeshImageVersion version, MeshSpec& spec) {
  bool has_detail = version >= MeshImageVersion::kDetail;
  if (version >= MeshImageVersion::kTerrains) {
    has_detail = from.Bool();
    FieldReader{from}(AtMost(spec.terrains, kMaxMeshAreas));
  }
  if (has_detail) {
    spec.detail = ReadDetail(spec.polygons.size(), from);
  }
}

// The surface of a mesh for agents of one size.
struct SurfaceSpec {
  double agent_radius = 0.0;
  MeshSpec spec;
};

double ReadRadius(BlockReader& from) {
  const double radius = from.Double();
  if (!(radius >= 0.0 && radius <= kMaxMeshAgentRadius)) {
    from.Fail("the radius of agents is out of range");
  }
  return radius;
}

}  // namespace

MeshImageVersion ImageVersionOf(const NavMesh& mesh) {
  if (!mesh.grounds().empty() || !mesh.profiles().empty()) {
    return MeshImageVersion::kGrounds;
  }
  if (!mesh.larger().empty()) {
    return MeshImageVersion::kSurfaces;
  }
  for (std::size_t area = 0; area < mesh.terrains().size(); ++area) {
    if (mesh.terrains()[area] != DefaultMeshTerrain(area)) {
      return MeshImageVersion::kTerrains;
    }
  }
  if (!mesh.detail().empty()) {
    return MeshImageVersion::kDetail;
  }
  return mesh.agent_radius() > 0.0 || mesh.obstacles().size() > 0 ? MeshImageVersion::kObstacles
                                                                  : MeshImageVersion::kPlain;
}

void WriteBody(const NavMesh& mesh, BlockWriter& to, const StopCheck* stop) {
  const MeshImageVersion version = ImageVersionOf(mesh);
  WriteGround(mesh.of_file(), to, stop);
  WriteTable<MeshPortal>(mesh.portals(), to, stop);
  if (version < MeshImageVersion::kObstacles) {
    return;
  }
  to.PutDouble(mesh.agent_radius());
  to.PutNumber(mesh.obstacles().size());
  mesh.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
    WriteValue(obstacle, to);
    WriteValue(obstacle.heights, to);
    return !IsStopped(stop);
  });
  WriteLayers(mesh.of_file(), version, to, stop);
  if (version < MeshImageVersion::kSurfaces) {
    return;
  }
  to.PutNumber(mesh.larger().size());
  for (const NavMesh& surface : mesh.larger()) {
    to.PutDouble(surface.agent_radius());
    WriteGround(surface.of_file(), to, stop);
    WriteLayers(surface.of_file(), version, to, stop);
  }
  if (version >= MeshImageVersion::kGrounds) {
    WriteTable<MeshGround>(mesh.grounds(), to, stop);
    WriteValue(mesh.profiles(), to);
  }
}

absl::StatusOr<NavMesh> ReadMesh(BlockReader& from, MeshImageVersion version, const StopCheck* stop) {
  const bool has_obstacles = version >= MeshImageVersion::kObstacles;
  std::vector<SurfaceSpec> specs(1);
  WAYSTAR_RETURN_IF_ERROR(ReadGround(from, specs.front().spec, stop));
  std::vector<Edit> edits;
  for (std::uint64_t left = from.Number(kMaxMeshPortals); left > 0 && from.ok(); --left) {
    edits.push_back(PutMeshPortal{.portal = ReadValue<MeshPortal>(from)});
  }
  if (has_obstacles) {
    specs.front().agent_radius = ReadRadius(from);
  }
  std::vector<std::shared_ptr<const Obstacle>> obstacles;
  for (std::uint64_t left = has_obstacles ? from.Number(kMaxObstacles) : 0; left > 0 && from.ok(); --left) {
    auto obstacle = std::make_shared<Obstacle>(ReadValue<Obstacle>(from));
    obstacle->heights = ReadValue<std::optional<HeightRange>>(from);
    obstacles.push_back(std::move(obstacle));
  }
  ReadLayers(from, version, specs.front().spec);
  const bool has_surfaces = version >= MeshImageVersion::kSurfaces;
  for (std::uint64_t left = has_surfaces ? from.Number(kMaxMeshSurfaces - 1) : 0; left > 0 && from.ok();
       --left) {
    SurfaceSpec larger{.agent_radius = ReadRadius(from)};
    if (larger.agent_radius <= specs.back().agent_radius) {
      from.Fail("the radii of agents do not ascend");
    }
    WAYSTAR_RETURN_IF_ERROR(ReadGround(from, larger.spec, stop));
    ReadLayers(from, version, larger.spec);
    specs.push_back(std::move(larger));
  }
  std::vector<Edit> grounds;
  const bool has_grounds = version >= MeshImageVersion::kGrounds;
  for (std::uint64_t left = has_grounds ? from.Number(kMaxGrounds) : 0; left > 0 && from.ok(); --left) {
    grounds.push_back(PutGround{ReadValue<MeshGround>(from)});
  }
  for (std::uint64_t left = has_grounds ? from.Number(kMaxProfiles) : 0; left > 0 && from.ok(); --left) {
    edits.push_back(PutMeshProfile{.profile = ReadValue<MeshProfile>(from)});
  }
  // Portals may be on grounds.
  edits.insert(edits.begin(), grounds.begin(), grounds.end());
  WAYSTAR_RETURN_IF_ERROR(from.status());
  std::vector<NavMesh> surfaces;
  for (SurfaceSpec& surface : specs) {
    absl::StatusOr<NavMesh> mesh = CreateMesh(std::move(surface.spec), stop);
    if (!mesh.ok()) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
      from.Fail(mesh.status().message());
      return from.status();
    }
    surfaces.push_back(mesh->WithAgentRadius(surface.agent_radius));
  }
  const NavMesh mesh = surfaces.front().WithLarger({surfaces.begin() + 1, surfaces.end()});
  MeshBatchEditor editor(mesh);
  if (const absl::Status status = editor.PutAll(edits, std::move(obstacles), stop); !status.ok()) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    from.Fail(status.message());
    return from.status();
  }
  return std::move(editor).Finish();
}

}  // namespace waystar::core
