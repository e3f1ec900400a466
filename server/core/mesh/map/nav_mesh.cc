#include "server/core/mesh/map/nav_mesh.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <tuple>

#include "absl/container/flat_hash_set.h"
#include "server/base/error.h"
#include "server/core/elements/element_hash.h"
#include "server/core/elements/waypoint.h"
#include "server/core/mesh/map/cell_layer.h"
#include "server/core/mesh/map/mesh_cells.h"
#include "server/core/mesh/map/mesh_check.h"
#include "server/core/mesh/map/plan.h"

namespace waystar::core {
namespace {

constexpr std::uint32_t kNoPart = std::numeric_limits<std::uint32_t>::max();

// Returns the point of a segment nearest to (x, y) seen from above; its height is not set.
WorldPoint NearestOnSegment(const WorldPoint& a, const WorldPoint& b, double x, double y) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  const double along = (x - a.x) * dx + (y - a.y) * dy;
  if (along <= 0.0) {
    return a;
  }
  if (along >= length) {
    return b;
  }
  const double share = along / length;
  return Rounded(WorldPoint{a.x + share * dx, a.y + share * dy, 0.0});
}

// Returns true if, seen from the vertex, the direction of the point lies counterclockwise after that of
// `begin` and not after that of `end`.
// REQUIRES: `end` is at most half a turn after `begin`.
bool IsBetween(const FixedPoint& vertex, const FixedPoint& begin, const FixedPoint& point,
               const FixedPoint& end) {
  const auto is_ahead = [&](const FixedPoint& a, const FixedPoint& b) {
    return Int128{a.x - vertex.x} * (b.x - vertex.x) + Int128{a.y - vertex.y} * (b.y - vertex.y) > 0;
  };
  const Int128 from_begin = SideOf(vertex, begin, point);
  const Int128 to_end = SideOf(vertex, point, end);
  return (from_begin > 0 || (from_begin == 0 && !is_ahead(begin, point))) &&
         (to_end > 0 || (to_end == 0 && is_ahead(point, end)));
}

// A convex outline and its box, for tests against other boxes.
class OutlineBox {
 public:
  OutlineBox(absl::Span<const WorldPoint> outline, double margin)
      : outline_(outline), room_(std::max(-margin, 0.0)) {
    reaches_.reserve(outline.size());
    for (std::size_t k = 0; k < outline.size(); ++k) {
      const WorldPoint& a = outline[k];
      const WorldPoint& b = EndOfSide(k);
      reaches_.push_back(margin * DistanceInPlan(a, b));
      box_.Add(a);
    }
  }

  // Returns false if a side of the outline or of the box separates the two.
  bool MayTouch(const MeshBounds& box) const {
    if (box.high.x + room_ < box_.low.x || box.low.x - room_ > box_.high.x ||
        box.high.y + room_ < box_.low.y || box.low.y - room_ > box_.high.y) {
      return false;
    }
    for (std::size_t k = 0; k < outline_.size(); ++k) {
      const WorldPoint& a = outline_[k];
      const WorldPoint& b = EndOfSide(k);
      // Corner of the box furthest to the left of the side.
      const WorldPoint corner{b.y > a.y ? box.low.x : box.high.x, b.x > a.x ? box.high.y : box.low.y, 0.0};
      if (Side(a, b, corner) <= reaches_[k]) {
        return false;
      }
    }
    return true;
  }

 private:
  const WorldPoint& EndOfSide(std::size_t k) const { return outline_[k + 1 < outline_.size() ? k + 1 : 0]; }

  absl::Span<const WorldPoint> outline_;
  // Distance outside at which boxes are accepted.
  double room_;
  // For each side, the margin times its length.
  std::vector<double> reaches_;
  MeshBounds box_;
};

// Computes HasWithin by edge crossings: for polygons of any shape and points on their edges, but slower.
bool HasWithinByCrossings(const NavMesh& mesh, PolygonNumber polygon, const WorldPoint& point) {
  const absl::Span<const std::uint32_t> loop = mesh.VerticesOf(polygon);
  bool is_inside = false;
  const WorldPoint* a = &mesh.VertexAt(loop.back());
  for (const std::uint32_t vertex : loop) {
    const WorldPoint* const b = &mesh.VertexAt(vertex);
    if ((a->y > point.y) != (b->y > point.y)) {
      const double side = Side(*a, *b, point);
      if (side == 0.0) {
        return true;
      }
      is_inside ^= (side > 0.0) == (b->y > a->y);
    } else if (b->y == point.y &&
               (b->x == point.x || (a->y == point.y && (a->x > point.x) != (b->x > point.x)))) {
      return true;
    }
    a = b;
  }
  return is_inside;
}

template <typename Point>
void AddPoint(const Point& point, ElementHash& hash) {
  hash.AddDouble(point.x);
  hash.AddDouble(point.y);
  hash.AddDouble(point.z);
}

// Adds the heights of a polygon's finer ground to its box.
void AddHeights(const MeshDetail& detail, std::size_t polygon, MeshBounds& box) {
  if (detail.empty()) {
    return;
  }
  for (const DetailPoint& point : detail.Of(polygon).points) {
    box.low.z = std::min(box.low.z, double{point.z});
    box.high.z = std::max(box.high.z, double{point.z});
  }
}

}  // namespace

absl::StatusOr<NavMesh> NavMesh::Create(MeshSpec spec, const StopCheck* stop) {
  WAYSTAR_RETURN_IF_ERROR(CheckMeshParts(spec, stop));
  auto surface = std::make_shared<Surface>();
  WAYSTAR_ASSIGN_OR_RETURN(surface->neighbours, MatchMeshEdges(spec, stop));
  WAYSTAR_RETURN_IF_ERROR(SplitFans(spec, surface->neighbours, stop));
  if (spec.detail.point_count() > 0) {
    spec.detail.ShrinkToFit();
    surface->detail = std::make_shared<const MeshDetail>(std::move(spec.detail));
  }
  surface->terrains = std::move(spec.terrains);
  surface->vertices = std::move(spec.vertices);
  surface->corners = std::move(spec.corners);
  for (WorldPoint& vertex : surface->vertices) {
    vertex = Rounded(vertex);
  }
  surface->polygons.reserve(spec.polygons.size());
  std::uint32_t first_corner = 0;
  for (const MeshPolygon& polygon : spec.polygons) {
    surface->used_areas.set(polygon.area);
    ExtendTerrains(polygon.area, surface->terrains);
    surface->polygons.push_back({.first_corner = first_corner,
                                 .part = kNoPart,
                                 .corner_count = static_cast<std::uint8_t>(polygon.corner_count),
                                 .area = polygon.area});
    first_corner += polygon.corner_count;
  }
  // A name may be that of a default.
  WAYSTAR_RETURN_IF_ERROR(CheckMeshTerrains(surface->terrains));
  surface->costs.fill(1.0);
  surface->has_plain_terrains = std::ranges::all_of(surface->terrains, [](const MeshTerrain& terrain) {
    return terrain.cost == 1.0 && !terrain.is_impassable;
  });
  surface->digest = DigestOf(*surface);
  WAYSTAR_RETURN_IF_ERROR(Derive(*surface, stop));
  return NavMesh(std::move(surface));
}

absl::StatusOr<NavMesh> NavMesh::WithCosts(const AreaCosts& costs, const StopCheck* stop) const {
  assert(!is_cut() && !is_weighted() && obstacles_.size() == 0 && portals_->empty());
  MeshSpec spec{
      .vertices = surface_->vertices, .corners = surface_->corners, .neighbours = surface_->neighbours};
  for (const Face& face : surface_->polygons) {
    spec.polygons.push_back({.corner_count = face.corner_count, .area = face.area});
  }
  const auto is_removed = [&](PolygonNumber polygon) { return surface_->polygons[polygon].is_removed; };
  return Remade(std::move(spec), surface_->detail, costs, is_removed, stop);
}

absl::StatusOr<NavMesh> NavMesh::WithParts(GroundParts parts, const GroundTable& grounds,
                                           const StopCheck* stop) const {
  assert(file_ == nullptr);
  std::shared_ptr<const MeshDetail> detail = surface_->detail;
  if (!detail->empty() && parts.spec.polygons.size() > polygon_count_) {
    MeshDetail extended = *detail;
    for (std::size_t i = polygon_count_; i < parts.spec.polygons.size(); ++i) {
      extended.Add({});
    }
    detail = std::make_shared<const MeshDetail>(std::move(extended));
  }
  if (parts.spec.polygons.size() > kMaxMeshPolygons || parts.spec.corners.size() > kMaxMeshCorners) {
    return MakeError(ErrorReason::kBadSize, "", "the mesh has too many polygons or corners with its grounds");
  }
  const auto is_removed = [&](PolygonNumber polygon) {
    return polygon < parts.is_removed.size() && parts.is_removed[polygon];
  };
  WAYSTAR_ASSIGN_OR_RETURN(
      NavMesh mesh, Remade(std::move(parts.spec), std::move(detail), surface_->costs, is_removed, stop));
  mesh.file_ = std::make_shared<const NavMesh>(*this);
  mesh.grounds_ = grounds;
  return mesh;
}

template <typename IsRemoved>
absl::StatusOr<NavMesh> NavMesh::Remade(MeshSpec spec, std::shared_ptr<const MeshDetail> detail,
                                        const AreaCosts& costs, const IsRemoved& is_removed,
                                        const StopCheck* stop) const {
  auto surface = std::make_shared<Surface>();
  surface->detail = std::move(detail);
  surface->terrains = surface_->terrains;
  surface->has_plain_terrains = surface_->has_plain_terrains;
  surface->costs = costs;
  surface->digest = surface_->digest;
  std::uint32_t first_corner = 0;
  surface->polygons.reserve(spec.polygons.size());
  for (PolygonNumber i = 0; i < spec.polygons.size(); ++i) {
    const MeshPolygon& polygon = spec.polygons[i];
    surface->used_areas.set(polygon.area);
    surface->polygons.push_back({.first_corner = first_corner,
                                 .part = kNoPart,
                                 .corner_count = static_cast<std::uint8_t>(polygon.corner_count),
                                 .area = polygon.area,
                                 .is_removed = is_removed(i)});
    first_corner += polygon.corner_count;
  }
  surface->neighbours = std::move(spec.neighbours);
  CloseAreas(*surface);
  WAYSTAR_RETURN_IF_ERROR(SplitFans(spec, surface->neighbours, stop));
  surface->vertices = std::move(spec.vertices);
  surface->corners = std::move(spec.corners);
  WAYSTAR_RETURN_IF_ERROR(Derive(*surface, stop));
  NavMesh mesh(std::move(surface));
  mesh.agent_radius_ = agent_radius_;
  if (landmarks_ != nullptr && mesh.surface_->corners.size() == surface_->corners.size()) {
    auto landmarks = std::make_shared<LandmarkTable>(*landmarks_);
    landmarks->distances.resize(mesh.vertex_count());
    for (std::size_t i = 0; i < surface_->corners.size(); ++i) {
      landmarks->distances[mesh.surface_->corners[i]] = landmarks_->distances[surface_->corners[i]];
    }
    mesh.landmarks_ = std::move(landmarks);
  }
  return mesh;
}

absl::Status NavMesh::Derive(Surface& surface, const StopCheck* stop) {
  std::vector<MeshBounds> boxes;
  boxes.reserve(surface.polygons.size());
  for (const Face& face : surface.polygons) {
    MeshBounds box;
    for (std::uint32_t k = 0; k < face.corner_count; ++k) {
      box.Add(surface.vertices[surface.corners[face.first_corner + k]]);
    }
    AddHeights(*surface.detail, boxes.size(), box);
    boxes.push_back(box);
    surface.bounds.Add(box);
  }
  for (const auto note : {NoteDents, LabelParts, NoteWalls, NoteSpirals}) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    note(surface);
  }
  WAYSTAR_RETURN_IF_ERROR(MakeCells(surface, stop));
  surface.tree = PolygonTree(boxes, stop);
  surface.wall_tree = TreeOfWalls(surface, stop);
  return CheckStop(stop);
}

void NavMesh::CloseAreas(Surface& surface) {
  double least = std::numeric_limits<double>::infinity();
  for (Face& face : surface.polygons) {
    const double cost = surface.costs[face.area];
    face.is_closed = cost == 0.0 || face.is_removed;
    surface.closed_count += face.is_closed ? 1 : 0;
    surface.is_weighted |= !face.is_closed && cost != 1.0;
    least = face.is_closed ? least : std::min(least, cost);
  }
  surface.least_cost = std::isfinite(least) ? least : 1.0;
  for (const Face& face : surface.polygons) {
    for (std::uint32_t i = face.first_corner; i < face.first_corner + face.corner_count; ++i) {
      PolygonNumber& next = surface.neighbours[i];
      if (next != kNoPolygon && (face.is_closed || surface.polygons[next].is_closed)) {
        next = kNoPolygon;
      }
    }
  }
}

void NavMesh::NoteDents(Surface& surface) {
  std::array<FixedPoint, kMaxPolygonCorners> points;
  for (Face& face : surface.polygons) {
    for (std::size_t k = 0; k < face.corner_count; ++k) {
      points[k] = ToFixed(surface.vertices[surface.corners[face.first_corner + k]]);
    }
    for (std::size_t k = 0; k < face.corner_count; ++k) {
      const std::size_t next = k + 1 < face.corner_count ? k + 1 : 0;
      const std::size_t after = next + 1 < face.corner_count ? next + 1 : 0;
      face.is_dented |= SideOf(points[k], points[next], points[after]) < 0;
    }
  }
}

absl::Status NavMesh::MakeCells(Surface& surface, const StopCheck* stop) {
  std::vector<CellSource> polygons;
  polygons.reserve(surface.polygons.size());
  for (const Face& face : surface.polygons) {
    polygons.push_back({face.first_corner, face.corner_count, face.area, face.is_dented});
  }
  WAYSTAR_ASSIGN_OR_RETURN(
      MeshCells made, FindMeshCells({surface.vertices, polygons, surface.corners, surface.neighbours}, stop));
  const auto neighbours_of = [&](PolygonNumber cell) {
    return absl::MakeConstSpan(made.neighbours)
        .subspan(made.cells[cell].first_corner, made.cells[cell].corner_count);
  };
  MeshRooms rooms = FindMeshRooms(made.cells.size(), neighbours_of, stop);
  WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
  for (PolygonNumber polygon = 0; polygon < surface.polygons.size(); ++polygon) {
    surface.polygons[polygon].room = rooms.room_of[made.cell_of[polygon]];
  }
  surface.outer_rooms = std::move(rooms.outer);
  surface.cells = std::make_shared<const CellTable>(std::move(made), rooms.room_of);
  return absl::OkStatus();
}

void NavMesh::LabelParts(Surface& surface) {
  std::vector<PolygonNumber> open;
  for (PolygonNumber first = 0; first < surface.polygons.size(); ++first) {
    if (surface.polygons[first].part != kNoPart) {
      continue;
    }
    const auto part = static_cast<std::uint32_t>(surface.part_count++);
    surface.polygons[first].part = part;
    open.push_back(first);
    while (!open.empty()) {
      const Face& face = surface.polygons[open.back()];
      open.pop_back();
      for (std::uint32_t k = 0; k < face.corner_count; ++k) {
        const PolygonNumber next = surface.neighbours[face.first_corner + k];
        if (next != kNoPolygon && surface.polygons[next].part == kNoPart) {
          surface.polygons[next].part = part;
          open.push_back(next);
        }
      }
    }
  }
}

void NavMesh::NoteWalls(Surface& surface) {
  surface.walls.resize(surface.vertices.size());
  for (PolygonNumber polygon = 0; polygon < surface.polygons.size(); ++polygon) {
    const Face& face = surface.polygons[polygon];
    for (std::uint32_t k = 0; k < face.corner_count; ++k) {
      if (face.is_closed || surface.neighbours[face.first_corner + k] != kNoPolygon) {
        continue;
      }
      const std::uint32_t from = surface.corners[face.first_corner + k];
      const std::uint32_t to = surface.corners[face.first_corner + (k + 1) % face.corner_count];
      surface.walls[from].to = to;
      surface.walls[to].from = from;
      surface.wall_edges.push_back({polygon, k});
    }
  }
  surface.wall_edges.shrink_to_fit();
}

PolygonTree NavMesh::TreeOfWalls(const Surface& surface, const StopCheck* stop) {
  std::vector<MeshBounds> boxes;
  boxes.reserve(surface.wall_edges.size());
  for (const WallEdge& edge : surface.wall_edges) {
    const Face& face = surface.polygons[edge.polygon];
    MeshBounds box;
    for (const std::uint32_t k : {edge.corner, (edge.corner + 1) % face.corner_count}) {
      const WorldPoint& end = surface.vertices[surface.corners[face.first_corner + k]];
      box.Add(WorldPoint{end.x, end.y, 0.0});
    }
    boxes.push_back(box);
  }
  return PolygonTree(boxes, stop);
}

// Counterclockwise around a vertex, the polygons start at the wall that leads away from it. They form more
// than a full turn if another one reaches that direction.
void NavMesh::NoteSpirals(Surface& surface) {
  for (const Face& face : surface.polygons) {
    for (std::uint32_t k = 0; k < face.corner_count; ++k) {
      const auto vertex_at = [&](std::uint32_t place) {
        return surface.corners[face.first_corner + place % face.corner_count];
      };
      VertexWalls& walls = surface.walls[vertex_at(k)];
      const bool is_first = surface.neighbours[face.first_corner + k] == kNoPolygon;
      if (is_first || walls.to == VertexWalls::kNone || walls.to == VertexWalls::kSeveral) {
        continue;
      }
      const auto at = [&](std::uint32_t vertex) { return ToFixed(surface.vertices[vertex]); };
      if (IsBetween(at(vertex_at(k)), at(vertex_at(k + 1)), at(walls.to),
                    at(vertex_at(k + face.corner_count - 1)))) {
        walls = {VertexWalls::kSeveral, VertexWalls::kSeveral};
      }
    }
  }
}

std::uint64_t NavMesh::DigestOf(const Surface& surface) {
  ElementHash hash(ElementKind::kMesh);
  hash.Add(surface.vertices.size());
  for (const WorldPoint& vertex : surface.vertices) {
    AddPoint(vertex, hash);
  }
  hash.Add(surface.polygons.size());
  for (const Face& face : surface.polygons) {
    hash.Add(std::uint64_t{face.corner_count} << 8 | face.area);
    for (std::uint32_t i = face.first_corner; i < face.first_corner + face.corner_count; ++i) {
      hash.Add(std::uint64_t{surface.corners[i]} << 32 | surface.neighbours[i]);
    }
  }
  return hash.value() + DigestOf(*surface.detail) + DigestOf(surface.terrains);
}

std::uint64_t NavMesh::DigestOf(const MeshDetail& detail) {
  if (detail.empty()) {
    return 0;
  }
  ElementHash hash(ElementKind::kMeshDetail);
  for (std::size_t polygon = 0; polygon < detail.polygon_count(); ++polygon) {
    const PolygonDetail ground = detail.Of(polygon);
    hash.Add(ground.points.size());
    for (const DetailPoint& point : ground.points) {
      AddPoint(point, hash);
    }
    hash.Add(ground.triangles.size());
    for (const auto& [a, b, c] : ground.triangles) {
      hash.Add(std::uint64_t{a} << 16 | std::uint64_t{b} << 8 | c);
    }
  }
  return hash.value();
}

std::uint64_t NavMesh::DigestOf(absl::Span<const MeshTerrain> terrains) {
  std::uint64_t digest = 0;
  for (std::size_t area = 0; area < terrains.size(); ++area) {
    const MeshTerrain& terrain = terrains[area];
    if (terrain == DefaultMeshTerrain(area)) {
      continue;
    }
    ElementHash hash(ElementKind::kMeshTerrain);
    hash.Add(area);
    hash.AddText(terrain.name);
    hash.AddTags(terrain.tags);
    hash.AddDouble(terrain.cost);
    hash.Add(terrain.is_impassable ? 1 : 0);
    digest += hash.value();
  }
  return digest;
}

MeshBounds NavMesh::BoundsOf(PolygonNumber polygon) const {
  MeshBounds bounds;
  for (const std::uint32_t vertex : VerticesOf(polygon)) {
    bounds.Add(VertexAt(vertex));
  }
  AddHeights(*surface_->detail, WholeOf(polygon), bounds);
  return bounds;
}

std::uint64_t NavMesh::DigestOfRadius() const {
  if (agent_radius_ == 0.0) {
    return 0;
  }
  ElementHash hash(ElementKind::kMeshRadius);
  hash.AddDouble(agent_radius_);
  return hash.value();
}

std::uint64_t NavMesh::DigestOfLarger() const {
  std::uint64_t digest = 0;
  for (const NavMesh& surface : larger()) {
    ElementHash hash(ElementKind::kMeshSurface);
    hash.AddDouble(surface.agent_radius_);
    hash.Add(surface.surface_->digest);
    digest += hash.value();
  }
  return digest;
}

NavMesh NavMesh::Bare() const {
  NavMesh mesh(surface_);
  mesh.agent_radius_ = agent_radius_;
  mesh.file_ = file_;
  mesh.grounds_ = grounds_;
  mesh.landmarks_ = landmarks_;
  return mesh;
}

NavMesh NavMesh::WithLarger(std::vector<NavMesh> surfaces) const {
  assert(surfaces.size() < kMaxMeshSurfaces);
  NavMesh mesh = *this;
  mesh.larger_ =
      surfaces.empty() ? nullptr : std::make_shared<const std::vector<NavMesh>>(std::move(surfaces));
  return mesh;
}

const NavMesh* NavMesh::SurfaceFor(double radius) const {
  constexpr double kSinglePrecision = 1.0 + 0x1p-23;
  const auto fits = [&](const NavMesh& surface) {
    return radius <= surface.agent_radius_ * kSinglePrecision;
  };
  if (radius == 0.0 || fits(*this)) {
    return this;
  }
  const absl::Span<const NavMesh> surfaces = larger();
  const auto surface = std::ranges::find_if(surfaces, fits);
  return surface == surfaces.end() ? nullptr : &*surface;
}

NavMesh NavMesh::WithProfiles(MeshProfileTable profiles) const {
  NavMesh mesh = *this;
  mesh.profiles_digest_ = core::DigestOf(profiles);
  mesh.profiles_ = std::make_shared<const MeshProfileTable>(std::move(profiles));
  return mesh;
}

NavMesh NavMesh::AfterEdits() const {
  std::vector<NavMesh> surfaces;
  for (const NavMesh& surface : larger()) {
    surfaces.push_back(surface.AfterEdits());
  }
  NavMesh mesh = WithLarger(std::move(surfaces));
  mesh.views_ = views_->AfterEdits();
  return mesh;
}

void NavMesh::DropViews(bool used_too) const {
  views_->Drop(used_too);
  for (const NavMesh& surface : larger()) {
    surface.DropViews(used_too);
  }
}

std::vector<PolygonNumber> NavMesh::Polygons() const {
  std::vector<PolygonNumber> polygons;
  polygons.reserve(polygon_count_);
  for (PolygonNumber polygon = 0; polygon < polygon_count_; ++polygon) {
    ForEachPieceOf(polygon, [&](PolygonNumber piece) { polygons.push_back(piece); });
  }
  return polygons;
}

const WorldPoint& NavMesh::CutVertexAt(std::uint32_t vertex) const {
  const auto [owner, index] = cuts_->polygons.numbers().OwnerOfVertex(vertex);
  return cuts_->polygons.Find(owner)->points[index];
}

const VertexWalls& NavMesh::CutWallsAt(std::uint32_t vertex) const {
  const auto [owner, index] = cuts_->polygons.numbers().OwnerOfVertex(vertex);
  return cuts_->polygons.Find(owner)->walls[index];
}

std::size_t NavMesh::CornerAt(PolygonNumber polygon, std::uint32_t vertex) const {
  return FindCorner(*this, polygon, vertex);
}

std::uint32_t NavMesh::PartAmongCuts(PolygonNumber polygon) const {
  if (!cuts_->own_parts.empty()) {
    const auto part = cuts_->own_parts.find(polygon);
    if (part != cuts_->own_parts.end()) {
      return part->second;
    }
  }
  const PolygonNumber whole = WholeOf(polygon);
  return cuts_->parts == nullptr ? surface_->polygons[whole].part : (*cuts_->parts)[whole];
}

bool NavMesh::Contains(PolygonNumber polygon, const FixedPoint& point) const {
  return HasWithin(
      polygon, {static_cast<double>(point.x) / kFixedScale, static_cast<double>(point.y) / kFixedScale, 0.0});
}

bool NavMesh::HasWithin(PolygonNumber polygon, const WorldPoint& point) const {
  const absl::Span<const std::uint32_t> loop = VerticesOf(polygon);
  // Differences are exact, and rounding the products preserves their order: sides are correct unless two
  // products are equal. Branch-free, because the branches would be unpredictable.
  bool is_right_of_any = false;
  bool is_unsure = false;
  const WorldPoint* a = &VertexAt(loop.back());
  for (const std::uint32_t vertex : loop) {
    const WorldPoint* const b = &VertexAt(vertex);
    const double left = (b->x - a->x) * (point.y - a->y);
    const double right = (b->y - a->y) * (point.x - a->x);
    is_right_of_any |= left < right;
    is_unsure |= left == right;
    a = b;
  }
  if (is_right_of_any ? !IsDented(polygon) : !is_unsure) {
    return !is_right_of_any;
  }
  return HasWithinByCrossings(*this, polygon, point);
}

double NavMesh::HeightAt(PolygonNumber polygon, double x, double y) const {
  polygon = WholeOf(polygon);
  if (!surface_->detail->empty()) {
    if (const std::optional<double> height = surface_->detail->Of(polygon).HeightAt(x, y)) {
      return *height;
    }
  }
  const absl::Span<const std::uint32_t> loop = VerticesOf(polygon);
  WorldPoint mean;
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -lowest;
  for (const std::uint32_t number : loop) {
    const WorldPoint& vertex = VertexAt(number);
    mean = {mean.x + vertex.x, mean.y + vertex.y, mean.z + vertex.z};
    lowest = std::min(lowest, vertex.z);
    highest = std::max(highest, vertex.z);
  }
  if (lowest == highest) {
    return lowest;
  }
  const auto count = static_cast<double>(loop.size());
  mean = {mean.x / count, mean.y / count, mean.z / count};
  // Uses the triangle whose edges the point is furthest inside. Rounding may put the point outside all
  // triangles.
  double height = mean.z;
  double most_inside = -std::numeric_limits<double>::infinity();
  const double from_x = x - mean.x;
  const double from_y = y - mean.y;
  ForEachEdge(*this, polygon, [&](std::uint32_t, const WorldPoint& a, const WorldPoint& b) {
    const double ax = a.x - mean.x;
    const double ay = a.y - mean.y;
    const double bx = b.x - mean.x;
    const double by = b.y - mean.y;
    const double whole = ax * by - ay * bx;
    const double beside_a = from_x * by - from_y * bx;
    const double beside_b = ax * from_y - ay * from_x;
    // Most triangles are excluded without a division.
    if (whole <= 0.0 || (std::min(beside_a, beside_b) < 0.0 && most_inside >= 0.0)) {
      return;
    }
    const double of_a = beside_a / whole;
    const double of_b = beside_b / whole;
    if (std::min(of_a, of_b) > most_inside) {
      most_inside = std::min(of_a, of_b);
      height = mean.z + of_a * (a.z - mean.z) + of_b * (b.z - mean.z);
    }
  });
  return Rounded(std::clamp(height, lowest, highest));
}

WorldPoint NavMesh::NearestPoint(PolygonNumber polygon, double x, double y) const {
  WorldPoint nearest = Rounded(WorldPoint{x, y, 0.0});
  if (!HasWithin(polygon, nearest)) {
    const WorldPoint from = nearest;
    double least = std::numeric_limits<double>::infinity();
    ForEachEdge(*this, polygon, [&](std::uint32_t, const WorldPoint& a, const WorldPoint& b) {
      const WorldPoint point = NearestOnSegment(a, b, from.x, from.y);
      const double distance = SquaredPlanDistance(point, from);
      if (distance < least) {
        least = distance;
        nearest = point;
      }
    });
  }
  nearest.z = HeightAt(polygon, nearest.x, nearest.y);
  return nearest;
}

std::optional<WorldPoint> NavMesh::PointAt(PolygonNumber polygon, double x, double y) const {
  WorldPoint rounded = Rounded(WorldPoint{x, y, 0.0});
  if (!HasWithin(polygon, rounded)) {
    return std::nullopt;
  }
  rounded.z = HeightAt(polygon, rounded.x, rounded.y);
  return rounded;
}

WorldPoint NavMesh::NearestPointBy(PolygonNumber polygon, std::size_t corner, double x, double y) const {
  const EdgeEnds edge = EndsOf({polygon, static_cast<std::uint32_t>(corner)});
  WorldPoint rounded = Rounded(WorldPoint{x, y, 0.0});
  const WorldPoint on_edge = NearestOnSegment(edge.from, edge.to, rounded.x, rounded.y);
  // If the position is on the edge, it is its own nearest point.
  if (on_edge.x != rounded.x || on_edge.y != rounded.y) {
    return NearestPoint(polygon, x, y);
  }
  rounded.z = HeightAt(polygon, rounded.x, rounded.y);
  return rounded;
}

template <typename Pieces>
std::optional<MeshPlace> NavMesh::FindNearestAmong(const MeshReach& reach, std::optional<std::uint32_t> part,
                                                   const Pieces& visit_pieces) const {
  const MeshReach rounded{Rounded(reach.position), reach.radius, reach.height};
  const WorldPoint& position = rounded.position;
  double least = std::numeric_limits<double>::infinity();
  MeshPlace place;
  const auto foresee = [&](PolygonNumber polygon) { PrefetchFace(polygon); };
  const auto take = [&](PolygonNumber polygon) {
    if (part.has_value() && PartOf(polygon) != *part) {
      return;
    }
    const WorldPoint point = NearestPoint(polygon, position.x, position.y);
    const double plan = SquaredPlanDistance(point, position);
    const double up = std::abs(point.z - position.z);
    if (plan > reach.radius * reach.radius || up > reach.height) {
      return;
    }
    const double distance = plan + up * up;
    if (distance < least || (distance == least && Precedes(polygon, place.polygon))) {
      least = distance;
      place = {polygon, point};
    }
  };
  surface_->tree.VisitNear(rounded, least, foresee,
                           [&](PolygonNumber polygon) { visit_pieces(polygon, take); });
  if (place.polygon == kNoPolygon) {
    return std::nullopt;
  }
  return place;
}

std::optional<MeshPlace> NavMesh::FindNearest(const MeshReach& reach,
                                              std::optional<std::uint32_t> part) const {
  return FindNearestAmong(reach, part,
                          [&](PolygonNumber polygon, const auto& visit) { ForEachPieceOf(polygon, visit); });
}

std::optional<MeshPlace> NavMesh::FindNearestWhole(const MeshReach& reach) const {
  return FindNearestAmong(reach, std::nullopt, [&](PolygonNumber polygon, const auto& visit) {
    if (!surface_->polygons[polygon].is_removed) {
      visit(polygon);
    }
  });
}

std::optional<MeshPlace> NavMesh::FindNearestByBox(const MeshReach& reach) const {
  const MeshReach rounded{Rounded(reach.position), reach.radius, reach.height};
  const WorldPoint& position = rounded.position;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double least = kInfinity;
  double least_up = kInfinity;
  // Maximum distance of boxes that may contain a polygon as near as the best.
  double limit = kInfinity;
  MeshPlace place;
  const auto foresee = [&](PolygonNumber polygon) { PrefetchFace(polygon); };
  surface_->tree.VisitNear(rounded, limit, foresee, [&](PolygonNumber polygon) {
    const WorldPoint point = NearestPoint(polygon, position.x, position.y);
    const double plan = SquaredPlanDistance(point, position);
    const MeshBounds box = BoundsOf(polygon);
    if (plan > reach.radius * reach.radius || box.low.z > position.z + reach.height ||
        box.high.z < position.z - reach.height) {
      return;
    }
    const double up = std::abs(point.z - position.z);
    const double beyond = plan == 0.0 ? std::max(up - reach.height, 0.0) : up;
    const double distance = plan + beyond * beyond;
    if (std::tie(distance, up) < std::tie(least, least_up) ||
        (distance == least && up == least_up && Precedes(polygon, place.polygon))) {
      least = distance;
      least_up = up;
      const double away = std::sqrt(least) + reach.height;
      limit = away * away;
      place = {polygon, point};
    }
  });
  return place.polygon == kNoPolygon ? std::nullopt : std::optional(place);
}

void NavMesh::FindAllNear(const MeshReach& reach, std::vector<MeshPlace>& places) const {
  const MeshReach rounded{Rounded(reach.position), reach.radius, reach.height};
  const WorldPoint& position = rounded.position;
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  const auto first = static_cast<std::ptrdiff_t>(places.size());
  const auto foresee = [&](PolygonNumber polygon) { PrefetchFace(polygon); };
  const auto add = [&](PolygonNumber polygon) {
    const WorldPoint point = NearestPoint(polygon, position.x, position.y);
    if (SquaredPlanDistance(point, position) <= reach.radius * reach.radius &&
        std::abs(point.z - position.z) <= reach.height) {
      places.push_back({polygon, point});
    }
  };
  surface_->tree.VisitNear(rounded, kNoLimit, foresee,
                           [&](PolygonNumber polygon) { ForEachPieceOf(polygon, add); });
  std::sort(places.begin() + first, places.end(),
            [&](const MeshPlace& a, const MeshPlace& b) { return Precedes(a.polygon, b.polygon); });
}

void NavMesh::FindAllTouching(absl::Span<const WorldPoint> outline, double margin,
                              std::vector<PolygonNumber>& polygons) const {
  const OutlineBox around(outline, margin);
  const auto may_touch = [&](const MeshBounds& box) { return around.MayTouch(box); };
  const auto first = static_cast<std::ptrdiff_t>(polygons.size());
  surface_->tree.VisitTouching(may_touch, [&](PolygonNumber polygon) {
    if (!IsClosed(polygon) && may_touch(BoundsOf(polygon))) {
      polygons.push_back(polygon);
    }
  });
  std::sort(polygons.begin() + first, polygons.end());
}

PlacedPortal NavMesh::Placed(const MeshPortal& portal) const { return PlacedOn(WithCuts(nullptr), portal); }

PlacedPortal NavMesh::PlacedOn(const NavMesh& whole, const MeshPortal& portal) const {
  PlacedPortal placed{portal, {}, {}, !portal.to_map.empty()};
  std::vector<MeshPlace> near;
  // Returns the place on the uncut mesh, and notes the polygons that meet there.
  const auto ground_at = [&](const WorldPoint& position) {
    const bool is_within = CheckPosition(position).ok();
    const std::optional<MeshPlace> ground = is_within ? MeshPlaceAt(whole, position) : std::nullopt;
    if (ground) {
      whole.FindAllNear({ground->point, kMeshTolerance, kMeshTolerance}, near);
    }
    return ground;
  };
  const auto place_on = [&](const std::optional<MeshPlace>& ground) {
    if (!ground || !is_cut()) {
      return ground.value_or(MeshPlace());
    }
    return FindNearest({ground->point, kMeshTolerance, kMeshTolerance}).value_or(MeshPlace());
  };
  const std::optional<MeshPlace> from = ground_at(portal.from);
  const std::optional<MeshPlace> to = portal.to_map.empty() ? ground_at(portal.to) : std::nullopt;
  placed.lanes.push_back({place_on(from), place_on(to)});
  const double dx = portal.to.x - portal.from.x;
  const double dy = portal.to.y - portal.from.y;
  const double length = std::sqrt(dx * dx + dy * dy);
  for (int i = 0; i < kPortalLanes && portal.width > 0.0; ++i) {
    const double aside = portal.width * (static_cast<double>(i) / (kPortalLanes - 1) - 0.5);
    const auto beside = [&](const std::optional<MeshPlace>& middle) {
      if (!middle) {
        return MeshPlace();
      }
      const WorldPoint& at = middle->point;
      const auto ground = ground_at({at.x - dy / length * aside, at.y + dx / length * aside, at.z});
      return ground && std::abs(ground->point.z - at.z) <= std::abs(aside) ? place_on(ground) : MeshPlace();
    };
    if (aside != 0.0) {
      placed.lanes.push_back({beside(from), beside(to)});
    }
  }
  for (const PortalLane& lane : placed.lanes) {
    placed.is_shortcut |=
        lane.is_open() && portal.cost < kLineShare * DistanceInPlan(lane.from.point, lane.to.point);
  }
  for (const MeshPlace& place : near) {
    placed.polygons.push_back(place.polygon);
  }
  std::ranges::sort(placed.polygons);
  placed.polygons.erase(std::unique(placed.polygons.begin(), placed.polygons.end()), placed.polygons.end());
  placed.polygons.shrink_to_fit();
  return placed;
}

absl::StatusOr<NavMesh> NavMesh::WithPortalsPlaced(absl::Span<const Box> boxes, const StopCheck* stop) const {
  if (portals_->empty()) {
    return *this;
  }
  MeshPortalTable placed = *portals_;
  std::vector<PolygonNumber> polygons;
  for (const Box& box : boxes) {
    const WorldPoint low = Rounded({box.x_low, box.y_low, 0.0});
    const WorldPoint high = Rounded({box.x_high, box.y_high, 0.0});
    FindAllTouching({{low, {high.x, low.y, 0.0}, high, {low.x, high.y, 0.0}}}, -kMeshTolerance, polygons);
  }
  // A portal is at several polygons.
  absl::flat_hash_set<const PlacedPortal*> seen;
  const NavMesh whole = WithCuts(nullptr);
  absl::Status status;
  for (const PolygonNumber polygon : polygons) {
    if (const MeshPortalTable::Portals* const portals = portals_->At(polygon)) {
      portals->VisitAfter("", [&](const PlacedPortal& portal) {
        if (seen.insert(&portal).second) {
          PlacedPortal again = PlacedOn(whole, portal);
          if (again.lanes != portal.lanes) {
            placed.Put(std::make_shared<const PlacedPortal>(std::move(again)));
          }
          status = CheckStopAt(stop, seen.size());
        }
        return status.ok();
      });
      WAYSTAR_RETURN_IF_ERROR(status);
    }
  }
  return WithPortals(std::move(placed));
}

std::size_t NavMesh::memory_bytes() const {
  MemoryUse use;
  AddTo(use);
  return use.total();
}

void NavMesh::AddTo(MemoryUse& use) const {
  use.maps += own_bytes();
  for (const auto& view : views_->Held()) {
    use.views += view.map->BytesBeyond(*this);
  }
  for (const NavMesh& surface : larger()) {
    surface.AddTo(use);
    // All surfaces share them.
    use.maps -= surface.obstacles_.memory_bytes();
  }
}

std::size_t NavMesh::BytesBeyond(const NavMesh& other) const {
  std::size_t views = 0;
  for (const auto& view : views_->Held()) {
    const std::shared_ptr<const NavMesh> same = other.views_->FindHeld(*view.rules);
    views += same == view.map ? 0 : view.map->BytesBeyond(same == nullptr ? other : *same);
  }
  std::size_t surfaces = 0;
  for (std::size_t i = 0; i < larger().size() && larger_ != other.larger_; ++i) {
    surfaces += larger()[i].BytesBeyond(i < other.larger().size() ? other.larger()[i] : other);
  }
  const bool has_surface =
      surface_ == other.surface_ || (other.file_ != nullptr && surface_ == other.file_->surface_);
  return (has_surface ? 0 : surface_bytes()) + (cuts_ == other.cuts_ ? 0 : cut_bytes()) +
         grounds_.BytesBeyond(other.grounds_) + obstacles_.BytesBeyond(other.obstacles_) +
         portals_->BytesBeyond(*other.portals_) + views + surfaces;
}

std::size_t NavMesh::surface_bytes() const {
  return sizeof(Surface) + (landmarks_ == nullptr ? 0 : landmarks_->memory_bytes()) +
         surface_->vertices.capacity() * sizeof(WorldPoint) +
         surface_->walls.capacity() * sizeof(VertexWalls) + surface_->polygons.capacity() * sizeof(Face) +
         surface_->corners.capacity() * sizeof(std::uint32_t) +
         surface_->neighbours.capacity() * sizeof(PolygonNumber) + surface_->detail->memory_bytes() +
         surface_->outer_rooms.capacity() * sizeof(std::uint32_t) + surface_->cells->memory_bytes() +
         surface_->tree.memory_bytes() + surface_->wall_edges.capacity() * sizeof(WallEdge) +
         surface_->wall_tree.memory_bytes();
}

std::optional<MeshPlace> MeshPlaceAt(const NavMesh& mesh, const WorldPoint& position) {
  const MeshReach reach{
      .position = position, .radius = kMeshTolerance, .height = std::numeric_limits<double>::infinity()};
  if (!mesh.is_cut() && mesh.closed_count() == 0) {
    return mesh.FindNearest(reach);
  }
  const std::optional<MeshPlace> whole = mesh.FindNearestWhole(reach);
  return whole ? mesh.FindNearest({whole->point, kMeshTolerance, kMeshTolerance}) : std::nullopt;
}

}  // namespace waystar::core
