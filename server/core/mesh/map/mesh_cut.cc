#include "server/core/mesh/map/mesh_cut.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/base/error.h"
#include "server/core/mesh/map/mesh_check.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/map/polygon_tree.h"
#include "server/geometry/world_point.h"

namespace waystar::core {
namespace {

// Corners at most this far from a line count as on it: a multiple of the rounding error.
constexpr double kOnLine = 4.0 / kFixedScale;

// Maximum number of passes over the pieces; a pass may join vertices that require another one.
constexpr int kMostPasses = 16;
// Maximum depth of nested splits of a side; rarely more than one.
constexpr int kMostSeams = 16;

// A corner of a piece, and the edge that starts there.
struct PieceCorner {
  std::uint32_t vertex = 0;
  // Polygon of the uncut mesh across the edge; kNoPolygon for a wall and for an edge that was cut.
  PolygonNumber across = kNoPolygon;
  bool is_cut = false;

  bool is_wall() const { return across == kNoPolygon && !is_cut; }
};

using Loop = std::vector<PieceCorner>;

std::uint64_t KeyOf(std::uint32_t from, std::uint32_t to) { return std::uint64_t{from} << 32 | to; }
// Returns the key of an edge, the same in both directions.
std::uint64_t EdgeKey(std::uint32_t a, std::uint32_t b) { return KeyOf(std::min(a, b), std::max(a, b)); }

// Maps edges, by their EdgeKey, to a vertex on each.
using EdgeVertices = absl::flat_hash_map<std::uint64_t, std::uint32_t>;

// Appends a corner and, behind it, the vertices on its edge, up to `most` nested splits.
void AppendEdge(const PieceCorner& corner, std::uint32_t to, const EdgeVertices& vertices, int most,
                Loop& loop) {
  const auto on_edge = vertices.find(EdgeKey(corner.vertex, to));
  if (on_edge == vertices.end() || most == 0) {
    loop.push_back(corner);
    return;
  }
  AppendEdge(corner, on_edge->second, vertices, most - 1, loop);
  AppendEdge({on_edge->second, corner.across, corner.is_cut}, to, vertices, most - 1, loop);
}

// Cuts one mesh. Not thread-safe.
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
    if (pieces_.empty()) {
      return Uncut();
    }
    MarkAround(Role::kCut, Role::kBeside);
    MarkAround(Role::kBeside, Role::kNear);
    WAYSTAR_RETURN_IF_ERROR(Assemble());
    for (int pass = 1; has_joined_ && pass < kMostPasses; ++pass) {
      // A joined vertex may be on an edge of the next polygon.
      std::replace(roles_.begin(), roles_.end(), Role::kNear, Role::kBeside);
      MarkAround(Role::kBeside, Role::kNear);
      WAYSTAR_RETURN_IF_ERROR(Assemble());
    }
    return Finish();
  }

 private:
  // Distance class of a polygon from the holes.
  enum class Role : std::uint8_t {
    kFar,
    // The numbers of its neighbours may change.
    kNear,
    // Its edges may be split.
    kBeside,
    kCut,
  };

  struct Touched {
    PolygonNumber polygon = 0;
    // Indices of outlines, in ascending order.
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
    std::vector<PolygonNumber> polygons;
    for (std::uint32_t i = 0; i < holes_.outlines.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
      polygons.clear();
      mesh_.FindAllTouching(holes_.outlines[i], kOnLine, polygons);
      for (const PolygonNumber polygon : polygons) {
        if (!IsAtHeight(polygon)) {
          continue;
        }
        const auto [entry, is_new] = index.try_emplace(polygon, touched_.size());
        if (is_new) {
          touched_.push_back({polygon, {}});
        }
        touched_[entry->second].outlines.push_back(i);
      }
    }
    std::sort(touched_.begin(), touched_.end(),
              [](const Touched& a, const Touched& b) { return a.polygon < b.polygon; });
    return absl::OkStatus();
  }

  bool IsAtHeight(PolygonNumber polygon) const {
    const MeshBounds bounds = mesh_.BoundsOf(polygon);
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

  // Returns -1, 0 or 1 if the vertex is right of the line from a to b, on it, or left of it.
  int SideOfLine(const WorldPoint& a, const WorldPoint& b, double length, std::uint32_t vertex) const {
    const double side = Side(a, b, vertices_[vertex]);
    return std::abs(side) <= kOnLine * length ? 0 : (side > 0.0 ? 1 : -1);
  }

  // Returns true if a side of the outline or of the piece separates the piece from the outline.
  bool LiesOutside(const Loop& piece, const ConvexOutline& outline) const {
    for (std::size_t k = 0; k < outline.size(); ++k) {
      const WorldPoint& a = outline[k];
      const WorldPoint& b = outline[(k + 1) % outline.size()];
      const double length = DistanceInPlan(a, b);
      if (std::all_of(piece.begin(), piece.end(), [&](const PieceCorner& corner) {
            return SideOfLine(a, b, length, corner.vertex) <= 0;
          })) {
        return true;
      }
    }
    for (std::size_t k = 0; k < piece.size(); ++k) {
      const WorldPoint& a = vertices_[piece[k].vertex];
      const WorldPoint& b = vertices_[piece[(k + 1) % piece.size()].vertex];
      const double length = DistanceInPlan(a, b);
      // A side that rounding has rotated may have corners of the piece on both sides.
      if (length > 0.0 &&
          std::all_of(outline.begin(), outline.end(),
                      [&](const WorldPoint& corner) { return Side(a, b, corner) <= kOnLine * length; }) &&
          std::all_of(piece.begin(), piece.end(), [&](const PieceCorner& corner) {
            return SideOfLine(a, b, length, corner.vertex) >= 0;
          })) {
        return true;
      }
    }
    return false;
  }

  // Adds the pieces of the loop that lie outside the outline to `outside`.
  absl::Status CutOutline(Loop loop, const ConvexOutline& outline, std::vector<Loop>& outside) {
    std::vector<Loop> inside;
    inside.push_back(std::move(loop));
    for (std::size_t k = 0; k < outline.size() && !inside.empty(); ++k) {
      const WorldPoint& a = outline[k];
      const WorldPoint& b = outline[(k + 1) % outline.size()];
      std::vector<Loop> left;
      // Limits the work: each piece is triangulated once, rarely again a triangle whose sides were split.
      std::size_t triangulations = 2 * inside.size() + 16;
      while (!inside.empty()) {
        Loop piece = std::move(inside.back());
        inside.pop_back();
        Expand(piece);
        if (triangulations > 0 && CountCrossings(piece, a, b) > 2) {
          --triangulations;
          WAYSTAR_RETURN_IF_ERROR(Triangulate(piece, inside));
        } else {
          CutLine(std::move(piece), a, b, left, outside);
        }
      }
      inside = std::move(left);
    }
    return absl::OkStatus();
  }

  // Inserts the vertices at which edges of the loop were split since it was made.
  void Expand(Loop& loop) const {
    Loop expanded;
    expanded.reserve(loop.size());
    for (std::size_t k = 0; k < loop.size(); ++k) {
      AppendEdge(loop[k], loop[(k + 1) % loop.size()].vertex, splits_, std::numeric_limits<int>::max(),
                 expanded);
    }
    loop = std::move(expanded);
  }

  std::vector<int> SidesOfLine(const Loop& loop, const WorldPoint& a, const WorldPoint& b) const {
    const double length = DistanceInPlan(a, b);
    std::vector<int> sides;
    sides.reserve(loop.size());
    for (const PieceCorner& corner : loop) {
      sides.push_back(SideOfLine(a, b, length, corner.vertex));
    }
    return sides;
  }

  // Returns the number of times that the loop crosses the line; more than two are possible if polygons are
  // dented.
  int CountCrossings(const Loop& loop, const WorldPoint& a, const WorldPoint& b) const {
    int crossings = 0;
    int first = 0;
    int last = 0;
    for (const int side : SidesOfLine(loop, a, b)) {
      if (side != 0) {
        crossings += last != 0 && side != last ? 1 : 0;
        first = first == 0 ? side : first;
        last = side;
      }
    }
    return crossings + (first != last ? 1 : 0);
  }

  // Cuts a loop along the line from a to b, and appends the parts on the left and right.
  void CutLine(Loop loop, const WorldPoint& a, const WorldPoint& b, std::vector<Loop>& left,
               std::vector<Loop>& right) {
    std::vector<int> sides = SidesOfLine(loop, a, b);
    const auto is_left = [](int side) { return side > 0; };
    if (std::none_of(sides.begin(), sides.end(), is_left)) {
      right.push_back(std::move(loop));
      return;
    }
    if (std::none_of(sides.begin(), sides.end(), [](int side) { return side < 0; })) {
      left.push_back(std::move(loop));
      return;
    }
    // Starts at the last corner on the right.
    std::size_t begin = 0;
    while (sides[begin] >= 0 || NextSide(sides, begin) < 0) {
      ++begin;
    }
    std::rotate(loop.begin(), loop.begin() + static_cast<std::ptrdiff_t>(begin), loop.end());
    std::rotate(sides.begin(), sides.begin() + static_cast<std::ptrdiff_t>(begin), sides.end());
    Part(std::move(loop), sides, a, b, left, right);
  }

  // Returns the side of the next corner after `place` that is not on the line.
  static int NextSide(const std::vector<int>& sides, std::size_t place) {
    std::size_t next = place;
    do {
      next = (next + 1) % sides.size();
    } while (sides[next] == 0);
    return sides[next];
  }

  // Cuts a loop whose first corner is the last one on the right before it crosses the line.
  void Part(Loop loop, std::vector<int>& sides, const WorldPoint& a, const WorldPoint& b,
            std::vector<Loop>& left, std::vector<Loop>& right) {
    // Corners on the line where the loop crosses to the left, and where it crosses back. An edge along the
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

  // Inserts a corner after `place`, where the line crosses the edge, and returns its position.
  std::size_t Insert(Loop& loop, std::vector<int>& sides, std::size_t place, const WorldPoint& a,
                     const WorldPoint& b) {
    const PieceCorner corner = loop[place];
    const auto [from, to] = std::minmax({corner.vertex, loop[(place + 1) % loop.size()].vertex});
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
    splits_.emplace(EdgeKey(from, to), vertex);
    loop.insert(loop.begin() + static_cast<std::ptrdiff_t>(place + 1),
                {vertex, corner.across, corner.is_cut});
    sides.insert(sides.begin() + static_cast<std::ptrdiff_t>(place + 1), 0);
    return place + 1;
  }

  // Appends triangles that cover the loop, and those without area between them.
  absl::Status Triangulate(const Loop& loop, std::vector<Loop>& triangles) const {
    std::vector<FixedPoint> points;
    points.reserve(loop.size());
    for (const PieceCorner& corner : loop) {
      points.push_back(FixedAt(corner.vertex));
    }
    std::vector<LoopTriangle> flat;
    WAYSTAR_ASSIGN_OR_RETURN(std::vector<LoopTriangle> found, TriangulateLoop(points, stop_, &flat));
    found.insert(found.end(), flat.begin(), flat.end());
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

  // Gives the role `around` to those neighbours of polygons with `role` that are kFar.
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
    has_joined_ = false;
    result_.clear();
    first_piece_.assign(mesh_.polygon_count(), kNoPolygon);
    for (PolygonNumber polygon = 0; polygon < mesh_.polygon_count(); ++polygon) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, polygon));
      first_piece_[polygon] = static_cast<PolygonNumber>(result_.size());
      if (roles_[polygon] == Role::kFar || roles_[polygon] == Role::kNear) {
        result_.push_back({{}, polygon});
      } else if (roles_[polygon] == Role::kBeside) {
        WAYSTAR_RETURN_IF_ERROR(AddPiece(LoopOf(polygon), polygon));
      } else {
        for (const Loop& piece : pieces_[polygon]) {
          WAYSTAR_RETURN_IF_ERROR(AddPiece(piece, polygon));
        }
      }
      if (result_.size() > kMaxMeshPolygons || vertices_.size() > kMaxMeshVertices) {
        return TooManyPieces();
      }
    }
    return absl::OkStatus();
  }

  // Adds the pieces of a loop, split at vertices on its edges: one polygon, or several convex ones.
  absl::Status AddPiece(Loop loop, PolygonNumber source) {
    const std::size_t corners = loop.size();
    Expand(loop);
    Join(loop);
    if (roles_[source] == Role::kBeside && loop.size() == corners) {
      result_.push_back({std::move(loop), source});
      return absl::OkStatus();
    }
    std::size_t steps = 4 * loop.size() + 16;
    std::vector<Loop> open;
    if (loop.size() >= 3) {
      open.push_back(std::move(loop));
    }
    while (!open.empty()) {
      const Loop piece = std::move(open.back());
      open.pop_back();
      if (piece.size() == 3) {
        AddTriangle(piece, source, steps, open);
      } else if (piece.size() <= kMaxPolygonCorners && IsConvex(piece)) {
        result_.push_back({piece, source});
      } else if (!SplitPinch(piece, open)) {
        WAYSTAR_RETURN_IF_ERROR(Triangulate(piece, open));
      }
    }
    return absl::OkStatus();
  }

  // Adds a triangle, or appends its parts to `open` if a vertex lies on one of its sides and `steps` are
  // left.
  void AddTriangle(const Loop& triangle, PolygonNumber source, std::size_t& steps, std::vector<Loop>& open) {
    const std::uint32_t a = triangle[0].vertex;
    const std::uint32_t b = triangle[1].vertex;
    const std::uint32_t c = triangle[2].vertex;
    if (a == b || b == c || c == a) {
      return;
    }
    if (steps > 0 && SplitAtSeam(triangle, open)) {
      --steps;
    } else if (IsConvex(triangle) && (steps > 0 || !IsSliver(triangle))) {
      result_.push_back({triangle, source});
    } else {
      JoinSides(triangle);
    }
  }

  // Returns true if all corners are on the line through the longest side. Slivers may have vertices on their
  // sides that split each into the other repeatedly.
  bool IsSliver(const Loop& triangle) const {
    const WorldPoint& a = vertices_[triangle[0].vertex];
    const WorldPoint& b = vertices_[triangle[1].vertex];
    const WorldPoint& c = vertices_[triangle[2].vertex];
    return Side(a, b, c) <=
           kOnLine * std::max({DistanceInPlan(a, b), DistanceInPlan(b, c), DistanceInPlan(c, a)});
  }

  // Splits a triangle with a vertex on one of its sides, from there to the opposite corner, and appends both
  // parts. Chooses the longest such side.
  bool SplitAtSeam(const Loop& triangle, std::vector<Loop>& parts) const {
    std::size_t longest = 0;
    Int128 most = 0;
    std::uint32_t vertex = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t from = triangle[k].vertex;
      const std::uint32_t to = triangle[(k + 1) % 3].vertex;
      const auto seam = seams_.find(EdgeKey(from, to));
      if (seam != seams_.end() && SquaredLength(FixedAt(from), FixedAt(to)) > most) {
        longest = k;
        most = SquaredLength(FixedAt(from), FixedAt(to));
        vertex = seam->second;
      }
    }
    if (most == 0) {
      return false;
    }
    const PieceCorner& begin = triangle[longest];
    const PieceCorner& end = triangle[(longest + 1) % 3];
    const PieceCorner& across = triangle[(longest + 2) % 3];
    parts.push_back({begin, {vertex, kNoPolygon, true}, across});
    parts.push_back({{vertex, begin.across, begin.is_cut}, end, {across.vertex, kNoPolygon, true}});
    return true;
  }

  // Splits a loop at a vertex that it passes twice, and appends both parts. Parts of two corners are dropped.
  static bool SplitPinch(const Loop& loop, std::vector<Loop>& parts) {
    for (std::size_t begin = 0; begin < loop.size(); ++begin) {
      for (std::size_t end = begin + 1; end < loop.size(); ++end) {
        if (loop[begin].vertex == loop[end].vertex) {
          const auto at = [&](std::size_t place) {
            return loop.begin() + static_cast<std::ptrdiff_t>(place);
          };
          Loop rest(at(0), at(begin));
          rest.insert(rest.end(), at(end), loop.end());
          for (Loop part : {std::move(rest), Loop(at(begin), at(end))}) {
            if (part.size() >= 3) {
              parts.push_back(std::move(part));
            }
          }
          return true;
        }
      }
    }
    return false;
  }

  FixedPoint FixedAt(std::uint32_t vertex) const { return ToFixed(vertices_[vertex]); }

  // Returns the vertex that replaces this one.
  std::uint32_t TwinOf(std::uint32_t vertex) const {
    for (auto twin = twins_.find(vertex); twin != twins_.end(); twin = twins_.find(vertex)) {
      vertex = twin->second;
    }
    return vertex;
  }

  // Omits a triangle without area, and joins what lies across its sides: splits its longest side at the
  // opposite corner, or unites two corners at one position.
  void JoinSides(const Loop& triangle) {
    std::size_t longest = 0;
    Int128 most = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t from = triangle[k].vertex;
      const std::uint32_t to = triangle[(k + 1) % 3].vertex;
      const Int128 length = SquaredLength(FixedAt(from), FixedAt(to));
      if (length == 0) {
        Unite(from, to);
        return;
      }
      if (length > most) {
        longest = k;
        most = length;
      }
    }
    const std::uint64_t key = EdgeKey(triangle[longest].vertex, triangle[(longest + 1) % 3].vertex);
    has_joined_ |= seams_.emplace(key, triangle[(longest + 2) % 3].vertex).second;
  }

  static Int128 SquaredLength(const FixedPoint& a, const FixedPoint& b) {
    return Int128{b.x - a.x} * (b.x - a.x) + Int128{b.y - a.y} * (b.y - a.y);
  }

  // Replaces one vertex by the other. Vertices of the mesh are kept, because polygons that are not cut use
  // them.
  void Unite(std::uint32_t a, std::uint32_t b) {
    const auto [low, high] = std::minmax({a, b});
    if (high >= mesh_.vertex_count()) {
      twins_.emplace(high, low);
      // The ends of seams may have changed; seams are found again.
      seams_.clear();
      has_joined_ = true;
    }
  }

  // Replaces the vertices of the loop by their twins, and inserts vertices that lie on its sides.
  void Join(Loop& loop) const {
    Loop joined;
    joined.reserve(loop.size());
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const PieceCorner& corner = loop[k];
      const std::uint32_t from = TwinOf(corner.vertex);
      const std::uint32_t to = TwinOf(loop[(k + 1) % loop.size()].vertex);
      if (from != to) {
        AppendEdge({from, corner.across, corner.is_cut}, to, seams_, kMostSeams, joined);
      }
    }
    loop = std::move(joined);
  }

  // Returns true if the loop has an area and no dent at all. Along a side with many small dents, a search
  // could leave and reenter the polygon endlessly.
  bool IsConvex(const Loop& loop) const {
    std::array<FixedPoint, kMaxPolygonCorners> points;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      points[k] = FixedAt(loop[k].vertex);
    }
    return FindLoopFault(absl::MakeConstSpan(points.data(), loop.size()), 0.0) == LoopFault::kNone;
  }

  CutMesh Uncut() const {
    std::vector<PolygonNumber> sources(mesh_.polygon_count());
    std::iota(sources.begin(), sources.end(), PolygonNumber{0});
    return {mesh_, std::move(sources)};
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
    DropUnusedVertices(spec);
    absl::StatusOr<NavMesh> cut = NavMesh::Create(std::move(spec), stop_, NavMesh::Cells::kNone);
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
  // Vertices of the mesh, followed by new ones.
  std::vector<WorldPoint> vertices_;
  std::vector<Touched> touched_;
  // Polygon that is being cut.
  PolygonNumber source_ = 0;
  // Vertices at which edges were split.
  EdgeVertices splits_;
  // Vertices at which sides of omitted triangles are split. Edges are looked up in `splits_` first.
  EdgeVertices seams_;
  // Maps vertices to those that replace them at the same position.
  absl::flat_hash_map<std::uint32_t, std::uint32_t> twins_;
  // True if seams_ or twins_ has grown since the pieces were assembled.
  bool has_joined_ = false;
  absl::flat_hash_map<PolygonNumber, std::vector<Loop>> pieces_;
  std::size_t piece_count_ = 0;
  std::size_t steps_ = 0;
  // Polygons of the cut mesh; those far from holes have no loop.
  std::vector<Piece> result_;
  // For each polygon of the mesh, the number of its first piece.
  std::vector<PolygonNumber> first_piece_;
};

}  // namespace

absl::StatusOr<CutMesh> CutHoles(const NavMesh& mesh, const MeshHoles& holes, const StopCheck* stop) {
  return Cutter(mesh, holes, stop).Cut();
}

}  // namespace waystar::core
