#include "server/core/mesh/map/mesh_cut.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/mesh/map/cut_table.h"
#include "server/core/mesh/map/face_cut.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/map/triangulation.h"
#include "server/geometry/world_point.h"

namespace waystar::core {
namespace {

// An outline touches whatever is at most this far from it: more than lines are moved by.
constexpr double kTouch = 4.0 * kOnLine;

absl::Status TooIntricate() {
  return MakeError(ErrorReason::kRegionTooLarge, "", "the area cuts a polygon into too many pieces");
}

// Returns true if all points lie to the right of the line from a to b, by more than kTouch.
template <typename Points>
bool AreRightOf(const WorldPoint& a, const WorldPoint& b, const Points& points) {
  const double limit = -kTouch * DistanceInPlan(a, b);
  return std::ranges::all_of(points, [&](const WorldPoint& point) { return Side(a, b, point) < limit; });
}

// Returns true if a side of the loop separates it from the points.
// REQUIRES: the loop is convex and counterclockwise.
template <typename Loop, typename Points>
bool IsApart(const Loop& loop, const Points& points) {
  for (std::size_t k = 0; k < loop.size(); ++k) {
    if (AreRightOf(loop[k], loop[k + 1 < loop.size() ? k + 1 : 0], points)) {
      return true;
    }
  }
  return false;
}

// Cuts one mesh. Not thread-safe.
class MeshCutter {
 public:
  MeshCutter(const NavMesh& mesh, const MeshHoles& holes, const StopCheck* stop)
      : mesh_(mesh),
        holes_(holes),
        stop_(stop),
        table_(std::make_shared<CutTable>(CutNumbers(mesh.vertex_count(), mesh.polygon_count()))) {}

  absl::StatusOr<NavMesh> Cut() {
    SortOutlines();
    WAYSTAR_RETURN_IF_ERROR(FindTouched());
    AddBeside();
    for (Face& face : faces_) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
      std::vector<ConvexOutline> outlines;
      for (const std::uint32_t outline : face.outlines) {
        outlines.push_back(PartNear(*outlines_[outline], LoopOf(face.polygon)));
      }
      face.cut = std::make_unique<FaceCut>(BorderOf(face), outlines);
      if (!face.cut->is_cut()) {
        return TooIntricate();
      }
    }
    for (Face& face : faces_) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
      WAYSTAR_RETURN_IF_ERROR(Finish(face));
    }
    std::vector<std::uint32_t>& rooms = table_->opened_rooms;
    std::sort(rooms.begin(), rooms.end());
    rooms.erase(std::unique(rooms.begin(), rooms.end()), rooms.end());
    WAYSTAR_RETURN_IF_ERROR(LabelParts());
    return mesh_.WithCuts(table_);
  }

 private:
  // A polygon that may be cut.
  struct Face {
    PolygonNumber polygon = kNoPolygon;
    // Outlines that touch it and are at its height, in ascending order.
    std::vector<std::uint32_t> outlines;
    std::unique_ptr<FaceCut> cut;

    bool Has(std::uint32_t outline) const { return std::ranges::binary_search(outlines, outline); }
  };

  void SortOutlines() {
    for (const ConvexOutline& outline : holes_.outlines) {
      outlines_.push_back(&outline);
    }
    std::ranges::sort(outlines_, [](const ConvexOutline* a, const ConvexOutline* b) {
      return std::ranges::lexicographical_compare(*a, *b, [](const WorldPoint& p, const WorldPoint& q) {
        return std::tie(p.x, p.y) < std::tie(q.x, q.y);
      });
    });
  }

  std::vector<WorldPoint> LoopOf(PolygonNumber polygon) const {
    std::vector<WorldPoint> loop;
    for (const std::uint32_t vertex : mesh_.VerticesOf(polygon)) {
      loop.push_back(mesh_.VertexAt(vertex));
    }
    return loop;
  }

  Face& FaceAt(PolygonNumber polygon) {
    const auto [entry, is_new] = index_.try_emplace(polygon, faces_.size());
    if (is_new) {
      faces_.push_back({polygon, {}, nullptr});
    }
    return faces_[entry->second];
  }
  const Face* FindFace(PolygonNumber polygon) const {
    const auto entry = index_.find(polygon);
    return entry == index_.end() ? nullptr : &faces_[entry->second];
  }

  absl::Status FindTouched() {
    std::vector<PolygonNumber> polygons;
    for (std::uint32_t i = 0; i < outlines_.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
      polygons.clear();
      mesh_.FindAllTouching(*outlines_[i], -kTouch, polygons);
      for (const PolygonNumber polygon : polygons) {
        const MeshBounds bounds = mesh_.BoundsOf(polygon);
        const std::vector<WorldPoint> loop = LoopOf(polygon);
        if (!holes_.heights.Overlaps({bounds.low.z, bounds.high.z}) || IsApart(*outlines_[i], loop) ||
            (!mesh_.IsDented(polygon) && IsApart(loop, *outlines_[i]))) {
          continue;
        }
        FaceAt(polygon).outlines.push_back(i);
        for (const std::uint32_t vertex : mesh_.VerticesOf(polygon)) {
          if (!IsApart(*outlines_[i], std::array{mesh_.VertexAt(vertex)})) {
            touched_vertices_.insert(vertex);
          }
        }
      }
    }
    return absl::OkStatus();
  }

  // Returns true if the outline touches the edge from corner k of the polygon to the next.
  bool TouchesEdge(std::uint32_t outline, PolygonNumber polygon, std::uint32_t k) const {
    const EdgeEnds ends = mesh_.EndsOf({polygon, k});
    return !IsApart(*outlines_[outline], std::array{ends.from, ends.to}) &&
           !AreRightOf(ends.from, ends.to, *outlines_[outline]) &&
           !AreRightOf(ends.to, ends.from, *outlines_[outline]);
  }

  // Returns the outline without corners that are far from the loop: those behind one of its sides together
  // with both of their neighbours.
  static ConvexOutline PartNear(ConvexOutline outline, const std::vector<WorldPoint>& loop) {
    std::vector<bool> is_behind;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const WorldPoint& a = loop[k];
      const WorldPoint& b = loop[k + 1 < loop.size() ? k + 1 : 0];
      const std::size_t count = outline.size();
      is_behind.clear();
      for (const WorldPoint& corner : outline) {
        is_behind.push_back(AreRightOf(a, b, absl::MakeConstSpan(&corner, 1)));
      }
      std::size_t kept = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (!is_behind[i] || !is_behind[i > 0 ? i - 1 : count - 1] || !is_behind[i + 1 < count ? i + 1 : 0]) {
          outline[kept++] = outline[i];
        }
      }
      outline.resize(kept);
    }
    return outline;
  }

  // Adds polygons at other heights than the outlines that meet touched ones at a touched edge or vertex.
  void AddBeside() {
    const std::size_t count = faces_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const PolygonNumber polygon = faces_[i].polygon;
      const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon);
      const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
      for (std::uint32_t k = 0; k < corners.size(); ++k) {
        if (neighbours[k] != kNoPolygon && FindFace(neighbours[k]) == nullptr) {
          const std::vector<std::uint32_t>& outlines = faces_[i].outlines;
          if (std::ranges::any_of(outlines, [&](std::uint32_t o) { return TouchesEdge(o, polygon, k); })) {
            FaceAt(neighbours[k]);
          }
        }
        if (touched_vertices_.contains(corners[k])) {
          AddAround(polygon, k);
        }
      }
    }
    std::ranges::sort(faces_, {}, &Face::polygon);
    for (std::size_t i = 0; i < faces_.size(); ++i) {
      index_[faces_[i].polygon] = i;
    }
  }

  // Adds the polygons around a corner.
  void AddAround(PolygonNumber polygon, std::uint32_t corner) {
    const std::uint32_t vertex = mesh_.VerticesOf(polygon)[corner];
    for (const bool is_counterclockwise : {false, true}) {
      PolygonNumber at = polygon;
      std::size_t place = corner;
      do {
        const std::size_t count = mesh_.VerticesOf(at).size();
        at = mesh_.NeighboursOf(at)[is_counterclockwise ? (place + count - 1) % count : place];
        if (at == kNoPolygon) {
          break;
        }
        FaceAt(at);
        const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(at);
        place = static_cast<std::size_t>(std::ranges::find(corners, vertex) - corners.begin());
      } while (at != polygon);
      if (at == polygon) {
        return;
      }
    }
  }

  std::vector<BorderPoint> BorderOf(const Face& face) const {
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(face.polygon);
    const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(face.polygon);
    std::vector<BorderPoint> border;
    for (std::uint32_t k = 0; k < corners.size(); ++k) {
      const std::uint32_t next = corners[k + 1 < corners.size() ? k + 1 : 0];
      const Face* const other = neighbours[k] == kNoPolygon ? nullptr : FindFace(neighbours[k]);
      std::vector<std::uint32_t> outlines;
      bool is_alike = true;
      for (const std::uint32_t outline : face.outlines) {
        outlines.push_back(outline);
        is_alike &= other == nullptr || other->Has(outline) || !TouchesEdge(outline, face.polygon, k);
      }
      if (other != nullptr) {
        for (const std::uint32_t outline : other->outlines) {
          if (!face.Has(outline)) {
            outlines.push_back(outline);
            is_alike &= !TouchesEdge(outline, face.polygon, k);
          }
        }
        std::ranges::sort(outlines);
      }
      border.push_back({mesh_.VertexAt(corners[k]),
                        touched_vertices_.contains(corners[k]) ? VertexWalls::kNone : corners[k], false,
                        neighbours[k], is_alike});
      for (const WorldPoint& split : SplitsOf(corners[k], next, outlines)) {
        border.push_back({split, VertexWalls::kNone, true, neighbours[k], is_alike});
      }
    }
    return border;
  }

  // Returns the points at which the outlines meet the interior of an edge, from `from` to `to`. They are the
  // same in both directions.
  std::vector<WorldPoint> SplitsOf(std::uint32_t from, std::uint32_t to,
                                   const std::vector<std::uint32_t>& outlines) const {
    const WorldPoint& a = mesh_.VertexAt(std::min(from, to));
    const WorldPoint& b = mesh_.VertexAt(std::max(from, to));
    const double length = DistanceInPlan(a, b);
    std::vector<double> shares;
    for (const std::uint32_t outline : outlines) {
      const ConvexOutline& loop = *outlines_[outline];
      for (std::size_t k = 0; k < loop.size(); ++k) {
        const WorldPoint& p = loop[k];
        const WorldPoint& q = loop[k + 1 < loop.size() ? k + 1 : 0];
        const double p_side = Side(a, b, p);
        const double q_side = Side(a, b, q);
        if (std::abs(p_side) <= kOnLine * length) {
          shares.push_back(((p.x - a.x) * (b.x - a.x) + (p.y - a.y) * (b.y - a.y)) / (length * length));
        } else if (std::abs(q_side) > kOnLine * length && (p_side < 0.0) != (q_side < 0.0)) {
          const double a_side = Side(p, q, a);
          const double b_side = Side(p, q, b);
          if ((a_side < 0.0) != (b_side < 0.0)) {
            shares.push_back(a_side / (a_side - b_side));
          }
        }
      }
    }
    std::ranges::sort(shares);
    std::vector<WorldPoint> splits;
    for (const double share : shares) {
      const WorldPoint point = Rounded(
          WorldPoint{a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), a.z + share * (b.z - a.z)});
      const auto is_near = [&](const WorldPoint& other) {
        return SquaredPlanDistance(point, other) <= kOnLine * kOnLine;
      };
      if (share > 0.0 && share < 1.0 && !is_near(a) && !is_near(b) &&
          (splits.empty() || !is_near(splits.back()))) {
        splits.push_back(point);
      }
    }
    if (from > to) {
      std::ranges::reverse(splits);
    }
    return splits;
  }

  // Returns true if there is ground across the edge at this point of the face's border.
  bool IsOpen(const Face& face, std::size_t k) const {
    const BorderPoint& at = face.cut->BorderAt(k);
    const Face* const other = at.beyond == kNoPolygon ? nullptr : FindFace(at.beyond);
    if (other == nullptr) {
      return at.beyond != kNoPolygon;
    }
    const WorldPoint& start = face.cut->BorderAt(k + 1 < face.cut->border_size() ? k + 1 : 0).point;
    for (std::size_t i = 0; i < other->cut->border_size(); ++i) {
      const BorderPoint& across = other->cut->BorderAt(i);
      if (across.beyond == face.polygon && across.point.x == start.x && across.point.y == start.y) {
        return other->cut->HasGroundAt(i);
      }
    }
    return false;
  }

  // Notes the rooms beside edges between rooms of which more than one part is left.
  void NoteOpenedRooms(const Face& face, const std::vector<bool>& is_open) {
    PolygonNumber last = kNoPolygon;
    for (std::size_t k = 0; k < is_open.size(); ++k) {
      const PolygonNumber beyond = face.cut->BorderAt(k).beyond;
      if (!is_open[k] || !face.cut->HasGroundAt(k)) {
        continue;
      }
      if (beyond == last && mesh_.RoomOf(beyond) != mesh_.RoomOf(face.polygon)) {
        table_->opened_rooms.push_back(mesh_.RoomOf(beyond));
        table_->opened_rooms.push_back(mesh_.RoomOf(face.polygon));
      }
      last = beyond;
    }
  }

  absl::Status Finish(Face& face) {
    std::vector<bool> is_open(face.cut->border_size());
    for (std::size_t k = 0; k < is_open.size(); ++k) {
      is_open[k] = IsOpen(face, k);
    }
    NoteOpenedRooms(face, is_open);
    face.cut->SetOpen(std::move(is_open));
    std::optional<CutFace> cut = face.cut->Finish(
        face.polygon, table_->numbers,
        [&](const WorldPoint& point) { return mesh_.NearestPoint(face.polygon, point.x, point.y).z; });
    if (!cut) {
      return TooIntricate();
    }
    const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(face.polygon);
    const bool is_whole =
        cut->pieces.size() == 1 && cut->points.empty() && cut->corners.size() == neighbours.size() &&
        std::ranges::count(cut->neighbours, kNoPolygon) == std::ranges::count(neighbours, kNoPolygon);
    if (!is_whole) {
      cut->Shrink();
      table_->corner_count += cut->corners.size();
      table_->face_bytes += cut->memory_bytes();
      table_->faces.Put(face.polygon, std::make_shared<const CutFace>(*std::move(cut)));
    }
    return absl::OkStatus();
  }

  absl::Status LabelParts() {
    const NavMesh cut = mesh_.WithCuts(table_);
    // Pieces, and their groups that edges within the cut polygons connect.
    std::vector<PolygonNumber> pieces;
    absl::flat_hash_map<PolygonNumber, std::uint32_t> index;
    std::vector<std::uint32_t> group;
    std::vector<bool> has_way_out;
    table_->faces.ForEach([&](PolygonNumber polygon, const CutFace& face) {
      for (std::uint32_t i = 0; i < face.pieces.size(); ++i) {
        index.emplace(table_->numbers.FirstPieceOf(polygon) + i, static_cast<std::uint32_t>(pieces.size()));
        pieces.push_back(table_->numbers.FirstPieceOf(polygon) + i);
      }
    });
    group.assign(pieces.size(), VertexWalls::kNone);
    std::vector<PolygonNumber> open;
    for (std::uint32_t first = 0; first < pieces.size(); ++first) {
      if (group[first] != VertexWalls::kNone) {
        continue;
      }
      const auto number = static_cast<std::uint32_t>(has_way_out.size());
      has_way_out.push_back(false);
      group[first] = number;
      open.push_back(pieces[first]);
      while (!open.empty()) {
        const PolygonNumber piece = open.back();
        open.pop_back();
        for (std::uint32_t k = 0; k < cut.VerticesOf(piece).size(); ++k) {
          const PolygonNumber next = cut.Across(piece, k);
          const auto entry = index.find(next);
          if (entry == index.end()) {
            has_way_out[number] = has_way_out[number] || next != kNoPolygon;
          } else if (group[entry->second] == VertexWalls::kNone) {
            group[entry->second] = number;
            open.push_back(next);
          }
        }
      }
    }
    if (MaySeparate(pieces, group, has_way_out)) {
      return LabelAll(cut);
    }
    auto next_label = static_cast<std::uint32_t>(mesh_.part_count());
    std::vector<std::uint32_t> labels(has_way_out.size(), VertexWalls::kNone);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      std::uint32_t& label = labels[group[i]];
      if (!has_way_out[group[i]]) {
        if (label == VertexWalls::kNone) {
          label = next_label++;
        }
        table_->piece_parts.emplace(pieces[i], label);
      }
    }
    return absl::OkStatus();
  }

  // Returns false if every group of adjacent cut polygons leaves at most one group of pieces with a way out:
  // it still connects whatever it connected before.
  bool MaySeparate(const std::vector<PolygonNumber>& pieces, const std::vector<std::uint32_t>& group,
                   const std::vector<bool>& has_way_out) const {
    absl::flat_hash_map<PolygonNumber, std::uint32_t> group_at;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const PolygonNumber polygon = table_->numbers.OwnerOfPiece(pieces[i]).first;
      if (has_way_out[group[i]] && !group_at.try_emplace(polygon, group[i]).second &&
          group_at[polygon] != group[i]) {
        return true;
      }
    }
    // Adjacent polygons pass on their group.
    absl::flat_hash_set<PolygonNumber> seen;
    std::vector<PolygonNumber> open;
    bool may_separate = false;
    table_->faces.ForEach([&](PolygonNumber first, const CutFace& /*face*/) {
      if (!seen.insert(first).second) {
        return;
      }
      std::optional<std::uint32_t> only;
      open.push_back(first);
      while (!open.empty()) {
        const PolygonNumber polygon = open.back();
        open.pop_back();
        if (const auto entry = group_at.find(polygon); entry != group_at.end()) {
          may_separate |= only && *only != entry->second;
          only = entry->second;
        }
        for (const PolygonNumber next : mesh_.NeighboursOf(polygon)) {
          if (next != kNoPolygon && table_->faces.Find(next) != nullptr && seen.insert(next).second) {
            open.push_back(next);
          }
        }
      }
    });
    return may_separate;
  }

  // Labels all polygons and pieces.
  absl::Status LabelAll(const NavMesh& cut) {
    table_->parts.assign(mesh_.polygon_count(), VertexWalls::kNone);
    std::uint32_t count = 0;
    // Returns false if it has a label already.
    const auto label = [&](PolygonNumber polygon) {
      if (polygon >= mesh_.polygon_count()) {
        return table_->piece_parts.emplace(polygon, count).second;
      }
      const bool is_new = table_->parts[polygon] == VertexWalls::kNone;
      table_->parts[polygon] = is_new ? count : table_->parts[polygon];
      return is_new;
    };
    std::vector<PolygonNumber> open;
    for (const PolygonNumber first : cut.Polygons()) {
      if (!label(first)) {
        continue;
      }
      open.push_back(first);
      for (std::size_t step = 0; !open.empty(); ++step) {
        WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, step));
        const PolygonNumber polygon = open.back();
        open.pop_back();
        for (std::uint32_t k = 0; k < cut.VerticesOf(polygon).size(); ++k) {
          const PolygonNumber next = cut.Across(polygon, k);
          if (next != kNoPolygon && label(next)) {
            open.push_back(next);
          }
        }
      }
      ++count;
    }
    return absl::OkStatus();
  }

  const NavMesh& mesh_;
  const MeshHoles& holes_;
  const StopCheck* const stop_;
  const std::shared_ptr<CutTable> table_;
  std::vector<const ConvexOutline*> outlines_;
  std::vector<Face> faces_;
  absl::flat_hash_map<PolygonNumber, std::size_t> index_;
  // Vertices of touched polygons on, near or inside an outline.
  absl::flat_hash_set<std::uint32_t> touched_vertices_;
};

}  // namespace

absl::StatusOr<NavMesh> CutHoles(const NavMesh& mesh, const MeshHoles& holes, const StopCheck* stop) {
  return MeshCutter(mesh, holes, stop).Cut();
}

}  // namespace waystar::core
