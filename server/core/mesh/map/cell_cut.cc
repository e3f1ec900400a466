#include "server/core/mesh/map/cell_cut.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/core/mesh/map/cell_layer.h"
#include "server/core/mesh/map/convex_join.h"

namespace waystar::core {
namespace {

// Not thread-safe.
class CellCutter {
 public:
  CellCutter(const NavMesh& mesh, CutTable& table) : mesh_(mesh), cells_(mesh), table_(table) {}

  bool Cut(absl::Span<const PolygonNumber> changed) {
    std::vector<PolygonNumber> touched;
    for (const PolygonNumber polygon : changed) {
      touched.push_back(cells_.CellOf(polygon));
    }
    SortUnique(touched);
    std::vector<PolygonNumber> beside;
    for (const PolygonNumber cell : touched) {
      AddBeside(cell, beside);
    }
    touched.insert(touched.end(), beside.begin(), beside.end());
    SortUnique(touched);
    for (const PolygonNumber cell : touched) {
      CutFace face = IsCut(cell) ? Joined(cell) : WithCorners(cell);
      if (face.pieces.size() > table_.cells.numbers().most()) {
        return false;
      }
      Replace(cell, std::move(face));
    }
    return true;
  }

 private:
  using Half = ConvexJoin::Half;

  // An edge of a polygon between two cells, or at a wall.
  struct BorderEdge {
    std::uint32_t vertex = 0;
    std::uint32_t next = 0;
    PolygonNumber beyond = kNoPolygon;
  };

  static void SortUnique(std::vector<PolygonNumber>& numbers) {
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }

  bool IsCut(PolygonNumber cell) const {
    return std::ranges::any_of(cells_.PolygonsOf(cell), [&](PolygonNumber polygon) {
      return table_.polygons.Find(polygon) != nullptr;
    });
  }

  // Returns the border of the uncut cell with all corners of its polygons.
  std::vector<BorderEdge> BorderOf(PolygonNumber cell) const {
    std::vector<BorderEdge> border;
    for (const PolygonNumber polygon : cells_.PolygonsOf(cell)) {
      const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
      const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon);
      for (std::size_t k = 0; k < corners.size(); ++k) {
        const PolygonNumber beyond = neighbours[k] == kNoPolygon ? kNoPolygon : cells_.CellOf(neighbours[k]);
        if (beyond != cell) {
          border.push_back({corners[k], corners[k + 1 < corners.size() ? k + 1 : 0], beyond});
        }
      }
    }
    return border;
  }

  // Adds the cells beside this one if it has fewer corners than its polygons have on its border.
  void AddBeside(PolygonNumber cell, std::vector<PolygonNumber>& beside) const {
    const std::vector<BorderEdge> border = BorderOf(cell);
    if (border.size() == cells_.VerticesOf(cell).size()) {
      return;
    }
    for (const BorderEdge& edge : border) {
      if (edge.beyond != kNoPolygon) {
        beside.push_back(edge.beyond);
      }
    }
  }

  // Returns a cell without cut polygons, with further corners where it adjoins cells that have some; without
  // pieces if there are none.
  CutFace WithCorners(PolygonNumber cell) const {
    const absl::Span<const std::uint32_t> own = cells_.VerticesOf(cell);
    const std::vector<BorderEdge> border = BorderOf(cell);
    CutFace face;
    std::uint32_t vertex = own.front();
    do {
      const BorderEdge& edge = *std::ranges::find(border, vertex, &BorderEdge::vertex);
      const bool is_own = std::ranges::find(own, vertex) != own.end();
      if (is_own || (edge.beyond != kNoPolygon && IsCut(edge.beyond))) {
        AddCorner(vertex, edge.beyond, table_.cells.numbers().FirstPieceOf(cell), face);
      }
      vertex = edge.next;
    } while (vertex != own.front());
    if (face.corners.size() == own.size()) {
      return {};
    }
    face.pieces.push_back({0, static_cast<std::uint8_t>(face.corners.size())});
    return face;
  }

  // Adds a corner of a piece on the border of the cell.
  void AddCorner(std::uint32_t vertex, PolygonNumber beyond, PolygonNumber piece, CutFace& face) const {
    face.corners.push_back(vertex);
    face.neighbours.push_back(beyond);
    if (beyond != kNoPolygon) {
      face.entries.push_back({mesh_.VertexAt(vertex).x, mesh_.VertexAt(vertex).y, piece});
    }
  }

  // Returns what is left of a cell with cut polygons.
  CutFace Joined(PolygonNumber cell) const {
    CutFace face;
    // The polygons and pieces, the half-edges at their corners, and what is across: a polygon or piece.
    std::vector<PolygonNumber> parts;
    std::vector<Half> next;
    std::vector<std::uint32_t> part_of;
    std::vector<std::uint32_t> vertices;
    std::vector<WorldPoint> points;
    std::vector<PolygonNumber> across;
    absl::flat_hash_map<PolygonNumber, Half> first_of;
    for (const PolygonNumber polygon : cells_.PolygonsOf(cell)) {
      mesh_.ForEachPieceOf(polygon, [&](PolygonNumber part) {
        const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(part);
        const auto first = static_cast<Half>(next.size());
        first_of.emplace(part, first);
        for (std::size_t k = 0; k < corners.size(); ++k) {
          next.push_back(k + 1 < corners.size() ? static_cast<Half>(next.size() + 1) : first);
          part_of.push_back(static_cast<std::uint32_t>(parts.size()));
          vertices.push_back(corners[k]);
          points.push_back(mesh_.VertexAt(corners[k]));
          across.push_back(mesh_.Across(part, k));
        }
        parts.push_back(part);
      });
    }
    std::vector<Half> twin(next.size(), ConvexJoin::kNone);
    for (Half half = 0; half < next.size(); ++half) {
      const auto other = across[half] == kNoPolygon ? first_of.end() : first_of.find(across[half]);
      if (other != first_of.end() && twin[half] == ConvexJoin::kNone) {
        twin[half] = other->second + static_cast<Half>(mesh_.CornerAt(across[half], vertices[next[half]]));
        twin[twin[half]] = half;
      }
    }
    ConvexJoin join(next, part_of, std::move(twin), parts.size());
    join.Join([&](Half half) -> const WorldPoint& { return points[half]; }).IgnoreError();

    std::vector<Half> firsts;
    std::vector<PolygonNumber> piece_of(parts.size(), kNoPolygon);
    const PolygonNumber first_piece = table_.cells.numbers().FirstPieceOf(cell);
    for (Half half = 0; half < next.size(); ++half) {
      if (!join.IsRemoved(half) && piece_of[join.RootBeside(half)] == kNoPolygon) {
        piece_of[join.RootBeside(half)] = first_piece + static_cast<PolygonNumber>(firsts.size());
        firsts.push_back(half);
      }
    }
    std::vector<PolygonNumber> entered;
    for (const Half first : firsts) {
      const PolygonNumber piece = piece_of[join.RootBeside(first)];
      CutFace::Piece made{static_cast<std::uint32_t>(face.corners.size()), 0};
      Half half = first;
      do {
        if (join.TwinOf(half) != ConvexJoin::kNone) {
          face.corners.push_back(vertices[half]);
          face.neighbours.push_back(piece_of[join.RootBeside(join.TwinOf(half))]);
        } else {
          const PolygonNumber beyond =
              across[half] == kNoPolygon ? kNoPolygon : cells_.CellOf(mesh_.WholeOf(across[half]));
          AddCorner(vertices[half], beyond, piece, face);
          if (beyond != kNoPolygon && cells_.RoomOf(beyond) != cells_.RoomOf(cell)) {
            entered.push_back(beyond);
          }
        }
        ++made.corner_count;
        half = join.Next(half);
      } while (half != first);
      face.pieces.push_back(made);
    }
    for (std::uint32_t part = 0; part < parts.size(); ++part) {
      face.members.emplace_back(parts[part], piece_of[join.RootOf(part)]);
    }
    std::ranges::sort(face.members);
    NoteRooms(cell, std::move(entered), face);
    return face;
  }

  // Notes the rooms beside a door if several edges are left of it. They may all be one part of it.
  void NoteRooms(PolygonNumber cell, std::vector<PolygonNumber> entered, CutFace& face) const {
    std::ranges::sort(entered);
    for (std::size_t i = 1; i < entered.size(); ++i) {
      if (entered[i] == entered[i - 1] && (i == 1 || entered[i] != entered[i - 2])) {
        face.opened_rooms.push_back(cells_.RoomOf(cell));
        face.opened_rooms.push_back(cells_.RoomOf(entered[i]));
      }
    }
  }

  void Replace(PolygonNumber cell, CutFace face) {
    std::vector<std::uint32_t>& rooms = table_.opened_rooms;
    if (const CutFace* const before = table_.cells.Find(cell)) {
      for (const std::uint32_t room : before->opened_rooms) {
        rooms.erase(std::ranges::lower_bound(rooms, room));
      }
    }
    for (const std::uint32_t room : face.opened_rooms) {
      rooms.insert(std::ranges::upper_bound(rooms, room), room);
    }
    if (!IsCut(cell) && face.pieces.empty()) {
      table_.cells.Put(cell, nullptr);
      return;
    }
    face.Shrink();
    table_.cells.Put(cell, std::make_shared<const CutFace>(std::move(face)));
  }

  const NavMesh& mesh_;
  const CellLayer cells_;
  CutTable& table_;
};

}  // namespace

bool CutCells(const NavMesh& mesh, absl::Span<const PolygonNumber> changed, CutTable& table) {
  return CellCutter(mesh, table).Cut(changed);
}

}  // namespace waystar::core
