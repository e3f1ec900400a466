// Cells of a navigation mesh: fewer and larger convex polygons over the same ground, for searches.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A convex polygon from which cells are made.
struct CellSource {
  // Index of its first corner in the lists.
  std::uint32_t first_corner = 0;
  std::uint32_t corner_count = 0;
  std::uint8_t area = 0;
  bool is_dented = false;
};

// Polygons of a mesh as plain values. Vertices are rounded to 2^-20; neighbours are those of MeshSpec, by
// corner.
struct CellSources {
  absl::Span<const WorldPoint> vertices;
  absl::Span<const CellSource> polygons;
  absl::Span<const std::uint32_t> corners;
  absl::Span<const PolygonNumber> neighbours;
};

// Cells in the form of polygons. Neighbours are numbers of cells; vertices are those of the polygons.
struct MeshCells {
  std::vector<CellSource> cells;
  std::vector<std::uint32_t> corners;
  std::vector<PolygonNumber> neighbours;
  // For each polygon, the cell that contains the mean of its corners. Parts of the polygon may lie in other
  // cells.
  std::vector<PolygonNumber> cell_of;
};

// Combines polygons into cells. The cells cover the same ground without gaps, have the same walls, and are
// exactly convex. Their corners are those of the polygons; a corner in the middle of a side of every cell
// that it touches is dropped. Ground of different areas is kept separate, and a dented polygon is a cell of
// its own.
//
// Two polygons are joined if their union is convex, the longest common side first (Hertel, Mehlhorn, "Fast
// Triangulation of Simple Polygons", 1983). Then sides are turned about one of their ends to another corner
// within a room (FindMeshRooms), if that makes another side unnecessary or shortens the side: fewer paths
// cross a short side. A side may also become longer, by a random amount that decreases in each pass
// (Kirkpatrick, Gelatt, Vecchi, "Optimization by Simulated Annealing", 1983), which allows other turns. All
// decisions are made in integers with a fixed random seed, so that the cells are the same on every machine.
//
// Costs O(n log n) if polygons have few corners. There are 3 passes on large meshes, and 8 on those of up to
// 8192 polygons. Smaller meshes get up to 8 tries of 8 passes, and keep the cells of the try with the fewest
// and shortest sides. Returns the error of `stop`.
absl::StatusOr<MeshCells> FindMeshCells(const CellSources& sources, const StopCheck* stop = nullptr);

}  // namespace waystar::core
