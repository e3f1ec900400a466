#include "server/core/mesh/mesh_cut.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/mesh/mesh_bounds.h"
#include "server/core/mesh/mesh_check.h"
#include "server/core/mesh/plan.h"
#include "server/core/mesh/polygon_tree.h"
#include "server/core/mesh/triangulate.h"

namespace waystar::core {
namespace {

// Corners that are no further from a line are on it: some times what rounding moves them.
constexpr double kOnLine = 4.0 / kFixedScale;

// A corner of a piece, and the edge that begins there.
struct PieceCorner {
  std::uint32_t vertex = 0;
  // The polygon of the uncut mesh across the edge; kNoPolygon for a wall, and for an edge that was cut.
  PolygonNumber across = kNoPolygon;
  bool is_cut = false;

  bool is_wall() const { return across == kNoPolygon && !is_cut; }
};

using Loop = std::vector<PieceCorner>;

double PlanLength(const WorldPoint& a, const WorldPoint& b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  return std::sqrt(dx * dx + dy * dy);
}

std::uint64_t KeyOf(std::uint32_t from, std::uint32_t to) { return std::uint64_t{from} << 32 | to; }

// Cuts one mesh. Thread safety: none.
class Cutter {
 public:
  Cutter(const NavMesh& mesh, const MeshHoles& holes, const StopCheck* stop)
      : mesh_(mesh), holes_(holes), stop_(stop), roles_(mesh.polygon_count(), Role::kFar) {
    vertices_.reserve(mesh.vertex_count());
    for (std::uint32_t i = 0; i < mesh.vertex_count(); ++i) {
      vertices_.push_back(mesh.VertexAt(i));
    }
  }

  absl::StatusOr<CutMesh> Cut() {
    WAYSTAR_RETURN_IF_ERROR(FindTouched());
    for (const Touched& touched : touched_) {
      WAYSTAR_RETURN_IF_ERROR(CutPolygon(touched));
    }
    MarkAround(Role::kCut, Role::kBeside);
    MarkAround(Role::kBeside, Role::kNear);
    WAYSTAR_RETURN_IF_ERROR(Assemble());
    return Finish();
  }

 private:
  // How near a polygon is to a hole.
  enum class Role : std::uint8_t {
    kFar,
    // Its neighbours may have other numbers.
    kNear,
    // Its edges may be split.
    kBeside,
    kCut,
  };

  struct Touched {
    PolygonNumber polygon = 0;
    // Indexes of outlines, in ascending order.
    std::vector<std::uint32_t> outlines;
  };

  // A polygon of the cut mesh.
  struct Piece {
    Loop loop;
    PolygonNumber source = 0;
  };

  static absl::Status TooManyPieces() {
    return MakeError(ErrorReason::kRegionTooLarge, "", "the area cuts the mesh into too many polygons");
  }

  absl::Status FindTouched() {
    absl::flat_hash_map<PolygonNumber, std::size_t> index;
    std::vector<MeshPlace> places;
    for (std::uint32_t i = 0; i < holes_.outlines.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
      MeshBounds box;
      for (const WorldPoint& corner : holes_.outlines[i]) {
        box.Add(corner);
      }
      const WorldPoint middle{(box.low.x + box.high.x) / 2.0, (box.low.y + box.high.y) / 2.0, 0.0};
      places.clear();
      mesh_.FindAllNear({.position = middle,
                         .radius = PlanLength(middle, box.high) + kOnLine,
                         .height = std::numeric_limits<double>::infinity()},
                        places);
      for (const MeshPlace& place : places) {
        if (!IsAtHeight(place.polygon)) {
          continue;
        }
        const auto [entry, is_new] = index.try_emplace(place.polygon, touched_.size());
        if (is_new) {
          touched_.push_back({place.polygon, {}});
        }
        touched_[entry->second].outlines.push_back(i);
      }
    }
    std::sort(touched_.begin(), touched_.end(),
              [](const Touched& a, const Touched& b) { return a.polygon < b.polygon; });
    return absl::OkStatus();
  }

  bool IsAtHeight(PolygonNumber polygon) const {
    MeshBounds bounds;
    for (const std::uint32_t vertex : mesh_.VerticesOf(polygon)) {
      bounds.Add(mesh_.VertexAt(vertex));
    }
    return holes_.heights.Overlaps({bounds.low.z, bounds.high.z});
  }

  Loop LoopOf(PolygonNumber polygon) const {
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
    const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon);
    Loop loop;
    loop.reserve(corners.size());
    for (std::size_t k = 0; k < corners.size(); ++k) {
      loop.push_back({corners[k], neighbours[k], false});
    }
    return loop;
  }

  absl::Status CutPolygon(const Touched& touched) {
    source_ = touched.polygon;
    std::vector<Loop> pieces;
    pieces.push_back(LoopOf(touched.polygon));
    bool is_whole = true;
    for (const std::uint32_t outline : touched.outlines) {
      std::vector<Loop> left;
      for (Loop& piece : pieces) {
        WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, steps_++));
        if (LiesOutside(piece, holes_.outlines[outline])) {
          left.push_back(std::move(piece));
        } else {
          is_whole = false;
          WAYSTAR_RETURN_IF_ERROR(CutOutline(std::move(piece), holes_.outlines[outline], left));
        }
      }
      pieces = std::move(left);
      if (piece_count_ + pieces.size() > kMaxMeshPolygons) {
        return TooManyPieces();
      }
    }
    if (is_whole) {
      return absl::OkStatus();
    }
    roles_[touched.polygon] = Role::kCut;
    piece_count_ += pieces.size();
    pieces_.emplace(touched.polygon, std::move(pieces));
    return CheckStop(stop_);
  }

  // Returns -1, 0 or 1: whether the vertex lies to the right of the line from a to b, on it, or to the left.
  int SideOfLine(const WorldPoint& a, const WorldPoint& b, double length, std::uint32_t vertex) const {
    const double side = Side(a, b, vertices_[vertex]);
    return std::abs(side) <= kOnLine * length ? 0 : (side > 0.0 ? 1 : -1);
  }

  // Returns whether a side of the outline or of the piece has the two on either side of it.
  bool LiesOutside(const Loop& piece, const ConvexOutline& outline) const {
    for (std::size_t k = 0; k < outline.size(); ++k) {
      const WorldPoint& a = outline[k];
      const WorldPoint& b = outline[(k + 1) % outline.size()];
      const double length = PlanLength(a, b);
      if (std::all_of(piece.begin(), piece.end(), [&](const PieceCorner& corner) {
            return SideOfLine(a, b, length, corner.vertex) <= 0;
          })) {
        return true;
      }
    }
    for (std::size_t k = 0; k < piece.size(); ++k) {
      const WorldPoint& a = vertices_[piece[k].vertex];
      const WorldPoint& b = vertices_[piece[(k + 1) % piece.size()].vertex];
      const double reach = kOnLine * PlanLength(a, b);
      if (std::all_of(outline.begin(), outline.end(),
                      [&](const WorldPoint& corner) { return Side(a, b, corner) <= reach; })) {
        return true;
      }
    }
    return false;
  }

  // Adds the pieces of the loop that lie outside of the outline to `outside`.
  absl::Status CutOutline(Loop loop, const ConvexOutline& outline, std::vector<Loop>& outside) {
    std::vector<Loop> inside;
    inside.push_back(std::move(loop));
    for (std::size_t k = 0; k < outline.size() && !inside.empty(); ++k) {
      const WorldPoint& a = outline[k];
      const WorldPoint& b = outline[(k + 1) % outline.size()];
      std::vector<Loop> left;
      while (!inside.empty()) {
        Loop piece = std::move(inside.back());
        inside.pop_back();
        Expand(piece);
        WAYSTAR_RETURN_IF_ERROR(CutLine(std::move(piece), a, b, left, outside, inside));
      }
      inside = std::move(left);
    }
    return absl::OkStatus();
  }

  // Adds the vertices at which edges of the loop were split since it was made.
  void Expand(Loop& loop) const {
    Loop expanded;
    expanded.reserve(loop.size());
    for (std::size_t k = 0; k < loop.size(); ++k) {
      ExpandEdge(loop[k], loop[(k + 1) % loop.size()].vertex, expanded);
    }
    loop = std::move(expanded);
  }

  void ExpandEdge(const PieceCorner& corner, std::uint32_t to, Loop& expanded) const {
    const auto split = splits_.find(KeyOf(std::min(corner.vertex, to), std::max(corner.vertex, to)));
    if (split == splits_.end()) {
      expanded.push_back(corner);
      return;
    }
    ExpandEdge(corner, split->second, expanded);
    ExpandEdge({split->second, corner.across, corner.is_cut}, to, expanded);
  }

  // Cuts a loop along the line from a to b, and adds the parts to its left and right. A loop that the line
  // crosses more than twice, as it may where polygons are dented, is cut into triangles, which are added to
  // `again`.
  absl::Status CutLine(Loop loop, const WorldPoint& a, const WorldPoint& b, std::vector<Loop>& left,
                       std::vector<Loop>& right, std::vector<Loop>& again) {
    const double length = PlanLength(a, b);
    std::vector<int> sides;
    sides.reserve(loop.size());
    int changes = 0;
    int last = 0;
    int first = 0;
    for (const PieceCorner& corner : loop) {
      const int side = SideOfLine(a, b, length, corner.vertex);
      sides.push_back(side);
      if (side != 0) {
        changes += last != 0 && side != last ? 1 : 0;
        first = first == 0 ? side : first;
        last = side;
      }
    }
    changes += first != last ? 1 : 0;
    if (changes == 0) {
      (last > 0 ? left : right).push_back(std::move(loop));
      return absl::OkStatus();
    }
    if (changes > 2) {
      return Triangulate(loop, again);
    }
    // From the last corner on the right on.
    std::size_t begin = 0;
    while (sides[begin] >= 0 || NextSide(sides, begin) < 0) {
      ++begin;
    }
    std::rotate(loop.begin(), loop.begin() + static_cast<std::ptrdiff_t>(begin), loop.end());
    std::rotate(sides.begin(), sides.begin() + static_cast<std::ptrdiff_t>(begin), sides.end());
    Part(std::move(loop), sides, a, b, left, right);
    return absl::OkStatus();
  }

  // Returns the side of the next corner behind `place` that is not on the line.
  static int NextSide(const std::vector<int>& sides, std::size_t place) {
    std::size_t next = place;
    do {
      next = (next + 1) % sides.size();
    } while (sides[next] == 0);
    return sides[next];
  }

  // Parts a loop whose first corner is the last one on the right before it crosses the line.
  void Part(Loop loop, std::vector<int>& sides, const WorldPoint& a, const WorldPoint& b,
            std::vector<Loop>& left, std::vector<Loop>& right) {
    // The corners on the line where the loop comes to the left, and where it leaves it. An edge along the
    // line that follows belongs to the other side.
    const std::size_t in = sides[1] == 0 ? 1 : Insert(loop, sides, 0, a, b);
    const auto is_right = [](int side) { return side < 0; };
    const auto behind = std::find_if(sides.begin() + 1, sides.end(), is_right);
    const auto last =
        std::find_if(std::make_reverse_iterator(behind), sides.rend(), [](int side) { return side > 0; });
    auto out = static_cast<std::size_t>(sides.rend() - last);
    if (out == loop.size() || sides[out] != 0) {
      out = Insert(loop, sides, out - 1, a, b);
    }
    const auto at = [&](std::size_t place) { return loop.begin() + static_cast<std::ptrdiff_t>(place); };
    Loop inside(at(in), at(out));
    inside.push_back({loop[out].vertex, kNoPolygon, true});
    Loop outside(at(out), loop.end());
    outside.insert(outside.end(), loop.begin(), at(in));
    outside.push_back({loop[in].vertex, kNoPolygon, true});
    left.push_back(std::move(inside));
    right.push_back(std::move(outside));
  }

  // Inserts a corner behind the one at `place`, where the line crosses the edge, and returns its place.
  std::size_t Insert(Loop& loop, std::vector<int>& sides, std::size_t place, const WorldPoint& a,
                     const WorldPoint& b) {
    const PieceCorner corner = loop[place];
    const std::uint32_t from = std::min(corner.vertex, loop[(place + 1) % loop.size()].vertex);
    const std::uint32_t to = std::max(corner.vertex, loop[(place + 1) % loop.size()].vertex);
    const WorldPoint p = vertices_[from];
    const WorldPoint q = vertices_[to];
    const double side_of_p = Side(a, b, p);
    const double share = side_of_p / (side_of_p - Side(a, b, q));
    WorldPoint point =
        Rounded(WorldPoint{p.x + share * (q.x - p.x), p.y + share * (q.y - p.y), p.z + share * (q.z - p.z)});
    if (corner.is_cut) {
      point.z = mesh_.NearestPoint(source_, point.x, point.y).z;
    }
    const auto vertex = static_cast<std::uint32_t>(vertices_.size());
    vertices_.push_back(point);
    splits_.emplace(KeyOf(from, to), vertex);
    loop.insert(loop.begin() + static_cast<std::ptrdiff_t>(place + 1),
                {vertex, corner.across, corner.is_cut});
    sides.insert(sides.begin() + static_cast<std::ptrdiff_t>(place + 1), 0);
    return place + 1;
  }

  // Adds triangles that cover the loop.
  absl::Status Triangulate(const Loop& loop, std::vector<Loop>& triangles) const {
    std::vector<FixedPoint> points;
    points.reserve(loop.size());
    for (const PieceCorner& corner : loop) {
      points.push_back(ToFixed(vertices_[corner.vertex]));
    }
    WAYSTAR_ASSIGN_OR_RETURN(const std::vector<LoopTriangle> found, TriangulateLoop(points, stop_));
    for (const LoopTriangle& triangle : found) {
      Loop piece;
      for (std::size_t k = 0; k < 3; ++k) {
        const PieceCorner& corner = loop[triangle[k]];
        const bool is_edge = (triangle[k] + 1) % loop.size() == triangle[(k + 1) % 3];
        piece.push_back(is_edge ? corner : PieceCorner{corner.vertex, kNoPolygon, true});
      }
      triangles.push_back(std::move(piece));
    }
    return absl::OkStatus();
  }

  // Gives far neighbours of polygons with one role another.
  void MarkAround(Role role, Role around) {
    for (PolygonNumber polygon = 0; polygon < mesh_.polygon_count(); ++polygon) {
      if (roles_[polygon] != role) {
        continue;
      }
      for (const PolygonNumber next : mesh_.NeighboursOf(polygon)) {
        if (next != kNoPolygon && roles_[next] == Role::kFar) {
          roles_[next] = around;
        }
      }
    }
  }

  absl::Status Assemble() {
    first_piece_.assign(mesh_.polygon_count(), kNoPolygon);
    for (PolygonNumber polygon = 0; polygon < mesh_.polygon_count(); ++polygon) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, polygon));
      first_piece_[polygon] = static_cast<PolygonNumber>(result_.size());
      if (roles_[polygon] == Role::kFar || roles_[polygon] == Role::kNear) {
        result_.push_back({{}, polygon});
      } else if (roles_[polygon] == Role::kBeside) {
        WAYSTAR_RETURN_IF_ERROR(AddPiece(LoopOf(polygon), polygon));
      } else {
        for (Loop& piece : pieces_[polygon]) {
          WAYSTAR_RETURN_IF_ERROR(AddPiece(std::move(piece), polygon));
        }
      }
      if (result_.size() > kMaxMeshPolygons || vertices_.size() > kMaxMeshVertices) {
        return TooManyPieces();
      }
    }
    return absl::OkStatus();
  }

  // Adds a loop whose edges may be split as one polygon, or as several that are convex.
  absl::Status AddPiece(Loop loop, PolygonNumber source) {
    const std::size_t corners = loop.size();
    Expand(loop);
    const bool is_as_it_was = roles_[source] == Role::kBeside && loop.size() == corners;
    if (is_as_it_was || (loop.size() <= kMaxPolygonCorners && IsConvex(loop))) {
      result_.push_back({std::move(loop), source});
      return absl::OkStatus();
    }
    std::vector<Loop> triangles;
    WAYSTAR_RETURN_IF_ERROR(Triangulate(loop, triangles));
    for (Loop& triangle : triangles) {
      if (IsConvex(triangle)) {
        result_.push_back({std::move(triangle), source});
      }
    }
    return absl::OkStatus();
  }

  // Returns whether the loop has an area and no dent at all: a search along a side with many small dents may
  // leave the polygon and enter it again without end.
  bool IsConvex(const Loop& loop) const {
    std::array<FixedPoint, kMaxPolygonCorners> points;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      points[k] = ToFixed(vertices_[loop[k].vertex]);
    }
    return FindLoopFault(absl::MakeConstSpan(points.data(), loop.size()), 0.0) == LoopFault::kNone;
  }

  absl::StatusOr<CutMesh> Finish() {
    absl::flat_hash_map<std::uint64_t, PolygonNumber> owners;
    for (PolygonNumber i = 0; i < result_.size(); ++i) {
      if (roles_[result_[i].source] == Role::kNear) {
        result_[i].loop = LoopOf(result_[i].source);
      }
      const Loop& loop = result_[i].loop;
      for (std::size_t k = 0; k < loop.size(); ++k) {
        if (!loop[k].is_wall()) {
          owners.emplace(KeyOf(loop[k].vertex, loop[(k + 1) % loop.size()].vertex), i);
        }
      }
    }
    MeshSpec spec;
    std::vector<PolygonNumber> sources;
    sources.reserve(result_.size());
    spec.polygons.reserve(result_.size());
    spec.corners.reserve(mesh_.corner_count());
    spec.neighbours.reserve(mesh_.corner_count());
    for (PolygonNumber i = 0; i < result_.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
      const PolygonNumber source = result_[i].source;
      sources.push_back(source);
      if (roles_[source] == Role::kFar) {
        CopyPolygon(source, spec);
        continue;
      }
      const Loop& loop = result_[i].loop;
      spec.polygons.push_back({static_cast<std::uint32_t>(loop.size()), mesh_.AreaOf(source)});
      for (std::size_t k = 0; k < loop.size(); ++k) {
        spec.corners.push_back(loop[k].vertex);
        spec.neighbours.push_back(NeighbourAt(loop[k], loop[(k + 1) % loop.size()].vertex, owners));
      }
    }
    if (spec.polygons.empty()) {
      return CutMesh{NavMesh::Empty(), {}};
    }
    if (spec.corners.size() > kMaxMeshCorners) {
      return TooManyPieces();
    }
    spec.vertices = std::move(vertices_);
    absl::StatusOr<NavMesh> cut = NavMesh::Create(std::move(spec), stop_);
    if (absl::IsInvalidArgument(cut.status())) {
      return TooManyPieces();
    }
    WAYSTAR_RETURN_IF_ERROR(cut.status());
    return CutMesh{*std::move(cut), std::move(sources)};
  }

  void CopyPolygon(PolygonNumber polygon, MeshSpec& spec) const {
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
    spec.polygons.push_back({static_cast<std::uint32_t>(corners.size()), mesh_.AreaOf(polygon)});
    spec.corners.insert(spec.corners.end(), corners.begin(), corners.end());
    for (const PolygonNumber next : mesh_.NeighboursOf(polygon)) {
      spec.neighbours.push_back(next == kNoPolygon ? kNoPolygon : first_piece_[next]);
    }
  }

  PolygonNumber NeighbourAt(const PieceCorner& corner, std::uint32_t to,
                            const absl::flat_hash_map<std::uint64_t, PolygonNumber>& owners) const {
    if (corner.is_wall()) {
      return kNoPolygon;
    }
    if (corner.across != kNoPolygon && roles_[corner.across] == Role::kFar) {
      return first_piece_[corner.across];
    }
    const auto owner = owners.find(KeyOf(to, corner.vertex));
    return owner == owners.end() ? kNoPolygon : owner->second;
  }

  const NavMesh& mesh_;
  const MeshHoles& holes_;
  const StopCheck* stop_;
  std::vector<Role> roles_;
  // Those of the mesh, and new ones.
  std::vector<WorldPoint> vertices_;
  std::vector<Touched> touched_;
  // The polygon that is being cut.
  PolygonNumber source_ = 0;
  // For an edge, by its ends, the vertex in its middle at which it was split.
  absl::flat_hash_map<std::uint64_t, std::uint32_t> splits_;
  absl::flat_hash_map<PolygonNumber, std::vector<Loop>> pieces_;
  std::size_t piece_count_ = 0;
  std::size_t steps_ = 0;
  // The polygons of the cut mesh; those that are far from holes have no loop.
  std::vector<Piece> result_;
  // For each polygon of the mesh the number of its first piece.
  std::vector<PolygonNumber> first_piece_;
};

}  // namespace

absl::StatusOr<CutMesh> CutHoles(const NavMesh& mesh, const MeshHoles& holes, const StopCheck* stop) {
  return Cutter(mesh, holes, stop).Cut();
}

}  // namespace waystar::core
