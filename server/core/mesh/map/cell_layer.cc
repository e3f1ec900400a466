#include "server/core/mesh/map/cell_layer.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace waystar::core {

CellTable::CellTable(MeshCells made, absl::Span<const std::uint32_t> room_of) {
  corners_ = std::move(made.corners);
  neighbours_ = std::move(made.neighbours);
  cell_of_ = std::move(made.cell_of);
  cells_.reserve(made.cells.size());
  for (PolygonNumber cell = 0; cell < made.cells.size(); ++cell) {
    const CellSource& face = made.cells[cell];
    cells_.push_back({.first_corner = face.first_corner,
                      .room = room_of[cell],
                      .corner_count = static_cast<std::uint8_t>(face.corner_count),
                      .is_dented = face.is_dented});
  }
  first_polygon_.resize(cells_.size() + 1);
  for (const PolygonNumber cell : cell_of_) {
    ++first_polygon_[cell + 1];
  }
  std::partial_sum(first_polygon_.begin(), first_polygon_.end(), first_polygon_.begin());
  std::vector<std::uint32_t> next(first_polygon_.begin(), first_polygon_.end() - 1);
  polygons_.resize(cell_of_.size());
  for (PolygonNumber polygon = 0; polygon < cell_of_.size(); ++polygon) {
    polygons_[next[cell_of_[polygon]]++] = polygon;
  }
}

std::size_t CellTable::memory_bytes() const {
  return cells_.capacity() * sizeof(Cell) +
         (corners_.capacity() + neighbours_.capacity() + cell_of_.capacity() + polygons_.capacity() +
          first_polygon_.capacity()) *
             sizeof(std::uint32_t);
}

namespace {

using NeighboursOf = absl::FunctionRef<absl::Span<const PolygonNumber>(PolygonNumber)>;

constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();

// Tarjan's depth-first search for bridges.
class RoomFinder {
 public:
  RoomFinder(std::size_t polygon_count, NeighboursOf neighbours_of, const StopCheck* stop)
      : neighbours_of_(neighbours_of), stop_(stop), visits_(polygon_count) {
    order_.reserve(polygon_count);
  }

  MeshRooms Find() {
    for (PolygonNumber first = 0; first < visits_.size() && !is_stopped_; ++first) {
      if (visits_[first].number == kUnseen) {
        VisitPart(first);
      }
    }
    return Number();
  }

 private:
  static constexpr std::size_t kVisitsPerCheck = 4096;

  struct Visit {
    // Position of the polygon in the order of visits, and the lowest position reached from it or its
    // descendants without the edge by which it was entered.
    std::uint32_t number = kUnseen;
    std::uint32_t reach = kUnseen;
    PolygonNumber before = kNoPolygon;
    std::uint32_t next_edge = 0;
    bool is_entry_seen = false;
  };

  void Enter(PolygonNumber polygon, PolygonNumber before) {
    const auto number = static_cast<std::uint32_t>(order_.size());
    visits_[polygon] = {number, number, before};
    order_.push_back(polygon);
    path_.push_back(polygon);
    is_stopped_ = order_.size() % kVisitsPerCheck == 0 && IsStopped(stop_);
  }

  void VisitPart(PolygonNumber first) {
    Enter(first, kNoPolygon);
    while (!path_.empty() && !is_stopped_) {
      const PolygonNumber polygon = path_.back();
      Visit& visit = visits_[polygon];
      const absl::Span<const PolygonNumber> neighbours = neighbours_of_(polygon);
      if (visit.next_edge < neighbours.size()) {
        Look(polygon, neighbours[visit.next_edge++]);
        continue;
      }
      path_.pop_back();
      if (visit.before != kNoPolygon) {
        Visit& before = visits_[visit.before];
        before.reach = std::min(before.reach, visit.reach);
      }
    }
  }

  void Look(PolygonNumber polygon, PolygonNumber next) {
    if (next == kNoPolygon) {
      return;
    }
    Visit& visit = visits_[polygon];
    if (visits_[next].number == kUnseen) {
      Enter(next, polygon);
    } else if (next == visit.before && !visit.is_entry_seen) {
      // Two polygons may share several edges; none of these is then a door.
      visit.is_entry_seen = true;
    } else {
      visit.reach = std::min(visit.reach, visits_[next].number);
    }
  }

  MeshRooms Number() const {
    MeshRooms rooms;
    rooms.room_of.resize(visits_.size());
    for (const PolygonNumber polygon : order_) {
      const Visit& visit = visits_[polygon];
      const bool is_behind_door = visit.reach == visit.number;
      if (!is_behind_door) {
        rooms.room_of[polygon] = rooms.room_of[visit.before];
        continue;
      }
      const auto room = static_cast<std::uint32_t>(rooms.outer.size());
      rooms.room_of[polygon] = room;
      rooms.outer.push_back(visit.before == kNoPolygon ? room : rooms.room_of[visit.before]);
    }
    return rooms;
  }

  const NeighboursOf neighbours_of_;
  const StopCheck* const stop_;
  bool is_stopped_ = false;
  std::vector<Visit> visits_;
  std::vector<PolygonNumber> order_;
  // From the first polygon of the part to the one being visited.
  std::vector<PolygonNumber> path_;
};

}  // namespace

MeshRooms FindMeshRooms(std::size_t polygon_count, NeighboursOf neighbours_of, const StopCheck* stop) {
  return RoomFinder(polygon_count, neighbours_of, stop).Find();
}

}  // namespace waystar::core
