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
  // For each polygon, its cell.
  std::vector<PolygonNumber> cell_of;
};

// Maximum number of polygons in a cell: a change of one joins all of them again.
inline constexpr std::uint32_t kMaxCellPolygons = 16;

// Joins polygons to cells (ConvexJoin). Each polygon is part of one cell, and the cells have the same walls.
// A corner in the middle of a side of every cell that it touches is dropped. Ground of different areas is
// kept separate, and a dented polygon is a cell of its own.
//
// Costs O(n log n) if polygons have few corners. Returns the error of `stop`.
absl::StatusOr<MeshCells> FindMeshCells(const CellSources& sources, const StopCheck* stop = nullptr);

}  // namespace waystar::core
