// Ground that remains of the polygons of a navigation mesh when holes are cut out of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/shape_outlines.h"
#include "server/core/mesh/map/sparse_table.h"
#include "server/geometry/box.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// The walls at a vertex.
struct VertexWalls {
  // kNone: no wall. kSeveral: a wall at a vertex that the polygons surround completely or more than once, as
  // on a spiral staircase, so that the wall is not on a definite side; or where holes touch a vertex.
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kSeveral = kNone - 1;

  // `from` is the start of the wall that has its polygon on the left and leads to the vertex; `to` is the end
  // of the wall that leads away from it.
  std::uint32_t from = kNone;
  std::uint32_t to = kNone;

  friend bool operator==(const VertexWalls&, const VertexWalls&) = default;
};

// A convex area that blocks the ground of polygons with a point at these heights. Immutable.
struct MeshHole {
  ConvexOutline outline;
  HeightRange heights;

  friend bool operator==(const MeshHole&, const MeshHole&) = default;
};
using HoleList = std::vector<std::shared_ptr<const MeshHole>>;

// Numbers of the pieces and new vertices of a cut mesh. Each polygon of the uncut mesh owns a range of both,
// above those of the uncut mesh, so that the numbers of one polygon do not depend on others.
class CutNumbers {
 public:
  // REQUIRES: both counts are those of a NavMesh.
  CutNumbers(std::size_t vertex_count, std::size_t polygon_count)
      : vertex_count_(static_cast<std::uint32_t>(vertex_count)),
        polygon_count_(static_cast<std::uint32_t>(polygon_count)) {
    // Searches use the highest numbers for other things.
    constexpr std::uint32_t kHighest = 0xFFFF0000;
    constexpr int kMostBits = 16;
    const std::uint32_t most = std::max(vertex_count_, polygon_count_);
    const std::uint32_t range = (kHighest - most) / std::max(polygon_count_, 1U);
    bits_ = std::min(kMostBits, static_cast<int>(std::bit_width(range)) - 1);
  }

  std::uint32_t vertex_count() const { return vertex_count_; }
  std::uint32_t polygon_count() const { return polygon_count_; }
  // Maximum number of pieces, and of new vertices, of a polygon.
  std::size_t most() const { return std::size_t{1} << bits_; }
  std::uint32_t FirstVertexOf(PolygonNumber polygon) const { return vertex_count_ + (polygon << bits_); }
  PolygonNumber FirstPieceOf(PolygonNumber polygon) const { return polygon_count_ + (polygon << bits_); }
  // Returns the polygon that owns the number, and the position of the number in its range.
  // REQUIRES: the number is not one of the uncut mesh.
  std::pair<PolygonNumber, std::uint32_t> OwnerOfVertex(std::uint32_t vertex) const {
    return Split(vertex - vertex_count_);
  }
  std::pair<PolygonNumber, std::uint32_t> OwnerOfPiece(PolygonNumber piece) const {
    return Split(piece - polygon_count_);
  }

 private:
  std::pair<PolygonNumber, std::uint32_t> Split(std::uint32_t number) const {
    return {number >> bits_, number & ((std::uint32_t{1} << bits_) - 1)};
  }

  std::uint32_t vertex_count_;
  std::uint32_t polygon_count_;
  int bits_ = 0;
};

// The remaining pieces of a polygon. They are convex without any dent.
struct CutFace {
  struct Piece {
    std::uint32_t first_corner = 0;
    std::uint8_t corner_count = 0;
  };
  // An edge of a piece on an edge of the polygon, with ground on the other side.
  struct Entry {
    // Its start, seen from above.
    double x = 0.0;
    double y = 0.0;
    PolygonNumber piece = kNoPolygon;
  };

  // The holes that touch the polygon, in an order that depends only on them.
  HoleList holes;
  std::vector<Piece> pieces;
  // Vertices of the first piece counterclockwise, then of the second, and so on.
  std::vector<std::uint32_t> corners;
  // For each corner, what is across the edge from it to the next: another piece of the polygon; a polygon of
  // the uncut mesh, which may be cut itself; or kNoPolygon for a wall.
  std::vector<PolygonNumber> neighbours;
  // New vertices.
  std::vector<WorldPoint> points;
  std::vector<VertexWalls> walls;
  std::vector<Entry> entries;
  // See CutTable::opened_rooms.
  std::vector<std::uint32_t> opened_rooms;

  void Shrink() {
    pieces.shrink_to_fit();
    corners.shrink_to_fit();
    neighbours.shrink_to_fit();
    entries.shrink_to_fit();
  }

  std::size_t memory_bytes() const {
    return sizeof(*this) + pieces.capacity() * sizeof(Piece) + corners.capacity() * sizeof(std::uint32_t) +
           neighbours.capacity() * sizeof(PolygonNumber) + points.capacity() * sizeof(WorldPoint) +
           walls.capacity() * sizeof(VertexWalls) + entries.capacity() * sizeof(Entry) +
           holes.capacity() * sizeof(holes[0]) + opened_rooms.capacity() * sizeof(std::uint32_t);
  }
};

// The cut polygons of a mesh.
//
// Thread safety: const methods may run concurrently.
struct CutTable {
  explicit CutTable(const CutNumbers& cut_numbers)
      : numbers(cut_numbers), faces(cut_numbers.polygon_count()) {}

  CutNumbers numbers;
  SparseTable<CutFace> faces;
  // Parts of the polygons of the uncut mesh. Null if they are as without holes.
  std::shared_ptr<const std::vector<std::uint32_t>> parts;
  // Parts of the pieces that are not in the part of their polygon.
  absl::flat_hash_map<PolygonNumber, std::uint32_t> piece_parts;
  // Lowest label that no part has had.
  std::uint32_t next_part = 0;
  // Rooms on both sides of doors that holes have divided, in ascending order and once per side: a path may
  // pass such a door twice.
  std::vector<std::uint32_t> opened_rooms;
  std::size_t face_count = 0;
  std::size_t hole_count = 0;
  // Sums over the faces.
  std::size_t corner_count = 0;
  std::size_t face_bytes = 0;

  std::size_t memory_bytes() const {
    return sizeof(*this) + face_bytes + opened_rooms.capacity() * sizeof(std::uint32_t) +
           (parts == nullptr ? 0 : parts->capacity() * sizeof(std::uint32_t)) +
           piece_parts.capacity() * sizeof(std::pair<PolygonNumber, std::uint32_t>);
  }
};

}  // namespace waystar::core
