#include "server/formats/mesh/soup_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/core/elements/tags.h"
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

std::uint32_t FileFaces::KindOfMaterial(absl::string_view name) {
  const auto [known, is_new] = materials.try_emplace(name, static_cast<std::uint32_t>(kinds.size()));
  if (is_new) {
    kinds.push_back({.terrain = {.name = std::string(name)}});
  }
  return known->second;
}

std::vector<std::string> BitTags(absl::string_view prefix, int first, std::uint32_t bits) {
  std::vector<std::string> tags;
  for (int bit = 0; bit < 32 && tags.size() < kMaxTags; ++bit) {
    if ((bits >> bit & 1U) != 0) {
      tags.push_back(absl::StrCat(prefix, first + bit));
    }
  }
  return tags;
}

namespace {

std::string TerrainName(absl::string_view name, UniqueIds& taken) {
  // A number fits behind it.
  constexpr std::size_t kMostBytes = kMaxNameBytes - 3;
  std::string terrain(name.substr(0, kMostBytes));
  std::ranges::replace_if(
      terrain, [](unsigned char c) { return !absl::ascii_isgraph(c); }, '-');
  return taken.Take(terrain) ? terrain : taken.TakeNumbered(terrain);
}

}  // namespace

void SetTerrains(const FileFaces& faces, absl::Span<const PolygonNumber> origins, ImportNotes* notes,
                 MeshSpec& spec) {
  if (faces.kind_of_polygon.empty()) {
    return;
  }
  std::vector<std::size_t> counts(faces.kinds.size());
  for (const PolygonNumber polygon : origins) {
    ++counts[faces.kind_of_polygon[polygon]];
  }
  const FileGround& some = faces.kinds[faces.kind_of_polygon[origins.front()]];
  if (std::ranges::count(counts, origins.size()) == 1 && some == FileGround{{.name = some.terrain.name}}) {
    return;
  }
  std::array<const FileGround*, kMaxMeshAreas> kinds = {};
  std::vector<std::uint8_t> areas(faces.kinds.size());
  const auto take = [&](std::size_t kind, std::size_t area) {
    kinds[area] = &faces.kinds[kind];
    areas[kind] = static_cast<std::uint8_t>(area);
    counts[kind] = 0;
  };
  for (std::size_t kind = 0; kind < areas.size(); ++kind) {
    const std::optional<std::uint8_t> area = faces.kinds[kind].area;
    if (area && kinds[*area] == nullptr && (counts[kind] > 0 || kind == 0)) {
      take(kind, *area);
    }
  }
  std::size_t left = 0;
  for (std::size_t kind = 0; kind < areas.size(); ++kind) {
    const auto free = std::ranges::find(kinds, nullptr);
    if (counts[kind] > 0 && free != kinds.end()) {
      take(kind, static_cast<std::size_t>(free - kinds.begin()));
    } else if (counts[kind] > 0) {
      areas[kind] = faces.kinds[kind].area.value_or(0);
      left += counts[kind];
    }
  }
  for (std::size_t i = 0; i < origins.size(); ++i) {
    spec.polygons[i].area = areas[faces.kind_of_polygon[origins[i]]];
  }
  UniqueIds taken;
  for (std::size_t area = 0; area <= std::ranges::max(spec.polygons, {}, &MeshPolygon::area).area; ++area) {
    MeshTerrain& terrain =
        spec.terrains.emplace_back(kinds[area] == nullptr ? DefaultMeshTerrain(area) : kinds[area]->terrain);
    terrain.name = TerrainName(terrain.name, taken);
  }
  if (left > 0 && notes != nullptr) {
    notes->Add(absl::StrCat("polygons are of more than ", kMaxMeshAreas,
                            " kinds of ground, and become the commonest of their area, or \"ground\""),
               "", static_cast<std::int64_t>(left));
  }
}

absl::Status OverrideTerrains(const ImportOptions& options, MeshSpec& spec) {
  for (std::size_t i = 0; i < options.mesh_terrains.size(); ++i) {
    const MeshTerrainOverride& own = options.mesh_terrains[i];
    const std::string field = absl::StrCat(kMeshTerrainsField, "[", i, "].");
    const auto before = absl::MakeConstSpan(options.mesh_terrains).first(i);
    if (own.area < 0 || own.area >= kMaxMeshAreas) {
      return MakeError(ErrorReason::kBadTerrain, field + "area",
                       absl::StrCat("areas are from 0 to ", kMaxMeshAreas - 1, ", got ", own.area));
    }
    if (std::ranges::find(before, own.area, &MeshTerrainOverride::area) != before.end()) {
      return MakeError(ErrorReason::kBadTerrain, field + "area",
                       absl::StrCat("there are two terrains for the area ", own.area));
    }
    const auto area = static_cast<std::size_t>(own.area);
    ExtendTerrains(area, spec.terrains);
    MeshTerrain& terrain = spec.terrains[area];
    terrain = {.name = own.name.empty() ? terrain.name : own.name,
               .tags = own.tags.empty() ? terrain.tags : own.tags,
               .cost = own.cost.value_or(terrain.cost),
               .is_impassable = own.is_impassable};
  }
  // The terrains of the options come last, since they are at fault if two have the same name.
  std::vector<MeshTerrain> checked;
  for (std::size_t area = 0; area < spec.terrains.size(); ++area) {
    if (std::ranges::find(options.mesh_terrains, static_cast<int>(area), &MeshTerrainOverride::area) ==
        options.mesh_terrains.end()) {
      checked.push_back(spec.terrains[area]);
    }
  }
  for (std::size_t i = 0; i < options.mesh_terrains.size(); ++i) {
    checked.push_back(spec.terrains[static_cast<std::size_t>(options.mesh_terrains[i].area)]);
    if (const absl::Status status = CheckMeshTerrains(checked); !status.ok()) {
      const std::string field = ErrorFieldOf(status);
      return WithField(status, absl::StrCat(kMeshTerrainsField, "[", i, "]", field.substr(field.find('.'))));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<NavMesh> MeshOfSpec(MeshSpec spec, const ImportOptions& options) {
  WAYSTAR_RETURN_IF_ERROR(OverrideTerrains(options, spec));
  absl::StatusOr<NavMesh> mesh = CreateMesh(std::move(spec), options.grid.stop);
  return mesh.ok() || ErrorFieldOf(mesh.status()).empty() ? mesh : WithField(mesh.status(), "");
}

absl::StatusOr<NavMesh> MeshOfSoup(FileFaces faces, const WeldTolerance& tolerance,
                                   const ImportOptions& options, WeldReport* report) {
  WeldReport own;
  WeldReport& made = report == nullptr ? own : *report;
  const StopCheck* const stop = options.grid.stop;
  WAYSTAR_ASSIGN_OR_RETURN(MeshSpec spec, WeldMesh(std::move(faces.soup), tolerance, stop, &made));
  if (spec.polygons.empty()) {
    return MakeError(ErrorReason::kBadSize, "", "no polygon of the file has an area, seen from above");
  }
  if (options.notes != nullptr && made.dropped > 0) {
    options.notes->Add("faces without an area, seen from above, are dropped", "",
                       static_cast<std::int64_t>(made.dropped));
  }
  SetTerrains(faces, made.origins, options.notes, spec);
  WAYSTAR_ASSIGN_OR_RETURN(NavMesh mesh, MeshOfSpec(std::move(spec), options));
  if (options.notes != nullptr) {
    WAYSTAR_RETURN_IF_ERROR(NoteCovered(mesh, stop, *options.notes));
    WAYSTAR_RETURN_IF_ERROR(NoteGaps(mesh, tolerance, stop, *options.notes));
  }
  return mesh;
}

absl::StatusOr<NavMesh> MeshOfFile(FileFaces faces, const ImportOptions& options) {
  const MeshBounds bounds = BoundsOf(faces.soup.spec);
  const double side = std::max({bounds.high.x - bounds.low.x, bounds.high.y - bounds.low.y, 0.0});
  const double plan = std::max(std::min(side * 1e-4, 0.01), PrecisionOf(bounds));
  const WeldTolerance tolerance =
      WithWeld({.plan = plan, .height = 25.0 * plan}, faces.soup.spec, options.weld);
  return MeshOfSoup(std::move(faces), tolerance, options);
}

absl::StatusOr<NavMesh> MeshOfFaces(FileFaces faces, const ImportOptions& options) {
  if (options.notes != nullptr) {
    NoteGeometry(faces.soup.spec, *options.notes);
  }
  return MeshOfFile(std::move(faces), options);
}

}  // namespace waystar::core
