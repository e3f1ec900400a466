#include "server/core/mesh/map/cell_layer.h"

#include <utility>

#include "server/core/mesh/map/mesh_rooms.h"
#include "server/core/mesh/map/plan.h"

namespace waystar::core {

CellTable::CellTable(MeshCells made, const StopCheck* stop) {
  corners_ = std::move(made.corners);
  neighbours_ = std::move(made.neighbours);
  cell_of_ = std::move(made.cell_of);
  const auto neighbours_of = [&](PolygonNumber cell) {
    return absl::MakeConstSpan(neighbours_)
        .subspan(made.cells[cell].first_corner, made.cells[cell].corner_count);
  };
  MeshRooms rooms = FindMeshRooms(made.cells.size(), neighbours_of, stop);
  outer_rooms_ = std::move(rooms.outer);
  cells_.reserve(made.cells.size());
  for (PolygonNumber cell = 0; cell < made.cells.size(); ++cell) {
    const CellSource& face = made.cells[cell];
    cells_.push_back({.first_corner = face.first_corner,
                      .room = rooms.room_of[cell],
                      .corner_count = static_cast<std::uint8_t>(face.corner_count),
                      .is_dented = face.is_dented});
  }
}

std::size_t CellTable::memory_bytes() const {
  return cells_.capacity() * sizeof(Cell) +
         (corners_.capacity() + neighbours_.capacity() + outer_rooms_.capacity() + cell_of_.capacity()) *
             sizeof(std::uint32_t);
}

PolygonNumber CellLayer::CellAt(const MeshPlace& place) const {
  PolygonNumber cell = table_.cell_of_[place.polygon];
  // True if no wall separates the mean of the polygon's corners from the point.
  const auto is_inside = [&] {
    const absl::Span<const std::uint32_t> loop = VerticesOf(cell);
    const absl::Span<const PolygonNumber> neighbours = NeighboursOf(cell);
    bool is_left = true;
    const WorldPoint* a = &VertexAt(loop[0]);
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const WorldPoint* const b = &VertexAt(loop[k + 1 < loop.size() ? k + 1 : 0]);
      is_left &= neighbours[k] == kNoPolygon ||
                 (b->x - a->x) * (place.point.y - a->y) > (b->y - a->y) * (place.point.x - a->x);
      a = b;
    }
    return is_left;
  };
  const auto contains = [&] {
    const absl::Span<const std::uint32_t> loop = VerticesOf(cell);
    const WorldPoint* a = &VertexAt(loop.back());
    for (const std::uint32_t vertex : loop) {
      const WorldPoint* const b = &VertexAt(vertex);
      if (Side(*a, *b, place.point) < 0.0) {
        return false;
      }
      a = b;
    }
    return true;
  };
  if (IsDented(cell) || is_inside() || contains()) {
    return cell;
  }
  // Walks straight from the mean of the polygon's corners to the point. No vertex lies between. Coordinates
  // are multiplied by the number of corners.
  const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(place.polygon);
  const auto count = static_cast<std::int64_t>(corners.size());
  FixedPoint mean;
  for (const std::uint32_t vertex : corners) {
    const FixedPoint corner = ToFixed(VertexAt(vertex));
    mean = {mean.x + corner.x, mean.y + corner.y};
  }
  const auto times = [&](const WorldPoint& point) {
    const FixedPoint fixed = ToFixed(point);
    return FixedPoint{fixed.x * count, fixed.y * count};
  };
  const FixedPoint to = times(place.point);
  for (std::size_t steps = cell_count(); steps > 0; --steps) {
    const absl::Span<const std::uint32_t> loop = VerticesOf(cell);
    PolygonNumber next = kNoPolygon;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const WorldPoint& a = VertexAt(loop[k]);
      const WorldPoint& b = VertexAt(loop[k + 1 < loop.size() ? k + 1 : 0]);
      if (Side(a, b, place.point) < 0.0 && SideOf(mean, to, times(a)) < 0 && SideOf(mean, to, times(b)) > 0) {
        next = NeighboursOf(cell)[k];
      }
    }
    if (next == kNoPolygon) {
      return cell;
    }
    cell = next;
  }
  return cell;
}

}  // namespace waystar::core
