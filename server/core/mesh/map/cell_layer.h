// Cells of a navigation mesh in the form that searches use, and rooms: regions of the mesh between doors,
// which a search skips unless a path must pass them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_cells.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"

namespace waystar::core {

// Storage of a mesh's cells; see FindMeshCells.
//
// Thread safety: immutable.
class CellTable {
 public:
  // `room_of` has the room of each cell.
  CellTable(MeshCells made, absl::Span<const std::uint32_t> room_of);

  std::size_t memory_bytes() const;

 private:
  friend class CellLayer;

  struct Cell {
    std::uint32_t first_corner = 0;
    std::uint32_t room = 0;
    std::uint8_t corner_count = 0;
    bool is_dented = false;
  };

  std::vector<Cell> cells_;
  std::vector<std::uint32_t> corners_;
  std::vector<PolygonNumber> neighbours_;
  // For each polygon, its cell.
  std::vector<PolygonNumber> cell_of_;
  // The polygons in the order of their cells, and for each cell the first of them; one more at the end.
  std::vector<PolygonNumber> polygons_;
  std::vector<std::uint32_t> first_polygon_;
};

// The cells of a mesh with the interface of its polygons, so that searches run on either. Cell numbers
// replace polygon numbers; vertices are the same.
//
// Thread safety: immutable.
class CellLayer {
 public:
  // The mesh must outlive the layer.
  explicit CellLayer(const NavMesh& mesh)
      : mesh_(mesh), table_(mesh.cells()), vertices_(mesh.vertices().data()) {}

  const NavMesh& mesh() const { return mesh_; }
  std::size_t cell_count() const { return table_.cells_.size(); }

  // Returns the cell that contains the polygon.
  PolygonNumber CellOf(PolygonNumber polygon) const { return table_.cell_of_[polygon]; }
  // Returns the polygons of the cell, in ascending order.
  absl::Span<const PolygonNumber> PolygonsOf(PolygonNumber cell) const {
    const std::uint32_t first = table_.first_polygon_[cell];
    return {table_.polygons_.data() + first, table_.first_polygon_[cell + 1] - first};
  }

  static constexpr bool kMayBeCut = false;

  // Forward to the NavMesh functions of these names.
  const MeshBounds& bounds() const { return mesh_.bounds(); }
  std::size_t vertex_count() const { return mesh_.vertex_count(); }
  const WorldPoint& VertexAt(std::uint32_t vertex) const { return vertices_[vertex]; }
  const VertexWalls& WallsAt(std::uint32_t vertex) const { return mesh_.WallsAt(vertex); }
  absl::Span<const std::uint32_t> VerticesOf(PolygonNumber cell) const {
    const CellTable::Cell& face = table_.cells_[cell];
    return {table_.corners_.data() + face.first_corner, face.corner_count};
  }
  absl::Span<const PolygonNumber> NeighboursOf(PolygonNumber cell) const {
    const CellTable::Cell& face = table_.cells_[cell];
    return {table_.neighbours_.data() + face.first_corner, face.corner_count};
  }
  PolygonNumber Across(PolygonNumber cell, std::size_t k) const { return NeighboursOf(cell)[k]; }
  PolygonNumber Behind(PolygonNumber neighbour, const WorldPoint& /*end*/) const { return neighbour; }
  // REQUIRES: the cell has the vertex as a corner.
  std::size_t CornerAt(PolygonNumber cell, std::uint32_t vertex) const {
    const absl::Span<const std::uint32_t> corners = VerticesOf(cell);
    return static_cast<std::size_t>(std::ranges::find(corners, vertex) - corners.begin());
  }
  void PrefetchFace(PolygonNumber cell) const { __builtin_prefetch(&table_.cells_[cell]); }
  void PrefetchCorners(PolygonNumber cell) const {
    const std::uint32_t first_corner = table_.cells_[cell].first_corner;
    __builtin_prefetch(table_.corners_.data() + first_corner);
    __builtin_prefetch(table_.neighbours_.data() + first_corner);
  }
  bool IsDented(PolygonNumber cell) const { return table_.cells_[cell].is_dented; }
  std::uint32_t RoomOf(PolygonNumber cell) const { return table_.cells_[cell].room; }
  std::uint32_t OuterRoomOf(std::uint32_t room) const { return mesh_.OuterRoomOf(room); }
  std::size_t room_count() const { return mesh_.room_count(); }
  absl::Span<const std::uint32_t> opened_rooms() const { return {}; }

 private:
  const NavMesh& mesh_;
  const CellTable& table_;
  const WorldPoint* const vertices_;
};

// The same for a mesh that is cut: the pieces of a cut cell replace it. Their numbers are above those of all
// cells.
//
// Thread safety: immutable.
class CutCellLayer : public CellLayer {
 public:
  // The mesh must outlive the layer.
  // REQUIRES: the mesh is cut.
  explicit CutCellLayer(const NavMesh& mesh) : CellLayer(mesh), cut_cells_(mesh.cuts()->cells) {}

  static constexpr bool kMayBeCut = true;

  // Returns the cell or piece that contains a polygon or one of its pieces.
  PolygonNumber CellOf(PolygonNumber polygon) const {
    const PolygonNumber cell = CellLayer::CellOf(mesh().WholeOf(polygon));
    const CutFace* const face = cut_cells_.Find(cell);
    if (face == nullptr || face->members.empty()) {
      return face == nullptr ? cell : cut_cells_.numbers().FirstPieceOf(cell);
    }
    return std::ranges::lower_bound(face->members, polygon, {},
                                    &std::pair<PolygonNumber, PolygonNumber>::first)
        ->second;
  }

  const WorldPoint& VertexAt(std::uint32_t vertex) const { return mesh().VertexAt(vertex); }
  absl::Span<const std::uint32_t> VerticesOf(PolygonNumber cell) const {
    return cell < cell_count() ? CellLayer::VerticesOf(cell) : cut_cells_.VerticesOf(cell);
  }
  absl::Span<const PolygonNumber> NeighboursOf(PolygonNumber cell) const {
    return cell < cell_count() ? CellLayer::NeighboursOf(cell) : cut_cells_.NeighboursOf(cell);
  }
  PolygonNumber Across(PolygonNumber cell, std::size_t k) const {
    const absl::Span<const std::uint32_t> corners = VerticesOf(cell);
    return Behind(NeighboursOf(cell)[k], VertexAt(corners[k + 1 < corners.size() ? k + 1 : 0]));
  }
  PolygonNumber Behind(PolygonNumber neighbour, const WorldPoint& end) const {
    return cut_cells_.Behind(neighbour, end);
  }
  std::size_t CornerAt(PolygonNumber cell, std::uint32_t vertex) const {
    return FindCorner(*this, cell, vertex);
  }
  void PrefetchFace(PolygonNumber cell) const {
    if (cell < cell_count()) {
      CellLayer::PrefetchFace(cell);
    }
  }
  void PrefetchCorners(PolygonNumber cell) const {
    if (cell < cell_count()) {
      CellLayer::PrefetchCorners(cell);
    }
  }
  bool IsDented(PolygonNumber cell) const { return cell < cell_count() && CellLayer::IsDented(cell); }
  std::uint32_t RoomOf(PolygonNumber cell) const {
    return CellLayer::RoomOf(cell < cell_count() ? cell : cut_cells_.numbers().OwnerOfPiece(cell).first);
  }
  absl::Span<const std::uint32_t> opened_rooms() const { return mesh().opened_rooms(); }

 private:
  const CutFaces& cut_cells_;
};

// A door is an edge whose removal disconnects its two polygons; rooms are the components that remain without
// doors. Rooms and doors form trees, and a shortest path does not enter a room that it would leave through
// the same door. It therefore only passes the rooms between those of its ends.
struct MeshRooms {
  // Room of each polygon.
  std::vector<std::uint32_t> room_of;
  // For each room, the next one towards the first room of the connected part; that room itself for the first.
  // The outer room's number is lower.
  std::vector<std::uint32_t> outer;
};

// Finds the doors and rooms. `neighbours_of` returns, for each edge of a polygon, the polygon across, or
// kNoPolygon. Costs O(edges). Once `stop` has returned an error, the rooms are wrong.
MeshRooms FindMeshRooms(std::size_t polygon_count,
                        absl::FunctionRef<absl::Span<const PolygonNumber>(PolygonNumber)> neighbours_of,
                        const StopCheck* stop = nullptr);

}  // namespace waystar::core
