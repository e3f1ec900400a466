// Navigation mesh: convex polygons on which agents walk, with heights and adjacency.
#pragma once

#include <algorithm>
#include <bitset>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/memory_account.h"
#include "server/base/stop_check.h"
#include "server/core/elements/map_kind.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/view_cache.h"
#include "server/core/mesh/map/cut_table.h"
#include "server/core/mesh/map/landmark_table.h"
#include "server/core/mesh/map/mesh_ground.h"
#include "server/core/mesh/map/mesh_portals.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/polygon_tree.h"
#include "server/geometry/box.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

class CellTable;

// Maximum number of surfaces of a mesh, each for agents of one size.
inline constexpr std::size_t kMaxMeshSurfaces = 8;

// An edge with a polygon on one side: from this corner of the polygon to the next.
struct WallEdge {
  PolygonNumber polygon = kNoPolygon;
  std::uint32_t corner = 0;

  friend auto operator<=>(const WallEdge&, const WallEdge&) = default;
};

struct EdgeEnds {
  const WorldPoint& from;
  const WorldPoint& to;
};

// Polygons are convex seen from above, where all lengths are measured; x points right, y up, and z is the
// height. An edge has a polygon on one or both sides. Polygons are adjacent only along whole edges; where
// they meet only in a vertex, each has its own vertex there (SplitFans). Polygons that are not adjacent may
// lie above each other, as bridges and floors do. Coordinates are rounded to 2^-20.
//
// The surface of a polygon consists of the triangles of its finer ground (MeshDetail) or, if it has none, of
// those from the mean of its corners to its edges. Pieces have the surface of the polygon that they were cut
// from. On the two sides of an edge, heights may differ a little.
//
// Holes may be cut out of a mesh (ChangeHoles). A polygon that they touch is replaced by pieces, whose
// numbers are above those of all polygons; the numbers of new vertices are above those of all vertices. What
// is said of polygons below holds for pieces too, unless it says otherwise.
//
// Named grounds (MeshGround) may add polygons to those of the file, and remove some of these. Then all of
// this is said of the polygons of the file and of grounds together; removed ones are closed.
//
// Portals lie on a mesh as on a grid. They do not connect parts, and affect only searches that use them.
//
// A mesh may have surfaces for larger agents. Each is a mesh by itself, with the same obstacles and portals.
//
// Thread safety: immutable. Copies share all content and cost a few pointers.
class NavMesh {
 public:
  // Creates a mesh. A polygon may have corners in the middle of a side, and dents up to the error of
  // single-precision coordinates: 2^-21 of the largest coordinate plus 2^-19 units.
  //
  // Returns the error of `stop`, or INVALID_ARGUMENT:
  // - BAD_SIZE with field "vertices", "polygons", "corners", "neighbours" or "detail": the list is too short
  //   or too long, or inconsistent with the others;
  // - BAD_VALUE with field "vertices[3].x": it is not a number from -kMaxReach to kMaxReach;
  // - BAD_VALUE with field "polygons[3].vertices[1]" or "polygons[3].area": there is no such vertex or area;
  // - BAD_POLYGON with field "polygons[3]": it has too few or too many corners, runs clockwise, has no area,
  //   or is not convex;
  // - BAD_POLYGON with field "polygons[3].vertices[1]": the edge that starts at this corner already has a
  //   polygon on this side;
  // - BAD_POLYGON with field "polygons[3].neighbours[1]": that polygon does not lie across the edge, or
  //   treats the edge as a wall;
  // - BAD_VALUE with field "detail[3].x": a point of the finer ground of that polygon is not a position.
  static absl::StatusOr<NavMesh> Create(MeshSpec spec, const StopCheck* stop = nullptr);

  static MapKind kind() { return MapKind::kMesh; }

  // Returns the mesh without holes, obstacles, portals, views and larger surfaces.
  NavMesh Bare() const;
  // Returns the mesh without grounds.
  const NavMesh& of_file() const { return file_ == nullptr ? *this : *file_; }
  const GroundTable& grounds() const { return grounds_; }
  // Returns a mesh of these parts, which are those of this mesh with the grounds. See WithGrounds.
  // REQUIRES: this is Bare, and of_file().
  absl::StatusOr<NavMesh> WithParts(GroundParts parts, const GroundTable& grounds,
                                    const StopCheck* stop = nullptr) const;

  // Count those of the uncut mesh.
  std::size_t vertex_count() const { return vertex_count_; }
  std::size_t polygon_count() const { return polygon_count_; }
  // Returns the number of corners of all polygons, cut ones and pieces included.
  std::size_t corner_count() const {
    return surface_->corners.size() + (cuts_ == nullptr ? 0 : cuts_->polygons.corner_count());
  }
  const MeshBounds& bounds() const { return surface_->bounds; }

  static constexpr bool kMayBeCut = true;
  // Returns true if a polygon of the mesh is cut.
  bool is_cut() const { return cuts_ != nullptr; }
  // Returns the cut polygons, or null if there are none.
  const CutTable* cuts() const { return cuts_.get(); }
  // Returns a mesh with these polygons replaced by their pieces that shares everything else. The table may be
  // null.
  NavMesh WithCuts(std::shared_ptr<const CutTable> cuts) const {
    NavMesh mesh = *this;
    mesh.cuts_ = std::move(cuts);
    return mesh;
  }
  // Returns the number of the polygon that this one is a piece of, or its own.
  PolygonNumber WholeOf(PolygonNumber polygon) const {
    return polygon < polygon_count_ ? polygon : cuts_->polygons.numbers().OwnerOfPiece(polygon).first;
  }
  // Calls visit(polygon) for the polygon of the uncut mesh or, if it is cut, for its pieces; not at all if it
  // is closed.
  template <typename Visitor>
  void ForEachPieceOf(PolygonNumber polygon, const Visitor& visit) const {
    const CutFace* const face = cuts_ == nullptr ? nullptr : cuts_->polygons.Find(polygon);
    if (face == nullptr) {
      if (!IsClosed(polygon)) {
        visit(polygon);
      }
      return;
    }
    const PolygonNumber first = cuts_->polygons.numbers().FirstPieceOf(polygon);
    for (PolygonNumber piece = first; piece < first + face->pieces.size(); ++piece) {
      visit(piece);
    }
  }
  // Orders polygons by WholeOf, then by number.
  bool Precedes(PolygonNumber a, PolygonNumber b) const {
    return WholeOf(a) != WholeOf(b) ? WholeOf(a) < WholeOf(b) : a < b;
  }
  // Returns all open polygons that are not cut, and all pieces, in this order.
  std::vector<PolygonNumber> Polygons() const;

  // Returns the vertices of the uncut mesh.
  absl::Span<const WorldPoint> vertices() const { return surface_->vertices; }
  const WorldPoint& VertexAt(std::uint32_t vertex) const {
    return vertex < vertex_count_ ? vertices_[vertex] : CutVertexAt(vertex);
  }
  // Returns the walls at the vertex. Both ends are kNone if no wall touches it; see VertexWalls for kSeveral.
  const VertexWalls& WallsAt(std::uint32_t vertex) const {
    return vertex < vertex_count_ ? surface_->walls[vertex] : CutWallsAt(vertex);
  }

  // Returns the tree of all edges of the uncut mesh with a polygon on one side. Its boxes are at height 0, so
  // that distances from a position at height 0 are distances seen from above.
  const PolygonTree& wall_tree() const { return surface_->wall_tree; }
  // Returns the edge with this number in the tree.
  // REQUIRES: wall < wall_count().
  const WallEdge& WallAt(std::uint32_t wall) const { return surface_->wall_edges[wall]; }
  std::size_t wall_count() const { return surface_->wall_edges.size(); }
  EdgeEnds EndsOf(const WallEdge& edge) const {
    const absl::Span<const std::uint32_t> corners = VerticesOf(edge.polygon);
    return {VertexAt(corners[edge.corner]),
            VertexAt(corners[edge.corner + 1 < corners.size() ? edge.corner + 1 : 0])};
  }

  // Returns the vertices, counterclockwise.
  // REQUIRES, for this and the following: there is such a polygon or piece.
  absl::Span<const std::uint32_t> VerticesOf(PolygonNumber polygon) const {
    if (polygon >= polygon_count_) {
      return cuts_->polygons.VerticesOf(polygon);
    }
    const Face& face = surface_->polygons[polygon];
    return {surface_->corners.data() + face.first_corner, face.corner_count};
  }
  // Returns the box around the polygon. Its heights include those of the finer ground.
  MeshBounds BoundsOf(PolygonNumber polygon) const;
  // Returns, for each vertex, the polygon across the edge from it to the next, or kNoPolygon for a wall. The
  // polygon may be cut: see Across.
  absl::Span<const PolygonNumber> NeighboursOf(PolygonNumber polygon) const {
    if (polygon >= polygon_count_) {
      return cuts_->polygons.NeighboursOf(polygon);
    }
    const Face& face = surface_->polygons[polygon];
    return {surface_->neighbours.data() + face.first_corner, face.corner_count};
  }
  // Returns the polygon or piece across the edge that starts at corner k, or kNoPolygon for a wall.
  PolygonNumber Across(PolygonNumber polygon, std::size_t k) const {
    const PolygonNumber next = NeighboursOf(polygon)[k];
    return cuts_ == nullptr || next >= polygon_count_ ? next : Behind(next, EndOf(polygon, k));
  }
  // Returns the polygon, or its piece, across an edge that ends at this point. `neighbour` is what
  // NeighboursOf returns for the edge.
  PolygonNumber Behind(PolygonNumber neighbour, const WorldPoint& end) const {
    return cuts_ == nullptr ? neighbour : cuts_->polygons.Behind(neighbour, end);
  }
  // Returns FindCorner.
  std::size_t CornerAt(PolygonNumber polygon, std::uint32_t vertex) const;

  // Prefetch the polygon, and then the corners and neighbours that it refers to. Do nothing for a piece.
  void PrefetchFace(PolygonNumber polygon) const {
    __builtin_prefetch(&surface_->polygons[polygon < polygon_count_ ? polygon : 0]);
  }
  void PrefetchCorners(PolygonNumber polygon) const {
    if (polygon >= polygon_count_) {
      return;
    }
    const std::uint32_t first_corner = surface_->polygons[polygon].first_corner;
    __builtin_prefetch(surface_->corners.data() + first_corner);
    __builtin_prefetch(surface_->neighbours.data() + first_corner);
  }
  // Returns true if the polygon is not exactly convex.
  bool IsDented(PolygonNumber polygon) const {
    return polygon < polygon_count_ && surface_->polygons[polygon].is_dented;
  }
  std::uint8_t AreaOf(PolygonNumber polygon) const { return surface_->polygons[WholeOf(polygon)].area; }
  // Returns the terrains by area, including that of each polygon.
  absl::Span<const MeshTerrain> terrains() const { return surface_->terrains; }
  // Returns true if a polygon has the area.
  // REQUIRES: area < kMaxMeshAreas.
  bool IsUsed(std::size_t area) const { return surface_->used_areas.test(area); }
  // Returns true if all terrains cost 1 and are passable.
  bool has_plain_terrains() const { return surface_->has_plain_terrains; }
  // Returns what a unit of length costs in each area: 1, unless WithCosts has made the mesh. Areas that cost
  // 0 are closed: their polygons keep their numbers, but have no neighbours, and nothing is found on them.
  const AreaCosts& costs() const { return surface_->costs; }
  double CostOf(PolygonNumber polygon) const { return surface_->costs[AreaOf(polygon)]; }
  // Returns the least cost of an open polygon.
  double least_cost() const { return surface_->least_cost; }
  // Returns true if an open polygon does not cost 1.
  bool is_weighted() const { return surface_->is_weighted; }
  // REQUIRES: the polygon is one of the uncut mesh.
  bool IsClosed(PolygonNumber polygon) const { return surface_->polygons[polygon].is_closed; }
  std::size_t closed_count() const { return surface_->closed_count; }
  // Returns the mesh with other costs. Costs what Create does. Returns the error of `stop`, or BAD_SIZE as
  // Create does if fans that meet in a vertex need too many vertices.
  // REQUIRES: the costs of this mesh are 1, no polygon is cut, and there are no obstacles and portals.
  absl::StatusOr<NavMesh> WithCosts(const AreaCosts& costs, const StopCheck* stop = nullptr) const;
  // Returns the cache of ViewUnder (mesh_views.h): the mesh as agents see it who pay other costs.
  const ViewCache<AreaCosts, NavMesh>& views() const { return *views_; }
  // Returns the mesh with the views that a mesh made by edits from this one has.
  NavMesh AfterEdits() const;
  // Drops the views that were not used since the last call, or all if `used_too`.
  void DropViews(bool used_too) const;
  // Returns the label of the polygon's connected part: a path leads from one polygon to another if and only
  // if their labels are equal. A place on a vertex may be in several parts (FindPartsAround). Labels are
  // below part_count(), in the order of the lowest polygon of each; on a cut mesh they are any numbers.
  std::uint32_t PartOf(PolygonNumber polygon) const {
    return cuts_ == nullptr ? surface_->polygons[polygon].part : PartAmongCuts(polygon);
  }
  // Returns the number of parts of the uncut mesh.
  std::size_t part_count() const { return surface_->part_count; }
  // Return MeshRooms::room_of the cell of the polygon on the uncut mesh, and MeshRooms::outer of the room.
  // REQUIRES: room < room_count().
  std::uint32_t RoomOf(PolygonNumber polygon) const { return surface_->polygons[WholeOf(polygon)].room; }
  std::uint32_t OuterRoomOf(std::uint32_t room) const { return surface_->outer_rooms[room]; }
  std::size_t room_count() const { return surface_->outer_rooms.size(); }
  // Returns CutTable::opened_rooms.
  absl::Span<const std::uint32_t> opened_rooms() const {
    return cuts_ == nullptr ? absl::Span<const std::uint32_t>() : cuts_->opened_rooms;
  }

  // Returns the radius of the agents that the mesh was made for, or 0 if it is not known. Obstacles are
  // widened by it.
  double agent_radius() const { return agent_radius_; }
  // Returns a mesh with this radius, from 0 to kMaxMeshAgentRadius, that shares everything else.
  // REQUIRES: the mesh has no obstacles.
  NavMesh WithAgentRadius(double radius) const {
    assert(radius >= 0.0 && radius <= kMaxMeshAgentRadius && obstacles_.size() == 0);
    NavMesh mesh = *this;
    mesh.agent_radius_ = radius;
    return mesh;
  }

  // Returns the surfaces for larger agents, by their radius.
  absl::Span<const NavMesh> larger() const {
    return larger_ == nullptr ? absl::Span<const NavMesh>() : absl::MakeConstSpan(*larger_);
  }
  // Returns a mesh with these surfaces that shares everything else.
  // REQUIRES: there are less than kMaxMeshSurfaces, none has larger ones itself, the radius of each is above
  // that of the one before it and of this mesh, and they have the obstacles and portals of this mesh
  // (WithSurfacesUpdated in mesh_views.h).
  NavMesh WithLarger(std::vector<NavMesh> surfaces) const;
  // Returns the largest radius of agents.
  double widest_radius() const { return larger().empty() ? agent_radius_ : larger().back().agent_radius_; }
  // Returns the surface for agents of this radius: of those for agents as large, the one for the smallest,
  // and this mesh for 0. Returns null if the agents are too large, or if the radius of the mesh is not known.
  // Radii are compared in single precision, in which files have them.
  const NavMesh* SurfaceFor(double radius) const;

  // Returns the landmarks, or null if the mesh has none.
  const LandmarkTable* landmarks() const { return landmarks_.get(); }
  // Returns a mesh with these landmarks that shares everything else.
  NavMesh WithLandmarks(std::shared_ptr<const LandmarkTable> landmarks) const {
    NavMesh mesh = *this;
    mesh.landmarks_ = std::move(landmarks);
    return mesh;
  }

  // Returns the cells of the uncut mesh, for CellLayer.
  const CellTable& cells() const { return *surface_->cells; }

  // Returns the finer ground of the polygons of the uncut mesh, or an empty one.
  const MeshDetail& detail() const { return *surface_->detail; }
  // Returns the height of the surface.
  // REQUIRES: (x, y) is in the polygon, or barely outside.
  double HeightAt(PolygonNumber polygon, double x, double y) const;
  // Returns true if the point is in the polygon or on its edge, seen from above. Exact, in integers.
  bool Contains(PolygonNumber polygon, const FixedPoint& point) const;
  // Returns the point of the polygon nearest to (x, y) seen from above, on the surface. It is rounded to
  // 2^-20 and may therefore lie outside by half of that.
  // REQUIRES: x and y are from -kMaxReach to kMaxReach.
  WorldPoint NearestPoint(PolygonNumber polygon, double x, double y) const;
  // Returns the point of the surface with these coordinates, rounded, or nullopt if the polygon does not
  // contain it.
  // REQUIRES: x and y are from -kMaxReach to kMaxReach.
  std::optional<WorldPoint> PointAt(PolygonNumber polygon, double x, double y) const;
  // Returns the same as NearestPoint, but faster, for a position approximately on the edge from this corner
  // of the polygon to the next.
  // REQUIRES: corner < VerticesOf(polygon).size().
  WorldPoint NearestPointBy(PolygonNumber polygon, std::size_t corner, double x, double y) const;

  // Returns the polygon nearest to the position, and its NearestPoint, which must be at most reach.radius
  // away seen from above and at most reach.height above or below. Nearest is the polygon whose point has the
  // least distance in space; among equals, as where parts touch in a point, the one with the lowest number.
  // Distances are those of rounded points. Returns nullopt if there is
  // no polygon in reach. A position between two floors therefore belongs to the nearer one, and a position
  // inside a wall to the floor beside it rather than one far below.
  //
  // With a part, only its polygons count. Costs O(log polygons) if few polygons are near; far from the part,
  // up to O(polygons).
  // REQUIRES: the position is valid by CheckPosition; radius and height are not negative.
  std::optional<MeshPlace> FindNearest(const MeshReach& reach,
                                       std::optional<std::uint32_t> part = std::nullopt) const;
  // Returns FindNearest on the uncut mesh as if all areas were open.
  std::optional<MeshPlace> FindNearestWhole(const MeshReach& reach) const;
  // Returns what Detour chooses for the end of an off-mesh connection, whose height is that of ground more
  // detailed than the polygons. Unlike in FindNearest, the polygon's box must be at most reach.height above
  // or below, and polygons directly above or below the position within that height take precedence.
  std::optional<MeshPlace> FindNearestByBox(const MeshReach& reach) const;
  // Appends the points of all polygons from which FindNearest chooses, in the order of their numbers.
  void FindAllNear(const MeshReach& reach, std::vector<MeshPlace>& places) const;

  // Appends the open polygons of the uncut mesh whose boxes, seen from above, overlap the convex outline, in
  // the order of their numbers. A box that is at most `margin` inside a side of the outline may be omitted;
  // with a negative margin, boxes up to that far outside are included. Costs O(log polygons) plus the corners
  // of the outline per box. REQUIRES: the outline is counterclockwise, and its coordinates are multiples of
  // 2^-20.
  void FindAllTouching(absl::Span<const WorldPoint> outline, double margin,
                       std::vector<PolygonNumber>& polygons) const;

  // Returns the named obstacles, which are among the holes. The table has no spatial index.
  const ObstacleTable& obstacles() const { return obstacles_; }
  // Returns a mesh with these obstacles that shares everything else.
  // REQUIRES: the holes of the mesh are those of the obstacles.
  NavMesh WithObstacles(ObstacleTable obstacles) const {
    NavMesh mesh = *this;
    mesh.obstacles_ = std::move(obstacles);
    return mesh;
  }

  // Returns the named profiles.
  const MeshProfileTable& profiles() const { return *profiles_; }
  // Returns a mesh with these profiles, which are valid by CheckProfile (mesh_views.h), that shares
  // everything else.
  NavMesh WithProfiles(MeshProfileTable profiles) const;

  const MeshPortalTable& portals() const { return *portals_; }
  // Returns a mesh with these portals that shares everything else.
  NavMesh WithPortals(MeshPortalTable portals) const {
    NavMesh mesh = *this;
    mesh.portals_ = std::make_shared<const MeshPortalTable>(std::move(portals));
    return mesh;
  }
  // Returns the portal with its lanes on this mesh. The middle lane ends at MeshPlaceAt of the portal's ends.
  // Another lane must lie on ground about as high as the middle one: it may differ by as much as the lanes
  // are apart.
  PlacedPortal Placed(const MeshPortal& portal) const;
  // Returns the mesh with the lanes of its portals as they are now that holes were changed within these
  // boxes, or the error of `stop`. Costs O(log polygons) per polygon near the boxes, and per portal there.
  absl::StatusOr<NavMesh> WithPortalsPlaced(absl::Span<const Box> boxes, const StopCheck* stop) const;

  // Returns a hash of the content, as GridMap::digest does. It includes the numbers of vertices and polygons,
  // since answers refer to them.
  std::uint64_t digest() const {
    return surface_->digest + DigestOfRadius() + grounds_.digest() + obstacles_.digest() +
           portals_->digest() + DigestOfLarger() + profiles_digest_;
  }

  // Returns the bytes held, which copies share.
  std::size_t memory_bytes() const;
  // Returns the same without views and larger surfaces.
  std::size_t own_bytes() const {
    return surface_bytes() + file_bytes() + grounds_.memory_bytes() + cut_bytes() +
           obstacles_.memory_bytes() + portals_->memory_bytes();
  }
  // Adds these bytes to `use`.
  void AddTo(MemoryUse& use) const;
  // Returns the bytes held by this and not by `other`.
  std::size_t BytesBeyond(const NavMesh& other) const;

 private:
  struct Face {
    std::uint32_t first_corner = 0;
    std::uint32_t part = 0;
    std::uint32_t room = 0;
    std::uint8_t corner_count = 0;
    std::uint8_t area = 0;
    bool is_dented = false;
    bool is_removed = false;
    bool is_closed = false;
  };

  struct Surface {
    std::vector<WorldPoint> vertices;
    std::vector<VertexWalls> walls;
    std::vector<Face> polygons;
    std::vector<std::uint32_t> corners;
    std::vector<PolygonNumber> neighbours;
    // Never null.
    std::shared_ptr<const MeshDetail> detail = std::make_shared<const MeshDetail>();
    std::vector<MeshTerrain> terrains;
    AreaCosts costs = {};
    std::bitset<kMaxMeshAreas> used_areas;
    bool has_plain_terrains = true;
    std::size_t closed_count = 0;
    double least_cost = 1.0;
    bool is_weighted = false;
    std::vector<std::uint32_t> outer_rooms;
    std::shared_ptr<const CellTable> cells;
    PolygonTree tree;
    std::vector<WallEdge> wall_edges;
    PolygonTree wall_tree;
    MeshBounds bounds;
    std::size_t part_count = 0;
    std::uint64_t digest = 0;
  };

  explicit NavMesh(std::shared_ptr<const Surface> surface)
      : surface_(std::move(surface)),
        vertices_(surface_->vertices.data()),
        vertex_count_(static_cast<std::uint32_t>(surface_->vertices.size())),
        polygon_count_(static_cast<std::uint32_t>(surface_->polygons.size())),
        portals_(std::make_shared<const MeshPortalTable>(surface_->polygons.size())) {}

  // Returns Placed, given this mesh without cuts.
  PlacedPortal PlacedOn(const NavMesh& whole, const MeshPortal& portal) const;

  // Returns a mesh of the polygons of the spec, with the terrains, digest, radius and, if there are as many
  // corners, landmarks. `is_removed(polygon)` says which are removed.
  template <typename IsRemoved>
  absl::StatusOr<NavMesh> Remade(MeshSpec spec, std::shared_ptr<const MeshDetail> detail,
                                 const AreaCosts& costs, const IsRemoved& is_removed,
                                 const StopCheck* stop) const;
  // Computes everything that follows from the polygons, their neighbours and the costs.
  static absl::Status Derive(Surface& surface, const StopCheck* stop);
  // Removes the ways to and from polygons that are removed or of closed areas.
  static void CloseAreas(Surface& surface);
  // Labels the polygons with their parts.
  static void LabelParts(Surface& surface);
  static std::uint64_t DigestOf(const Surface& surface);
  static std::uint64_t DigestOf(const MeshDetail& detail);
  static std::uint64_t DigestOf(absl::Span<const MeshTerrain> terrains);
  std::uint64_t DigestOfRadius() const;
  std::uint64_t DigestOfLarger() const;

  static void NoteDents(Surface& surface);

  // Makes the cells, and labels the polygons with their rooms.
  static absl::Status MakeCells(Surface& surface, const StopCheck* stop);

  // Computes the walls at vertices and the list of wall edges.
  static void NoteWalls(Surface& surface);
  static PolygonTree TreeOfWalls(const Surface& surface, const StopCheck* stop);
  static void NoteSpirals(Surface& surface);

  std::size_t surface_bytes() const;
  // Returns the bytes of the file that the surface does not share.
  std::size_t file_bytes() const {
    return file_ == nullptr
               ? 0
               : file_->surface_bytes() -
                     (file_->surface_->detail == surface_->detail ? surface_->detail->memory_bytes() : 0);
  }
  std::size_t cut_bytes() const { return cuts_ == nullptr ? 0 : cuts_->memory_bytes(); }

  const WorldPoint& EndOf(PolygonNumber polygon, std::size_t k) const {
    const absl::Span<const std::uint32_t> corners = VerticesOf(polygon);
    return VertexAt(corners[k + 1 < corners.size() ? k + 1 : 0]);
  }
  const WorldPoint& CutVertexAt(std::uint32_t vertex) const;
  const VertexWalls& CutWallsAt(std::uint32_t vertex) const;
  std::uint32_t PartAmongCuts(PolygonNumber polygon) const;

  // Returns FindNearest among the polygons that visit_pieces(polygon, visit) visits.
  template <typename Pieces>
  std::optional<MeshPlace> FindNearestAmong(const MeshReach& reach, std::optional<std::uint32_t> part,
                                            const Pieces& visit_pieces) const;

  // Returns the same as Contains.
  // REQUIRES: coordinates are multiples of 2^-20.
  bool HasWithin(PolygonNumber polygon, const WorldPoint& point) const;

  // Never null.
  std::shared_ptr<const Surface> surface_;
  // The vertices and counts of the surface.
  const WorldPoint* vertices_;
  std::uint32_t vertex_count_;
  std::uint32_t polygon_count_;
  double agent_radius_ = 0.0;
  // Null if there are no grounds.
  std::shared_ptr<const NavMesh> file_;
  GroundTable grounds_;
  std::shared_ptr<const LandmarkTable> landmarks_;
  // Null if no polygon is cut.
  std::shared_ptr<const CutTable> cuts_;
  ObstacleTable obstacles_{Rectangle()};
  // Never null.
  std::shared_ptr<const MeshPortalTable> portals_;
  std::shared_ptr<const ViewCache<AreaCosts, NavMesh>> views_ =
      std::make_shared<const ViewCache<AreaCosts, NavMesh>>();
  // Null if there are none.
  std::shared_ptr<const std::vector<NavMesh>> larger_;
  // Never null.
  std::shared_ptr<const MeshProfileTable> profiles_ = std::make_shared<const MeshProfileTable>();
  std::uint64_t profiles_digest_ = 0;
};

// Calls visit(k, a, b) for each edge of a polygon of the mesh, or of a cell of a CellLayer, from its corner k
// at a to the next corner at b.
template <typename Mesh, typename Visitor>
void ForEachEdge(const Mesh& mesh, PolygonNumber polygon, const Visitor& visit) {
  const absl::Span<const std::uint32_t> corners = mesh.VerticesOf(polygon);
  const WorldPoint* a = &mesh.VertexAt(corners[0]);
  for (std::uint32_t k = 0; k < corners.size(); ++k) {
    const WorldPoint* const b = &mesh.VertexAt(corners[k + 1 < corners.size() ? k + 1 : 0]);
    visit(k, *a, *b);
    a = b;
  }
}

// Returns the corner of a polygon or cell at the vertex, or at the same position: a piece may have its own
// vertex there.
// REQUIRES: there is one.
template <typename Mesh>
std::size_t FindCorner(const Mesh& mesh, PolygonNumber polygon, std::uint32_t vertex) {
  const absl::Span<const std::uint32_t> corners = mesh.VerticesOf(polygon);
  const auto at = std::ranges::find(corners, vertex);
  if (at != corners.end()) {
    return static_cast<std::size_t>(at - corners.begin());
  }
  const WorldPoint& point = mesh.VertexAt(vertex);
  const auto there = std::ranges::find_if(corners, [&](std::uint32_t corner) {
    return mesh.VertexAt(corner).x == point.x && mesh.VertexAt(corner).y == point.y;
  });
  assert(there != corners.end());
  return static_cast<std::size_t>(there - corners.begin());
}

// Returns the surface directly above or below the position, within kMeshTolerance; if there are several, the
// nearest in height. Returns nullopt if there is none, or if a hole has removed it: another floor does not
// replace it.
// REQUIRES: the position is valid by CheckPosition.
std::optional<MeshPlace> MeshPlaceAt(const NavMesh& mesh, const WorldPoint& position);

}  // namespace waystar::core
