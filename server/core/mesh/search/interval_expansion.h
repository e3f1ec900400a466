// Shared base of interval searches on navigation meshes: the expansion of an interval.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Line of sight from a point through another.
struct Sight {
  const WorldPoint& from;
  const WorldPoint& to;
};

// Corners c[1] to c[n] of a polygon or cell, counterclockwise from the right end of the edge through which it
// is entered to the left end. Edge j leads from c[j] to c[j + 1]. Corners are copied once for all uses in an
// expansion, and so are their sides relative to two lines of sight.
class FaceRing {
 public:
  // For each corner, its side of a line: see Side. One more entry at either end.
  using Sides = std::array<double, kMaxPolygonCorners + 2>;

  // Reads a polygon of the mesh, or a cell of the layer. Costs O(corners).
  //
  // REQUIRES: the polygon has `edge_left` as a corner, or a corner at its position.
  template <typename Mesh>
  void Load(const Mesh& mesh, PolygonNumber polygon, std::uint32_t edge_left) {
    const absl::Span<const std::uint32_t> corners = mesh.VerticesOf(polygon);
    const absl::Span<const PolygonNumber> neighbours = mesh.NeighboursOf(polygon);
    size_ = static_cast<std::uint32_t>(corners.size());
    std::uint32_t entry = size_;
    for (std::uint32_t k = 0; k < size_; ++k) {
      const std::uint32_t vertex = corners[k];
      const WorldPoint& point = mesh.VertexAt(vertex);
      entry = vertex == edge_left ? k : entry;
      vertices_[k] = vertex;
      neighbours_[k] = neighbours[k];
      x_[k] = point.x;
      y_[k] = point.y;
      vertices_[k + size_] = vertex;
      neighbours_[k + size_] = neighbours[k];
      x_[k + size_] = point.x;
      y_[k + size_] = point.y;
    }
    if (Mesh::kMayBeCut && entry == size_) {
      entry = static_cast<std::uint32_t>(mesh.CornerAt(polygon, edge_left));
    }
    assert(entry < size_);
    first_ = entry;
  }

  std::uint32_t size() const { return size_; }
  // REQUIRES, for these three: 1 <= j <= size().
  std::uint32_t VertexAt(std::uint32_t j) const {
    assert(HasCorner(j));
    return vertices_[first_ + j];
  }
  double XAt(std::uint32_t j) const {
    assert(HasCorner(j));
    return x_[first_ + j];
  }
  double YAt(std::uint32_t j) const {
    assert(HasCorner(j));
    return y_[first_ + j];
  }
  // Returns the polygon across edge j, or kNoPolygon for a wall.
  //
  // REQUIRES: 1 <= j < size().
  PolygonNumber NeighbourAt(std::uint32_t j) const {
    assert(HasCorner(j) && j < size_);
    return neighbours_[first_ + j];
  }

  // Computes the exact sides, as Side does, of corners `first` to `last` relative to the line. Corners within
  // `dent` of the line count as on it.
  void NoteSides(const Sight& sight, std::uint32_t first, std::uint32_t last, double dent,
                 Sides& sides) const {
    const double from_x = sight.from.x;
    const double from_y = sight.from.y;
    const double dx = sight.to.x - from_x;
    const double dy = sight.to.y - from_y;
    bool is_near = dent > 0.0;
    const double* const x = x_.data() + first_;
    const double* const y = y_.data() + first_;
    for (std::uint32_t j = first; j <= last; ++j) {
      const double left = dx * (y[j] - from_y);
      const double right = dy * (x[j] - from_x);
      sides[j] = left - right;
      is_near |= !IsSideCertain(left, right);
    }
    if (is_near) {
      NoteNearSides(sight, first, last, dent, sides);
    }
  }

 private:
  bool HasCorner(std::uint32_t j) const { return 1 <= j && j <= size_; }

  [[gnu::noinline, gnu::cold]] void NoteNearSides(const Sight& sight, std::uint32_t first, std::uint32_t last,
                                                  double dent, Sides& sides) const {
    const double dx = sight.to.x - sight.from.x;
    const double dy = sight.to.y - sight.from.y;
    const double within = dent * std::sqrt(dx * dx + dy * dy);
    for (std::uint32_t j = first; j <= last; ++j) {
      const double side = Side(sight.from, sight.to, {x_[first_ + j], y_[first_ + j], 0.0});
      sides[j] = std::abs(side) <= within ? 0.0 : side;
    }
  }

  std::uint32_t size_ = 0;
  // The corners of the polygon follow each other twice, in its order; c[0] is at this place. Entries not
  // written by Load are never read.
  std::uint32_t first_ = 0;
  std::array<std::uint32_t, 2 * kMaxPolygonCorners> vertices_;
  std::array<PolygonNumber, 2 * kMaxPolygonCorners> neighbours_;
  std::array<double, 2 * kMaxPolygonCorners> x_;
  std::array<double, 2 * kMaxPolygonCorners> y_;
};

inline bool IsSamePlace(const WorldPoint& a, const WorldPoint& b) { return a.x == b.x && a.y == b.y; }

// Returns true if the path from a over b to c is a straight line.
inline bool IsOnTheWay(const WorldPoint& a, const WorldPoint& b, const WorldPoint& c) {
  return Side(a, b, c) == 0.0 && (b.x - a.x) * (c.x - b.x) + (b.y - a.y) * (c.y - b.y) > 0.0;
}

// Search from one or several seeds over the intervals of a mesh, as described at SearchMesh. `Search` derives
// from this class and provides:
// - IsSeed(root) and SeedAt(root): whether a root is a seed, which is not a vertex, and its position;
// - AddSuccessor(root, parent, polygon, edge_right, edge_left, right, left): adds an interval, given the
//   polygon behind the edge between two vertices, and the interval's ends as seen from the root.
// `Mesh` is what is searched: NavMesh for polygons, or CellLayer for cells.
template <typename Search, typename Mesh = NavMesh>
class IntervalExpansion {
 protected:
  // A point where the path turns.
  struct Root {
    std::uint32_t vertex;
    std::uint32_t before;
    double g;
  };
  // An end of an interval.
  struct End {
    double x;
    double y;
    std::uint32_t sight;
    bool is_vertex;
  };
  // A point seen from the root of an interval.
  struct Sighted {
    double x;
    double y;
    double distance;
  };
  // End of a path that leads through an interval to a point directly behind it.
  struct Arrival {
    // Root that sees the point: that of the interval, or one of its ends if the path turns there.
    Root root;
    bool is_turned;
    double length;
  };

  IntervalExpansion(const Mesh& mesh, MeshScratch& scratch)
      : mesh_(mesh), scratch_(scratch), dent_(DentOf(mesh.bounds())) {}

  const WorldPoint& PointOf(std::uint32_t root) const {
    return search().IsSeed(root) ? search().SeedAt(root) : mesh_.VertexAt(root);
  }

  // Marks the room of the polygon and its outer rooms. A path to any other room leads through the outer rooms
  // of both, and through opened rooms.
  void MarkOuterRooms(PolygonNumber polygon) {
    std::uint32_t room = mesh_.RoomOf(polygon);
    while (!scratch_.IsRoomMarked(room)) {
      scratch_.MarkRoom(room);
      room = mesh_.OuterRoomOf(room);
    }
  }

  // Marks rooms that a path may enter and leave through the same door. MarkOuterRooms must not be called
  // after it, because it stops at marked rooms.
  void MarkOpenedRooms() {
    for (const std::uint32_t room : mesh_.opened_rooms()) {
      scratch_.MarkRoom(room);
    }
  }

  // Adds the intervals of the edges around the polygons that contain a seed at distance `g`. Returns false if
  // the memory limit is reached.
  bool ExpandSeed(std::uint32_t seed, const std::vector<PolygonNumber>& polygons, double g = 0.0) {
    PolygonSet seeds;
    for (const PolygonNumber polygon : polygons) {
      seeds.Add(polygon);
    }
    for (const PolygonNumber polygon : polygons) {
      const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
      if (!scratch_.Reserve(corners.size())) {
        return false;
      }
      const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon);
      for (std::size_t k = 0; k < corners.size(); ++k) {
        const std::uint32_t right = corners[k];
        const std::uint32_t left = corners[k + 1 < corners.size() ? k + 1 : 0];
        const PolygonNumber next = mesh_.Behind(neighbours[k], mesh_.VertexAt(left));
        if (next != kNoPolygon && !seeds.Has(next)) {
          search().AddSuccessor({seed, seed, g}, MeshInterval::kNoParent, next, right, left, VertexEnd(right),
                                VertexEnd(left));
        }
      }
    }
    return true;
  }

  // Reserves memory for the expansion of an interval before this polygon, which invalidates references to
  // intervals. Returns false if the memory limit is reached.
  bool ReserveFor(PolygonNumber polygon) { return scratch_.Reserve(mesh_.VerticesOf(polygon).size() + 4); }

  // Adds the intervals of the other edges of the polygon behind the interval.
  // REQUIRES: ReserveFor has returned true.
  void Expand(IntervalNumber number) {
    const MeshInterval& interval = scratch_.At(number);
    const Root root{interval.root, interval.before, interval.g};
    // A corner that a dent may have moved off a line of sight counts as on it.
    const double dent = mesh_.IsDented(interval.polygon) ? dent_ : 0.0;
    ring_.Load(mesh_, interval.polygon, interval.edge_left);
    const std::uint32_t n = ring_.size();

    // The right line of sight leaves the polygon on the edge before this corner, the first one to the left of
    // it.
    std::uint32_t right_exit = 2;
    right_[1] = 0.0;
    if (interval.is_right_root) {
      right_[2] = 1.0;
    } else {
      const std::uint32_t first = interval.is_right_vertex ? 2 : 1;
      ring_.NoteSides(SightOf(root, interval.right_sight), first, n, dent, right_);
      right_[n + 1] = 1.0;
      while (!(right_[right_exit] > 0.0)) {
        ++right_exit;
      }
    }
    // The left line of sight leaves the polygon on the edge after this corner, the last one to the right of
    // it.
    std::uint32_t left_exit = n - 1;
    left_[n] = 0.0;
    if (interval.is_left_root) {
      left_[n - 1] = -1.0;
    } else {
      const std::uint32_t last = interval.is_left_vertex ? n - 1 : n;
      ring_.NoteSides(SightOf(root, interval.left_sight), 1, last, dent, left_);
      left_[0] = -1.0;
      while (!(left_[left_exit] < 0.0)) {
        --left_exit;
      }
    }
    const bool is_along_right = right_[2] == 0.0;
    const bool is_along_left = left_[n - 1] == 0.0;
    const double right_before = right_[right_exit - 1];
    const double left_after = left_[left_exit + 1];
    const auto right_end = [&] { return CrossingEnd(right_exit - 1, right_before, right_[right_exit]); };
    const auto left_end = [&] { return CrossingEnd(left_exit, left_[left_exit], left_after); };
    const auto is_wall = [&](std::uint32_t j) { return ring_.NeighbourAt(j) == kNoPolygon; };
    const auto add = [&](const Root& from, std::uint32_t j, const End& right, const End& left) {
      const PolygonNumber next =
          mesh_.Behind(ring_.NeighbourAt(j), {ring_.XAt(j + 1), ring_.YAt(j + 1), 0.0});
      if (from.vertex != root.vertex || !ComesBack(number, next)) {
        search().AddSuccessor(from, number, next, ring_.VertexAt(j), ring_.VertexAt(j + 1), right, left);
      }
    };

    for (std::uint32_t j = right_exit - 1; j <= left_exit; ++j) {
      if (is_wall(j)) {
        continue;
      }
      End right = RingEnd(j);
      if (j == right_exit - 1 && right_before < 0.0) {
        right = right_end();
        right.sight = interval.right_sight;
      }
      End left = RingEnd(j + 1);
      if (j == left_exit && left_after > 0.0) {
        left = left_end();
        left.sight = interval.left_sight;
      }
      add(root, j, right, left);
    }

    const bool has_right = right_exit > 2 || right_before < 0.0;
    if (has_right && interval.is_right_vertex && !interval.is_right_root) {
      // If edges beside the line of sight lie on it, a wall may end at any of the corners between.
      std::optional<Root> turn = Turn(root, ring_.VertexAt(1), -1.0);
      for (std::uint32_t j = 1; j + 1 < right_exit; ++j) {
        if (is_along_right && right_exit <= n && j > 1) {
          turn = is_wall(j) ? std::nullopt : Turn(root, ring_.VertexAt(j), -1.0);
        }
        if (turn && !is_wall(j)) {
          add(*turn, j, RingEnd(j), RingEnd(j + 1));
        }
      }
      if (turn && right_exit <= n && right_before < 0.0 && !is_wall(right_exit - 1)) {
        add(*turn, right_exit - 1, RingEnd(right_exit - 1), right_end());
      }
    }
    const bool has_left = left_exit + 1 < n || left_after > 0.0;
    if (has_left && interval.is_left_vertex && !interval.is_left_root) {
      std::optional<Root> turn = Turn(root, ring_.VertexAt(n), 1.0);
      for (std::uint32_t j = n - 1; j > left_exit; --j) {
        if (is_along_left && left_exit >= 1 && j < n - 1) {
          turn = is_wall(j) ? std::nullopt : Turn(root, ring_.VertexAt(j + 1), 1.0);
        }
        if (turn && !is_wall(j)) {
          add(*turn, j, RingEnd(j), RingEnd(j + 1));
        }
      }
      if (turn && left_exit >= 1 && left_after > 0.0 && !is_wall(left_exit)) {
        add(*turn, left_exit, left_end(), RingEnd(left_exit + 1));
      }
    }
  }

  // Records the distances to the corners of the polygon behind the interval, over its ends if the root does
  // not see them.
  // REQUIRES: the interval is the last that was expanded.
  void NoteCorners(IntervalNumber number) {
    const MeshInterval& interval = scratch_.At(number);
    const WorldPoint& from = PointOf(interval.root);
    const double to_right = DistanceInPlan(from.x, from.y, interval.right_x, interval.right_y);
    const double to_left = DistanceInPlan(from.x, from.y, interval.left_x, interval.left_y);
    for (std::uint32_t j = 2; j < ring_.size(); ++j) {
      const double x = ring_.XAt(j);
      const double y = ring_.YAt(j);
      const double right = interval.is_right_root ? 1.0 : right_[j];
      const double left = interval.is_left_root ? -1.0 : left_[j];
      double length = DistanceInPlan(from.x, from.y, x, y);
      if (right < 0.0 || left > 0.0) {
        const bool is_right = right < 0.0;
        if (!(is_right ? interval.is_right_vertex : interval.is_left_vertex)) {
          continue;
        }
        length = is_right ? to_right + DistanceInPlan(interval.right_x, interval.right_y, x, y)
                          : to_left + DistanceInPlan(interval.left_x, interval.left_y, x, y);
      } else if (right == 0.0 && left == 0.0) {
        // The edge leads away from the root, and a corner on the line may lie on the other side.
        const double end_x = to_right > to_left ? interval.right_x : interval.left_x;
        const double end_y = to_right > to_left ? interval.right_y : interval.left_y;
        if (!((end_x - from.x) * (x - end_x) + (end_y - from.y) * (y - end_y) > 0.0)) {
          continue;
        }
      }
      scratch_.template Reach<Mesh::kMayBeCut>(ring_.VertexAt(j), interval.g + length);
    }
  }

  // Records the distances to the vertices at the ends of this part of an interval. Returns false instead if
  // no shortest path leads through the part.
  bool NoteEnds(const WorldPoint& from, const Root& root, std::uint32_t edge_right, std::uint32_t edge_left,
                const End& right, const End& left) {
    const double to_left = root.g + DistanceInPlan(from.x, from.y, left.x, left.y);
    const double to_right = root.g + DistanceInPlan(from.x, from.y, right.x, right.y);
    if (IsBeatenAlong(edge_left, right, to_right) || IsBeatenAlong(edge_right, left, to_left)) {
      return false;
    }
    if (left.is_vertex) {
      scratch_.template Reach<Mesh::kMayBeCut>(edge_left, to_left);
    }
    if (right.is_vertex) {
      scratch_.template Reach<Mesh::kMayBeCut>(edge_right, to_right);
    }
    return true;
  }

  // Sets all fields of the interval except is_final.
  static void Fill(MeshInterval& interval, const WorldPoint& from, const Root& root, IntervalNumber parent,
                   PolygonNumber polygon, std::uint32_t edge_left, const End& right, const End& left) {
    interval.left_x = left.x;
    interval.left_y = left.y;
    interval.right_x = right.x;
    interval.right_y = right.y;
    interval.g = root.g;
    interval.root = root.vertex;
    interval.before = root.before;
    interval.left_sight = left.sight;
    interval.right_sight = right.sight;
    interval.parent = parent;
    interval.polygon = polygon;
    interval.edge_left = edge_left;
    interval.is_left_vertex = left.is_vertex;
    interval.is_right_vertex = right.is_vertex;
    interval.is_left_root = left.x == from.x && left.y == from.y;
    interval.is_right_root = right.x == from.x && right.y == from.y;
  }

  // Returns the point between the ends nearest to the root.
  static Sighted NearestOf(const WorldPoint& from, const End& right, const End& left) {
    const double dx = left.x - right.x;
    const double dy = left.y - right.y;
    const double along = (from.x - right.x) * dx + (from.y - right.y) * dy;
    const double whole = dx * dx + dy * dy;
    Sighted nearest{right.x, right.y, 0.0};
    if (along >= whole) {
      nearest = {left.x, left.y, 0.0};
    } else if (along > 0.0) {
      nearest = {right.x + along / whole * dx, right.y + along / whole * dy, 0.0};
    }
    nearest.distance = DistanceInPlan(from.x, from.y, nearest.x, nearest.y);
    return nearest;
  }

  // Returns the shortest path through the interval to a point of the polygon directly behind it. Returns
  // nullopt if the path would turn in the middle of an edge: a shorter one then turns at the vertex that the
  // line of sight passes.
  std::optional<Arrival> ArrivalAt(const WorldPoint& point, const MeshInterval& interval, const Root& root,
                                   std::uint32_t edge_right) const {
    const auto arrival = [&](const Root& from, bool is_turned) {
      return Arrival{from, is_turned, from.g + DistanceInPlan(PointOf(from.vertex), point)};
    };
    const auto turned = [&](std::uint32_t vertex) {
      return arrival({vertex, root.vertex, root.g + DistanceInPlan(PointOf(root.vertex), PointOf(vertex))},
                     true);
    };
    const auto side = [&](std::uint32_t to) {
      const Sight sight = SightOf(root, to);
      return Side(sight.from, sight.to, point);
    };
    const double right_side = interval.is_right_root ? 1.0 : side(interval.right_sight);
    const double left_side = interval.is_left_root ? -1.0 : side(interval.left_sight);
    if (right_side < 0.0) {
      return interval.is_right_vertex ? std::optional(turned(edge_right)) : std::nullopt;
    }
    if (left_side > 0.0) {
      return interval.is_left_vertex ? std::optional(turned(interval.edge_left)) : std::nullopt;
    }
    if (right_side == 0.0 && left_side == 0.0) {
      // The edge lies on the line of sight, and the point may lie before it, behind a wall on that line.
      const WorldPoint& from = PointOf(root.vertex);
      const bool is_left_near =
          DistanceInPlan(from, PointOf(interval.edge_left)) < DistanceInPlan(from, PointOf(edge_right));
      const std::uint32_t near = is_left_near ? interval.edge_left : edge_right;
      if (!IsOnTheWay(from, PointOf(near), point)) {
        return turned(near);
      }
    }
    return arrival(root, false);
  }

  // Returns the length of the shortest line from the root through the interval to the goal, or to its mirror
  // image across the edge if the goal lies on this side of it.
  double LeastDistance(const WorldPoint& goal, const MeshInterval& interval, const WorldPoint& root,
                       std::uint32_t right) const {
    const WorldPoint& edge_left = mesh_.VertexAt(interval.edge_left);
    const WorldPoint& edge_right = mesh_.VertexAt(right);
    const double edge_x = edge_right.x - edge_left.x;
    const double edge_y = edge_right.y - edge_left.y;
    double x = goal.x;
    double y = goal.y;
    const double beyond = edge_x * (y - edge_left.y) - edge_y * (x - edge_left.x);
    if (beyond < 0.0) {
      const double twice = 2.0 * beyond / (edge_x * edge_x + edge_y * edge_y);
      x += twice * edge_y;
      y -= twice * edge_x;
    }
    const auto side = [&](double to_x, double to_y) {
      return (to_x - root.x) * (y - root.y) - (to_y - root.y) * (x - root.x);
    };
    const auto through = [&](double to_x, double to_y) {
      return DistanceInPlan(root.x, root.y, to_x, to_y) + DistanceInPlan(to_x, to_y, x, y);
    };
    if (side(interval.right_x, interval.right_y) < 0.0) {
      return through(interval.right_x, interval.right_y);
    }
    if (side(interval.left_x, interval.left_y) > 0.0) {
      return through(interval.left_x, interval.left_y);
    }
    return DistanceInPlan(root.x, root.y, x, y);
  }

  // A lower bound of the distance from a root through an interval to a goal.
  struct LineBound {
    // Point of the interval where it is least.
    double x;
    double y;
    // Distance from the root to the point, and bound of the distance from there to the goal.
    double before;
    double beyond;

    double whole() const { return before + beyond; }
  };

  // Returns the bound that follows from the bounds At the vertices of the edge. The bound of a point is that
  // of an end of the edge, less the distance to it. From the left to the right, the sum with the bound of the
  // left end decreases, and that with the bound of the right end increases. The least of the larger is where
  // they are equal.
  template <typename Bounds>
  LineBound BoundOf(const Bounds& bounds, const MeshInterval& interval, const WorldPoint& root,
                    std::uint32_t right) const {
    const WorldPoint& a = mesh_.VertexAt(interval.edge_left);
    const WorldPoint& b = mesh_.VertexAt(right);
    const double length = DistanceInPlan(a, b);
    const double of_left = bounds.At(interval.edge_left);
    const double of_right = bounds.At(right);
    const double first =
        interval.is_left_vertex ? 0.0 : DistanceInPlan(a.x, a.y, interval.left_x, interval.left_y);
    const double last =
        interval.is_right_vertex ? length : DistanceInPlan(a.x, a.y, interval.right_x, interval.right_y);
    // Distance of the point from the left end of the edge.
    const double along = std::max(first, std::min(last, (of_left - of_right + length) / 2.0));
    const double share = along / length;
    const double x = a.x + share * (b.x - a.x);
    const double y = a.y + share * (b.y - a.y);
    return {x, y, DistanceInPlan(root.x, root.y, x, y),
            std::max(of_left - along, of_right - (length - along))};
  }

  // Appends the corners of the path that ends at `goal` behind this interval, from the goal to the seed, and
  // the polygons of its corridor in the same order. Returns the seed.
  std::uint32_t TracePath(IntervalNumber last, const WorldPoint& goal, std::vector<WorldPoint>& corners,
                          std::vector<PolygonNumber>& corridor) const {
    const std::size_t begin = corners.size();
    // A vertex that the path touches without turning is not a corner.
    const auto add = [&](const WorldPoint& point) {
      if (IsSamePlace(corners.back(), point)) {
        return;
      }
      if (corners.size() > begin + 1 && IsOnTheWay(corners[corners.size() - 2], corners.back(), point)) {
        corners.pop_back();
      }
      corners.push_back(point);
    };
    corners.push_back(goal);
    std::uint32_t seed = MeshInterval::kStart;
    for (IntervalNumber number = last; number != MeshInterval::kNoParent;) {
      const MeshInterval& interval = scratch_.At(number);
      if (!search().IsSeed(interval.root)) {
        add(mesh_.VertexAt(interval.root));
      }
      if (interval.is_turned && !search().IsSeed(interval.before)) {
        add(mesh_.VertexAt(interval.before));
      }
      corridor.push_back(interval.polygon);
      number = interval.parent;
      if (number == MeshInterval::kNoParent) {
        seed = search().IsSeed(interval.root) ? interval.root : interval.before;
        if (interval.edge_left != MeshInterval::kNoEdge) {
          corridor.push_back(PolygonBefore(interval.polygon, interval.edge_left));
        }
      }
    }
    add(search().SeedAt(seed));
    return seed;
  }

  // Returns the polygon on this side of the edge through which a path enters a polygon.
  PolygonNumber PolygonBefore(PolygonNumber polygon, std::uint32_t edge_left) const {
    return mesh_.Across(polygon, mesh_.CornerAt(polygon, edge_left));
  }

  const Mesh& mesh_;
  MeshScratch& scratch_;

 private:
  // Returns true if the path to an interval already passed through the polygon in a straight line. It cannot
  // do so again, but rounding may make it seem so: at small dents, or around a root at which two polygons
  // share several edges in one line, as holes leave them.
  bool ComesBack(IntervalNumber number, PolygonNumber polygon) const {
    const MeshInterval& last = scratch_.At(number);
    const bool is_around_root = Mesh::kMayBeCut && (last.is_left_root || last.is_right_root);
    if (!is_around_root && !mesh_.IsDented(polygon)) {
      return false;
    }
    // A return would occur within this many intervals.
    constexpr int kMostBetween = 64;
    const std::uint32_t root = scratch_.At(number).root;
    for (int i = 0; i < kMostBetween; ++i) {
      if (number == MeshInterval::kNoParent || scratch_.At(number).root != root) {
        return false;
      }
      if (scratch_.At(number).polygon == polygon) {
        return true;
      }
      number = scratch_.At(number).parent;
    }
    return false;
  }

  // Maximum depth of dents: see NavMesh::Create.
  static double DentOf(const MeshBounds& bounds) {
    const double reach = std::max(
        {std::abs(bounds.low.x), std::abs(bounds.low.y), std::abs(bounds.high.x), std::abs(bounds.high.y)});
    return reach / (1 << 21) + 4.0 / kFixedScale;
  }

  Search& search() { return static_cast<Search&>(*this); }
  const Search& search() const { return static_cast<const Search&>(*this); }

  Sight SightOf(const Root& root, std::uint32_t sight) const {
    return sight == MeshInterval::kStraight ? Sight{PointOf(root.before), PointOf(root.vertex)}
                                            : Sight{PointOf(root.vertex), PointOf(sight)};
  }

  // Returns the vertex as a root, or nullopt if no shortest path turns there to this side (1 for left, -1 for
  // right), or if a path of equal length has already turned there to that side.
  //
  // The first of several paths of equal length suffices. Each sees the area between the wall at that side and
  // the line on which it arrives. An area that only one path sees lies beyond the line of the other, which
  // would reach it by a turn away from the wall. A shorter path then exists that does not touch the vertex.
  std::optional<Root> Turn(const Root& root, std::uint32_t vertex, double side) {
    const VertexWalls& walls = mesh_.WallsAt(vertex);
    if (walls.from == VertexWalls::kNone) {
      return std::nullopt;
    }
    const WorldPoint& from = PointOf(root.vertex);
    const WorldPoint& at = PointOf(vertex);
    const double length = DistanceInPlan(from, at);
    if (walls.from != VertexWalls::kSeveral &&
        !(IsBeside(from, at, length, walls.from, side) && IsBeside(from, at, length, walls.to, side))) {
      return std::nullopt;
    }
    const double g = root.g + length;
    if (!scratch_.template Reach<Mesh::kMayBeCut>(vertex, g)) {
      return std::nullopt;
    }
    // On a spiral staircase, paths of several floors turn at one vertex.
    bool turns_once = walls.from != VertexWalls::kSeveral;
    if constexpr (requires { Search::kTurnsOnceAtPieces; }) {
      turns_once = turns_once || (Search::kTurnsOnceAtPieces && vertex >= mesh_.vertex_count());
    }
    if (turns_once && !scratch_.template NoteTurn<Mesh::kMayBeCut>(vertex, side)) {
      return std::nullopt;
    }
    return Root{vertex, root.vertex, g};
  }

  // Returns true if the wall between the vertex `at` and the other one is on this side of a path that comes
  // from `from`, or may lie along it. Otherwise the path would be shorter if it did not touch the vertex.
  bool IsBeside(const WorldPoint& from, const WorldPoint& at, double length, std::uint32_t other,
                double side) const {
    const WorldPoint& end = PointOf(other);
    const double x = end.x - at.x;
    const double y = end.y - at.y;
    const double beside = side * ((at.x - from.x) * y - (at.y - from.y) * x);
    const double slack = dent_ * (length + std::abs(x) + std::abs(y));
    if (beside > slack) {
      return true;
    }
    const bool is_back = (at.x - from.x) * x + (at.y - from.y) * y < slack;
    return is_back ? beside >= -slack : side * Side(from, at, end) > 0.0;
  }

  End VertexEnd(std::uint32_t vertex) const {
    const WorldPoint& point = mesh_.VertexAt(vertex);
    return {point.x, point.y, vertex, true};
  }

  End RingEnd(std::uint32_t j) const { return {ring_.XAt(j), ring_.YAt(j), ring_.VertexAt(j), true}; }

  // Returns the point where a line of sight crosses edge j of the ring, given the sides of the edge's ends.
  End CrossingEnd(std::uint32_t j, double from_side, double to_side) const {
    const double share = from_side / (from_side - to_side);
    const double x = ring_.XAt(j);
    const double y = ring_.YAt(j);
    return {x + share * (ring_.XAt(j + 1) - x), y + share * (ring_.YAt(j + 1) - y), MeshInterval::kStraight,
            false};
  }

  // Returns true if a known path over the vertex at one end of an edge and on along the edge is shorter than
  // the path of length `g` to the end of an interval that is further from the vertex. Such a path is then
  // shorter to the whole interval, because no other path shortens faster towards the vertex.
  bool IsBeatenAlong(std::uint32_t vertex, const End& end, double g) const {
    if (!scratch_.template IsBeaten<Mesh::kMayBeCut>(g, vertex)) {
      return false;
    }
    const WorldPoint& point = mesh_.VertexAt(vertex);
    return scratch_.template IsBeaten<Mesh::kMayBeCut>(g, vertex,
                                                       DistanceInPlan(point.x, point.y, end.x, end.y));
  }

  const double dent_;
  // Ring of the polygon being expanded, and the sides of its corners relative to the lines of sight.
  FaceRing ring_;
  FaceRing::Sides right_;
  FaceRing::Sides left_;
};

}  // namespace waystar::core
