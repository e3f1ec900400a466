// Ground that remains of the polygons of a navigation mesh when holes are cut out of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
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
    constexpr std::uint32_t kHighest = 0xFFE00000;
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

// The remaining pieces of a polygon, or of a cell. They are convex without any dent. A cell has no holes,
// points or walls, but shares those of its polygons.
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
  // Cells only: each of their polygons, or its pieces, and the piece of the cell that contains it, in the
  // order of the former. Empty if the cell has one piece.
  std::vector<std::pair<PolygonNumber, PolygonNumber>> members;
  // Cells only: see CutTable::opened_rooms.
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
           holes.capacity() * sizeof(holes[0]) + members.capacity() * sizeof(members[0]) +
           opened_rooms.capacity() * sizeof(std::uint32_t);
  }
};

// Cut polygons, or cells, by number.
//
// Thread safety: const methods may run concurrently.
class CutFaces {
 public:
  explicit CutFaces(const CutNumbers& numbers) : numbers_(numbers), faces_(numbers.polygon_count()) {}

  const CutNumbers& numbers() const { return numbers_; }
  std::size_t count() const { return count_; }
  // Sums over all.
  std::size_t corner_count() const { return corner_count_; }
  std::size_t memory_bytes() const { return bytes_; }

  // Returns null if the polygon is not cut.
  const CutFace* Find(PolygonNumber polygon) const { return faces_.Find(polygon); }
  // Calls visit(polygon, face) in the order of the numbers.
  template <typename Visitor>
  void ForEach(const Visitor& visit) const {
    faces_.ForEach(visit);
  }

  // REQUIRES, for these two: there is such a piece.
  absl::Span<const std::uint32_t> VerticesOf(PolygonNumber piece) const {
    const auto [owner, index] = numbers_.OwnerOfPiece(piece);
    const CutFace& face = *faces_.Find(owner);
    return {face.corners.data() + face.pieces[index].first_corner, face.pieces[index].corner_count};
  }
  absl::Span<const PolygonNumber> NeighboursOf(PolygonNumber piece) const {
    const auto [owner, index] = numbers_.OwnerOfPiece(piece);
    const CutFace& face = *faces_.Find(owner);
    return {face.neighbours.data() + face.pieces[index].first_corner, face.pieces[index].corner_count};
  }
  // Returns the polygon, or its piece, across an edge that ends at this point. `neighbour` is what
  // NeighboursOf returns for the edge.
  PolygonNumber Behind(PolygonNumber neighbour, const WorldPoint& end) const {
    if (neighbour >= numbers_.polygon_count()) {
      return neighbour;
    }
    const CutFace* const face = faces_.Find(neighbour);
    if (face == nullptr) {
      return neighbour;
    }
    const auto entry = std::ranges::find_if(
        face->entries, [&](const CutFace::Entry& at) { return at.x == end.x && at.y == end.y; });
    assert(entry != face->entries.end());
    return entry->piece;
  }

  // Sets or, if null, removes the face.
  void Put(PolygonNumber polygon, std::shared_ptr<const CutFace> face) {
    if (const CutFace* const before = faces_.Find(polygon)) {
      --count_;
      corner_count_ -= before->corners.size();
      bytes_ -= before->memory_bytes();
    }
    if (face != nullptr) {
      ++count_;
      corner_count_ += face->corners.size();
      bytes_ += face->memory_bytes();
    }
    faces_.Put(polygon, std::move(face));
  }

 private:
  CutNumbers numbers_;
  SparseTable<CutFace> faces_;
  std::size_t count_ = 0;
  std::size_t corner_count_ = 0;
  std::size_t bytes_ = 0;
};

// The cut polygons of a mesh, and its cut cells.
//
// Thread safety: const methods may run concurrently.
struct CutTable {
  CutTable(const CutNumbers& of_polygons, const CutNumbers& of_cells)
      : polygons(of_polygons), cells(of_cells) {}

  CutFaces polygons;
  // Cells of cut polygons, and those beside them that have more corners than without holes (CutCells).
  CutFaces cells;
  // Parts of the polygons of the uncut mesh. Null if they are as without holes.
  std::shared_ptr<const std::vector<std::uint32_t>> parts;
  // Parts of the polygons and pieces for which `parts` is wrong. A piece that is not listed has the part of
  // its polygon.
  absl::flat_hash_map<PolygonNumber, std::uint32_t> own_parts;
  // Number of pieces in `own_parts` when `parts` was made.
  std::size_t needed_own_parts = 0;
  // Lowest label that no part has had.
  std::uint32_t next_part = 0;
  // Rooms on both sides of doors of which holes may have left several parts, in ascending order and once per
  // side: a path may pass such a door twice.
  std::vector<std::uint32_t> opened_rooms;
  // Number of polygons that holes touch, counted once for each hole.
  std::size_t hole_count = 0;

  std::size_t memory_bytes() const {
    return sizeof(*this) + polygons.memory_bytes() + cells.memory_bytes() +
           opened_rooms.capacity() * sizeof(std::uint32_t) +
           (parts == nullptr ? 0 : parts->capacity() * sizeof(std::uint32_t)) +
           own_parts.capacity() * sizeof(std::pair<PolygonNumber, std::uint32_t>);
  }
};

}  // namespace waystar::core
