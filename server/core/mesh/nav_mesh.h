// Navigation mesh: the convex polygons on which agents walk, with heights, and which of them adjoin.
//
// A mesh is one tile today. Tiles will be a table of such tiles, each an immutable value that snapshots
// share: an obstacle makes new tiles in the places that it touches and a new table of pointers, as
// SharedPages does. A PolygonNumber is then a tile's place in the table and the polygon's index in the tile.
// The tree over the polygons belongs to the tile; neighbours across the tile's border and the labels of
// connected parts and of rooms belong to the table, since they change with other tiles. Edges on the border
// are split where polygons of the next tile end, so that an edge always has one neighbour.
#pragma once

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
#include "server/core/graph/world_point.h"
#include "server/core/map/map_kind.h"
#include "server/core/map/obstacle_table.h"
#include "server/core/mesh/mesh_bounds.h"
#include "server/core/mesh/mesh_place.h"
#include "server/core/mesh/mesh_portal.h"
#include "server/core/mesh/mesh_spec.h"
#include "server/core/mesh/polygon_tree.h"

namespace waystar::core {

class CellTable;

// The walls at a vertex.
struct VertexWalls {
  // Stands for no wall, or for one at a vertex that the polygons go all round, or more than once, as on a
  // spiral staircase: then there is no side that it is on.
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kSeveral = kNone - 1;

  // The wall that has its polygon on the left and leads to the vertex begins here, and the one that leads
  // away from it ends here.
  std::uint32_t from = kNone;
  std::uint32_t to = kNone;

  friend bool operator==(const VertexWalls&, const VertexWalls&) = default;
};

// An edge with a polygon on one side: from this corner of it to the next.
struct WallEdge {
  PolygonNumber polygon = kNoPolygon;
  std::uint32_t corner = 0;

  friend auto operator<=>(const WallEdge&, const WallEdge&) = default;
};

struct EdgeEnds {
  const WorldPoint& from;
  const WorldPoint& to;
};

// Polygons are convex seen from above, where all lengths are measured; x points to the right, y up, and z is
// the height. An edge has a polygon on one side or on both, and polygons adjoin only along whole edges, not
// in a vertex alone: where they meet so, each has a vertex of its own there (SplitFans). Polygons that do not
// adjoin may lie above each other, as bridges and floors do.
// Coordinates are rounded to 2^-20.
//
// The surface of a polygon is that of the triangles from the mean of its corners to its edges. Heights along
// an edge are those of the straight line between its ends, on both sides.
//
// Portals lie on a mesh as on a grid. They connect no parts, and have no effect but on searches that take
// them.
//
// Thread safety: immutable, so any number of threads may read it. Copies share all they hold and cost a few
// pointers.
class NavMesh {
 public:
  // A polygon may have corners in the middle of a side, and may be dented as deep as coordinates in single
  // precision are off: 2^-21 of the greatest coordinate and 2^-19 units.
  //
  // Returns the error of `stop`, or INVALID_ARGUMENT:
  // - BAD_SIZE with field "vertices", "polygons", "corners" or "neighbours": the list is too short or too
  //   long, or does not agree with the others;
  // - BAD_VALUE with field "vertices[3].x": it is not a number from -kMaxReach to kMaxReach;
  // - BAD_VALUE with field "polygons[3].vertices[1]" or "polygons[3].area": there is no such vertex or area;
  // - BAD_POLYGON with field "polygons[3]": it has too few or too many corners, runs clockwise, has no area,
  //   or is not convex;
  // - BAD_POLYGON with field "polygons[3].vertices[1]": the edge that begins in this corner already has a
  //   polygon on this side;
  // - BAD_POLYGON with field "polygons[3].neighbours[1]": that polygon does not lie across the edge, or takes
  //   the edge for a wall.
  //
  // Without cells (CellLayer) it takes half the time, and searches go over the polygons: that is for a mesh
  // of few searches.
  enum class Cells { kMake, kNone };
  static absl::StatusOr<NavMesh> Create(MeshSpec spec, const StopCheck* stop = nullptr,
                                        Cells cells = Cells::kMake);

  // Returns a mesh without any polygon, such as is left where all ground is blocked.
  static NavMesh Empty() { return NavMesh(std::make_shared<const Surface>()); }

  static MapKind kind() { return MapKind::kMesh; }

  std::size_t vertex_count() const { return surface_->vertices.size(); }
  std::size_t polygon_count() const { return surface_->polygons.size(); }
  std::size_t corner_count() const { return surface_->corners.size(); }
  const MeshBounds& bounds() const { return surface_->bounds; }

  // REQUIRES: vertex < vertex_count().
  const WorldPoint& VertexAt(std::uint32_t vertex) const { return surface_->vertices[vertex]; }
  // Both ends are kNone unless a wall touches the vertex, and both kSeveral where that says so.
  const VertexWalls& WallsAt(std::uint32_t vertex) const { return surface_->walls[vertex]; }

  // Returns the tree of all edges with a polygon on one side. Its boxes lie at the height 0, so that a
  // position at that height is as far from them as it is seen from above.
  const PolygonTree& wall_tree() const { return surface_->wall_tree; }
  // Returns the edge that has this number in the tree. REQUIRES: wall < wall_count().
  const WallEdge& WallAt(std::uint32_t wall) const { return surface_->wall_edges[wall]; }
  std::size_t wall_count() const { return surface_->wall_edges.size(); }
  EdgeEnds EndsOf(const WallEdge& edge) const {
    const absl::Span<const std::uint32_t> corners = VerticesOf(edge.polygon);
    return {VertexAt(corners[edge.corner]),
            VertexAt(corners[edge.corner + 1 < corners.size() ? edge.corner + 1 : 0])};
  }

  // REQUIRES, of the following: polygon < polygon_count().
  //
  // Returns the vertices, counterclockwise.
  absl::Span<const std::uint32_t> VerticesOf(PolygonNumber polygon) const {
    const Face& face = surface_->polygons[polygon];
    return {surface_->corners.data() + face.first_corner, face.corner_count};
  }
  // Returns for each vertex the polygon across the edge from it to the next, or kNoPolygon for a wall.
  absl::Span<const PolygonNumber> NeighboursOf(PolygonNumber polygon) const {
    const Face& face = surface_->polygons[polygon];
    return {surface_->neighbours.data() + face.first_corner, face.corner_count};
  }
  // Ask for memory before it is needed: that of what all polygons have, and, once that is there, that of the
  // corners and neighbours.
  void PrefetchFace(PolygonNumber polygon) const { __builtin_prefetch(&surface_->polygons[polygon]); }
  void PrefetchCorners(PolygonNumber polygon) const {
    const std::uint32_t first_corner = surface_->polygons[polygon].first_corner;
    __builtin_prefetch(surface_->corners.data() + first_corner);
    __builtin_prefetch(surface_->neighbours.data() + first_corner);
  }
  // Returns whether the polygon is not exactly convex.
  bool IsDented(PolygonNumber polygon) const { return surface_->polygons[polygon].is_dented; }
  std::uint8_t AreaOf(PolygonNumber polygon) const { return surface_->polygons[polygon].area; }
  // Returns the label of the connected part that the polygon is in: a path leads from one polygon to another
  // if and only if theirs are the same. A place on a vertex may be in several (FindPartsAround). Labels are
  // below part_count(), in the order of the least polygon of each.
  std::uint32_t PartOf(PolygonNumber polygon) const { return surface_->polygons[polygon].part; }
  std::size_t part_count() const { return surface_->part_areas.size(); }
  // Return what MeshRooms says of the polygon, and of the room. REQUIRES: room < room_count().
  std::uint32_t RoomOf(PolygonNumber polygon) const { return surface_->polygons[polygon].room; }
  std::uint32_t OuterRoomOf(std::uint32_t room) const { return surface_->outer_rooms[room]; }
  std::size_t room_count() const { return surface_->outer_rooms.size(); }

  // Returns the cells, for CellLayer; null if there are none.
  const CellTable* cells() const { return surface_->cells.get(); }

  // Returns whether the point lies in the polygon or on its edge, seen from above: exactly, as integers
  // decide.
  bool Contains(PolygonNumber polygon, const FixedPoint& point) const;
  // Returns the point of the polygon that is nearest to (x, y) seen from above, on the surface and rounded to
  // 2^-20: it may lie half as far outside. REQUIRES: x and y are from -kMaxReach to kMaxReach.
  WorldPoint NearestPoint(PolygonNumber polygon, double x, double y) const;
  // Returns the point of the surface that has these coordinates, rounded, or nothing if the polygon does not
  // contain it. REQUIRES: x and y are from -kMaxReach to kMaxReach.
  std::optional<WorldPoint> PointAt(PolygonNumber polygon, double x, double y) const;
  // As NearestPoint, for a position that lies about on the edge from this corner of the polygon to the next:
  // the same answer, sooner. REQUIRES: corner < VerticesOf(polygon).size().
  WorldPoint NearestPointBy(PolygonNumber polygon, std::size_t corner, double x, double y) const;

  // Returns the nearest of the polygons that come near to the position, and the point there: that of
  // NearestPoint, which must be at most reach.radius away seen from above, and at most reach.height above or
  // below. The nearest one is that whose point has the least distance in space; among equals, as where parts
  // touch in a point, the one in the part with the most ground, then the one with the least number. Distances
  // are those of rounded points. Returns nothing if there is none. So a position
  // between two floors belongs to the one that is nearer, and one that a wall is in goes to the floor beside
  // it rather than far down. It costs O(log polygons) where few polygons lie near. REQUIRES: the position
  // obeys CheckPosition; radius and height are 0 or more.
  //
  // With a part, polygons of others do not count; far from it that costs up to O(polygons).
  std::optional<MeshPlace> FindNearest(const MeshReach& reach,
                                       std::optional<std::uint32_t> part = std::nullopt) const;
  // As FindNearest, but as Detour does it for ends of off-mesh connections, whose heights are those of ground
  // that is finer than the polygons: it is the polygon's box that must be at most reach.height above or
  // below. Polygons straight above or below the position come first if they are within that height, too.
  std::optional<MeshPlace> FindNearestByBox(const MeshReach& reach) const;
  // Adds the points of all polygons that FindNearest chooses from, in the order of their numbers.
  void FindAllNear(const MeshReach& reach, std::vector<MeshPlace>& places) const;

  // Adds the polygons whose boxes, seen from above, the convex outline reaches into, in the order of their
  // numbers. A box that lies no further than `margin` inside of a side of the outline may be left out. It
  // costs O(log polygons) and the corners of the outline for each box that is met. REQUIRES: the outline runs
  // counterclockwise, and its coordinates are multiples of 2^-20.
  void FindAllTouching(absl::Span<const WorldPoint> outline, double margin,
                       std::vector<PolygonNumber>& polygons) const;

  // Returns an empty table: obstacles do not lie on meshes yet.
  const ObstacleTable& obstacles() const { return surface_->obstacles; }

  const MeshPortalTable& portals() const { return portals_; }
  // Returns a mesh that shares all with this, but has these portals.
  NavMesh WithPortals(MeshPortalTable portals) const {
    NavMesh mesh = *this;
    mesh.portals_ = std::move(portals);
    return mesh;
  }
  // Returns the portal with the places where it ends on this mesh.
  PlacedPortal Placed(const MeshPortal& portal) const;

  // As GridMap::digest. The numbers of vertices and polygons have a part in it, since answers name them.
  std::uint64_t digest() const { return surface_->digest + portals_.digest(); }

  // Returns the bytes held, which copies share.
  std::size_t memory_bytes() const { return surface_bytes() + portals_.memory_bytes(); }
  // Adds them to `use`.
  void AddTo(MemoryUse& use) const { use.maps += memory_bytes(); }
  // Returns the bytes held by this and not by `other`.
  std::size_t BytesBeyond(const NavMesh& other) const {
    return (surface_ == other.surface_ ? 0 : surface_bytes()) + portals_.BytesBeyond(other.portals_);
  }

 private:
  struct Face {
    std::uint32_t first_corner = 0;
    std::uint32_t part = 0;
    std::uint32_t room = 0;
    std::uint8_t corner_count = 0;
    std::uint8_t area = 0;
    bool is_dented = false;
  };

  struct Surface {
    std::vector<WorldPoint> vertices;
    std::vector<VertexWalls> walls;
    std::vector<Face> polygons;
    std::vector<std::uint32_t> corners;
    std::vector<PolygonNumber> neighbours;
    std::vector<std::uint32_t> outer_rooms;
    // Null if there are none.
    std::shared_ptr<const CellTable> cells;
    PolygonTree tree;
    std::vector<WallEdge> wall_edges;
    PolygonTree wall_tree;
    MeshBounds bounds;
    // For each connected part.
    std::vector<double> part_areas;
    ObstacleTable obstacles{Rectangle()};
    std::uint64_t digest = 0;
  };

  explicit NavMesh(std::shared_ptr<const Surface> surface) : surface_(std::move(surface)) {}

  // Gives every polygon its label, and measures the parts.
  static void LabelParts(Surface& surface);
  // The labels are wrong once `stop` has returned an error.
  static void LabelRooms(Surface& surface, const StopCheck* stop);
  static std::uint64_t DigestOf(const Surface& surface);

  static void NoteDents(Surface& surface);

  static std::shared_ptr<const CellTable> MakeCells(const Surface& surface, const StopCheck* stop);

  // Sets what says where walls are.
  static void NoteWalls(Surface& surface);
  static PolygonTree TreeOfWalls(const Surface& surface, const StopCheck* stop);
  static void NoteSpirals(Surface& surface);

  std::size_t surface_bytes() const;

  // Returns whether FindNearest takes this polygon rather than the other if both are as near.
  bool IsTakenBefore(PolygonNumber polygon, PolygonNumber other) const;

  // As Contains. REQUIRES: coordinates are multiples of 2^-20.
  bool HasWithin(PolygonNumber polygon, const WorldPoint& point) const;
  // Returns the height of the surface. REQUIRES: (x, y) lies in the polygon, or hardly outside.
  double HeightAt(PolygonNumber polygon, double x, double y) const;

  // Never null.
  std::shared_ptr<const Surface> surface_;
  MeshPortalTable portals_;
};

// Returns the surface that lies straight above or below the position, to kMeshTolerance, and of several the
// one that is nearest in height. Returns nothing if there is none. REQUIRES: the position obeys
// CheckPosition.
std::optional<MeshPlace> MeshPlaceAt(const NavMesh& mesh, const WorldPoint& position);

}  // namespace waystar::core
