// Cells of a navigation mesh: fewer and larger convex polygons over the same ground, for searches.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/mesh_spec.h"

namespace waystar::core {

// A convex polygon of which cells are made.
struct CellSource {
  // Where its corners begin in the lists.
  std::uint32_t first_corner = 0;
  std::uint32_t corner_count = 0;
  std::uint8_t area = 0;
  bool is_dented = false;
};

// The polygons of a mesh as plain values. Vertices are rounded to 2^-20; neighbours are those of MeshSpec,
// for each corner.
struct CellSources {
  absl::Span<const WorldPoint> vertices;
  absl::Span<const CellSource> polygons;
  absl::Span<const std::uint32_t> corners;
  absl::Span<const PolygonNumber> neighbours;
};

// Cells in the form of such polygons: theirs are the numbers that neighbours name, and vertices are those of
// the polygons.
struct MeshCells {
  std::vector<CellSource> cells;
  std::vector<std::uint32_t> corners;
  std::vector<PolygonNumber> neighbours;
  // For each polygon the cell that has the mean of its corners. Parts of the polygon may lie in other cells.
  std::vector<PolygonNumber> cell_of;
};

// Puts polygons together. The cells cover the ground of the polygons without a gap, have the same walls, are
// exactly convex, and have the corners of the polygons but for those that lie in the middle of a side of all
// cells that they touch. Ground of different areas stays apart, and a dented polygon is a cell of its own.
//
// Two polygons are joined where what they are together is convex, those with the longest common side first
// (Hertel, Mehlhorn, "Fast Triangulation of Simple Polygons", 1983). Then sides are turned about one of their
// ends to another corner, within a room (FindMeshRooms): wherever another side is not needed any more, and
// where the side becomes shorter, since fewer paths cross a short one. It may also become longer, by a random
// number that is less in each pass (Kirkpatrick, Gelatt, Vecchi, "Optimization by Simulated Annealing",
// 1983): that makes room for other turns. Integers decide, and the random numbers are always the same ones,
// so that the cells are the same on every machine.
//
// It costs O(n log n) where polygons have few corners. There are 3 passes on large meshes, and 8 on those of
// up to 8192 polygons. With fewer polygons there are up to 8 tries of 8 passes, and the cells of the try with
// the fewest and shortest sides stay. Returns the error of `stop`.
absl::StatusOr<MeshCells> FindMeshCells(const CellSources& sources, const StopCheck* stop = nullptr);

}  // namespace waystar::core
