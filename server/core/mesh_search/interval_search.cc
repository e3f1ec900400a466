#include "server/core/mesh_search/interval_search.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "server/core/mesh/plan.h"
#include "server/core/mesh_search/polygons_around.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

double PlanDistance(double ax, double ay, double bx, double by) {
  const double dx = bx - ax;
  const double dy = by - ay;
  return std::sqrt(dx * dx + dy * dy);
}
double PlanDistance(const WorldPoint& a, const WorldPoint& b) { return PlanDistance(a.x, a.y, b.x, b.y); }

bool IsSamePlace(const WorldPoint& a, const WorldPoint& b) { return a.x == b.x && a.y == b.y; }

// Returns true if the way from a to c over b is a straight line.
bool IsOnTheWay(const WorldPoint& a, const WorldPoint& b, const WorldPoint& c) {
  return Side(a, b, c) == 0.0 && (b.x - a.x) * (c.x - b.x) + (b.y - a.y) * (c.y - b.y) > 0.0;
}

template <typename Recorder>
class IntervalSearch {
 public:
  IntervalSearch(const NavMesh& mesh, const MeshSearchTask& task, const Budget& budget, MeshScratch& scratch,
                 Recorder& recorder)
      : mesh_(mesh),
        start_(task.start.point),
        goal_(task.goal.point),
        budget_(budget),
        scratch_(scratch),
        recorder_(recorder),
        dent_(DentOf(mesh.bounds())) {}

  MeshSearchReport Run(const MeshSearchTask& task) {
    recorder_.Begin();
    if (mesh_.PartOf(task.start.polygon) != mesh_.PartOf(task.goal.polygon)) {
      return report_;
    }
    if (!scratch_.Start(mesh_.vertex_count(), mesh_.room_count())) {
      report_.end = SearchEnd::kScratchLimit;
      return report_;
    }
    FindPolygonsAround(mesh_, task.start, scratch_.start_polygons());
    FindPolygonsAround(mesh_, task.goal, scratch_.goal_polygons());
    for (const PolygonNumber polygon : scratch_.start_polygons()) {
      if (IsGoal(polygon)) {
        scratch_.corridor().push_back(polygon);
        Finish(MeshInterval::kNoParent);
        return report_;
      }
    }
    MarkRooms(mesh_.RoomOf(task.start.polygon), mesh_.RoomOf(task.goal.polygon));
    report_.end = Seed() ? Loop() : SearchEnd::kScratchLimit;
    return report_;
  }

 private:
  // A line of sight, from a point to another that it leads through.
  struct Sight {
    const WorldPoint& from;
    const WorldPoint& to;
  };
  // A place where the path turns.
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

  // How deep polygons may be dented: see NavMesh::Create.
  static double DentOf(const MeshBounds& bounds) {
    const double reach = std::max(
        {std::abs(bounds.low.x), std::abs(bounds.low.y), std::abs(bounds.high.x), std::abs(bounds.high.y)});
    return reach / (1 << 21) + 4.0 / kFixedScale;
  }

  const WorldPoint& PointOf(std::uint32_t vertex) const {
    return vertex == MeshInterval::kStart ? start_ : mesh_.VertexAt(vertex);
  }
  bool IsGoal(PolygonNumber polygon) const {
    const std::vector<PolygonNumber>& goals = scratch_.goal_polygons();
    return polygon == goals.front() ||
           (goals.size() > 1 && std::find(goals.begin(), goals.end(), polygon) != goals.end());
  }
  Sight SightOf(const Root& root, std::uint32_t sight) const {
    return sight == MeshInterval::kStraight ? Sight{PointOf(root.before), PointOf(root.vertex)}
                                            : Sight{PointOf(root.vertex), PointOf(sight)};
  }

  // Marks the rooms between these two, and both. What lies beyond is left as it was entered.
  void MarkRooms(std::uint32_t from, std::uint32_t to) {
    while (from != to) {
      // The outer of two rooms has the lesser number.
      std::uint32_t& inner = from > to ? from : to;
      scratch_.MarkRoom(inner);
      inner = mesh_.OuterRoomOf(inner);
    }
    scratch_.MarkRoom(from);
  }

  bool Seed() {
    for (const PolygonNumber polygon : scratch_.start_polygons()) {
      const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
      if (!scratch_.Reserve(corners.size())) {
        return false;
      }
      const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon);
      for (std::size_t k = 0; k < corners.size(); ++k) {
        const std::vector<PolygonNumber>& seeds = scratch_.start_polygons();
        if (std::find(seeds.begin(), seeds.end(), neighbours[k]) != seeds.end()) {
          continue;
        }
        const std::uint32_t right = corners[k];
        const std::uint32_t left = corners[k + 1 < corners.size() ? k + 1 : 0];
        AddSuccessor({MeshInterval::kStart, MeshInterval::kStart, 0.0}, MeshInterval::kNoParent,
                     neighbours[k], right, left, VertexEnd(right), VertexEnd(left));
      }
    }
    return true;
  }

  SearchEnd Loop() {
    while (true) {
      if (!next_) {
        if (scratch_.is_open_empty()) {
          return SearchEnd::kExhausted;
        }
        next_ = scratch_.Pop();
      } else if (!IsSingle() && !scratch_.is_open_empty() && scratch_.first().Precedes(*next_)) {
        scratch_.Push(*next_);
        next_ = scratch_.Pop();
      }
      const IntervalNumber number = next_->interval;
      next_.reset();
      const MeshInterval& interval = scratch_.At(number);
      if (interval.is_final) {
        Finish(number);
        return report_.end;
      }
      successors_ = 0;
      if (interval.root != MeshInterval::kStart && scratch_.IsBeaten(interval.g, interval.root)) {
        continue;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, report_.statistics.expanded)) {
        return *end;
      }
      ++report_.statistics.expanded;
      recorder_.Expanded(number);
      if (!scratch_.Reserve(mesh_.VerticesOf(interval.polygon).size() + 4)) {
        return SearchEnd::kScratchLimit;
      }
      Expand(number);
    }
  }

  // Returns true if the last expansion had one successor, and that need not wait for its turn: a path through
  // it is not taken for shortest before others have been looked at.
  bool IsSingle() const {
    if (successors_ != 1) {
      return false;
    }
    const MeshInterval& interval = scratch_.At(next_->interval);
    return !interval.is_final && interval.root == expanded_root_;
  }

  // Makes the intervals of the other edges of the polygon, the corners of which are c[1] to c[n] from the
  // right end of the edge counterclockwise to its left end. Edge j leads from c[j] to c[j + 1].
  void Expand(IntervalNumber number) {
    const MeshInterval& interval = scratch_.At(number);
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(interval.polygon);
    const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(interval.polygon);
    const auto n = static_cast<std::uint32_t>(corners.size());
    std::uint32_t entry = 0;
    while (corners[entry] != interval.edge_left) {
      ++entry;
    }
    const auto place = [&](std::uint32_t j) { return entry + j < n ? entry + j : entry + j - n; };
    const auto corner = [&](std::uint32_t j) { return corners[place(j)]; };
    const Root root{interval.root, interval.before, interval.g};
    expanded_root_ = root.vertex;

    // The right line of sight leaves the polygon on the edge before this corner, the first to the left of it.
    std::uint32_t right_exit = 2;
    double right_before = 0.0;
    double right_after = 1.0;
    bool is_along_right = false;
    if (!interval.is_right_root) {
      const Sight sight = SightOf(root, interval.right_sight);
      right_before = interval.is_right_vertex ? 0.0 : Side(sight.from, sight.to, PointOf(corner(1)));
      for (; right_exit <= n; ++right_exit) {
        right_after = Side(sight.from, sight.to, PointOf(corner(right_exit)));
        if (right_after > 0.0) {
          break;
        }
        is_along_right |= right_exit == 2 && right_after == 0.0;
        right_before = right_after;
      }
    }
    // The left line of sight leaves it on the edge after this corner, the last to the right of it.
    std::uint32_t left_exit = n - 1;
    double left_before = -1.0;
    double left_after = 0.0;
    bool is_along_left = false;
    if (!interval.is_left_root) {
      const Sight sight = SightOf(root, interval.left_sight);
      left_after = interval.is_left_vertex ? 0.0 : Side(sight.from, sight.to, PointOf(corner(n)));
      for (; left_exit >= 1; --left_exit) {
        left_before = Side(sight.from, sight.to, PointOf(corner(left_exit)));
        if (left_before < 0.0) {
          break;
        }
        is_along_left |= left_exit == n - 1 && left_before == 0.0;
        left_after = left_before;
      }
    }
    const auto right_end = [&] {
      return CrossingEnd(corner(right_exit - 1), corner(right_exit), right_before, right_after);
    };
    const auto left_end = [&] {
      return CrossingEnd(corner(left_exit), corner(left_exit + 1), left_before, left_after);
    };
    const auto add = [&](const Root& from, std::uint32_t j, const End& right, const End& left) {
      AddSuccessor(from, number, neighbours[place(j)], corner(j), corner(j + 1), right, left);
    };

    for (std::uint32_t j = right_exit - 1; j <= left_exit; ++j) {
      if (neighbours[place(j)] == kNoPolygon) {
        continue;
      }
      End right = VertexEnd(corner(j));
      if (j == right_exit - 1 && right_before < 0.0) {
        right = right_end();
        right.sight = interval.right_sight;
      }
      End left = VertexEnd(corner(j + 1));
      if (j == left_exit && left_after > 0.0) {
        left = left_end();
        left.sight = interval.left_sight;
      }
      add(root, j, right, left);
    }

    const bool has_right = right_exit > 2 || right_before < 0.0;
    if (has_right && interval.is_right_vertex && !interval.is_right_root) {
      // Where the edges beside the line of sight lie on it, a wall may end at any of the corners between.
      std::optional<Root> turn = Turn(root, corner(1), -1.0);
      for (std::uint32_t j = 1; j + 1 < right_exit; ++j) {
        if (is_along_right && right_exit <= n && j > 1) {
          turn = neighbours[place(j)] == kNoPolygon ? std::nullopt : Turn(root, corner(j), -1.0);
        }
        if (turn) {
          add(*turn, j, VertexEnd(corner(j)), VertexEnd(corner(j + 1)));
        }
      }
      if (turn && right_exit <= n && right_before < 0.0) {
        add(*turn, right_exit - 1, VertexEnd(corner(right_exit - 1)), right_end());
      }
    }
    const bool has_left = left_exit + 1 < n || left_after > 0.0;
    if (has_left && interval.is_left_vertex && !interval.is_left_root) {
      std::optional<Root> turn = Turn(root, corner(n), 1.0);
      for (std::uint32_t j = n - 1; j > left_exit; --j) {
        if (is_along_left && left_exit >= 1 && j < n - 1) {
          turn = neighbours[place(j)] == kNoPolygon ? std::nullopt : Turn(root, corner(j + 1), 1.0);
        }
        if (turn) {
          add(*turn, j, VertexEnd(corner(j)), VertexEnd(corner(j + 1)));
        }
      }
      if (turn && left_exit >= 1 && left_after > 0.0) {
        add(*turn, left_exit, left_end(), VertexEnd(corner(left_exit + 1)));
      }
    }
  }

  // Returns the vertex as a root, or nothing if no shortest path turns there to this side, which is 1 for
  // left and -1 for right.
  std::optional<Root> Turn(const Root& root, std::uint32_t vertex, double side) {
    const VertexWalls& walls = mesh_.WallsAt(vertex);
    if (walls.from == VertexWalls::kNone) {
      return std::nullopt;
    }
    const WorldPoint& from = PointOf(root.vertex);
    const WorldPoint& at = PointOf(vertex);
    const double length = PlanDistance(from, at);
    if (walls.from != VertexWalls::kSeveral &&
        !(IsBeside(from, at, length, walls.from, side) && IsBeside(from, at, length, walls.to, side))) {
      return std::nullopt;
    }
    const double g = root.g + length;
    if (!scratch_.Reach(vertex, g)) {
      return std::nullopt;
    }
    return Root{vertex, root.vertex, g};
  }

  // Returns true if the wall between the vertex `at` and the other one is on this side of a path that comes
  // from `from`, or may lie along it: the path would otherwise be shorter if it did not touch the vertex.
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

  // Returns where a line of sight crosses an edge, given the sides of the line that its ends lie on.
  End CrossingEnd(std::uint32_t from, std::uint32_t to, double from_side, double to_side) const {
    const WorldPoint& a = mesh_.VertexAt(from);
    const WorldPoint& b = mesh_.VertexAt(to);
    const double share = from_side / (from_side - to_side);
    return {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), MeshInterval::kStraight, false};
  }

  // Returns true if a known path over the vertex at one end of an edge, and on along the edge, is shorter
  // than that of the length `g` to the end of an interval that is further from the vertex. Then such a path
  // is shorter to all of the interval: towards the vertex no other one shrinks faster.
  bool IsBeatenAlong(std::uint32_t vertex, const End& end, double g) const {
    if (!scratch_.IsBeaten(g, vertex)) {
      return false;
    }
    const WorldPoint& point = mesh_.VertexAt(vertex);
    return scratch_.IsBeaten(g, vertex, PlanDistance(point.x, point.y, end.x, end.y));
  }

  // Adds the interval of an edge between these vertices, unless nothing lies beyond.
  void AddSuccessor(const Root& root, IntervalNumber parent, PolygonNumber polygon, std::uint32_t edge_right,
                    std::uint32_t edge_left, const End& right, const End& left) {
    if (polygon == kNoPolygon) {
      return;
    }
    const bool is_final = IsGoal(polygon);
    if (!is_final && !scratch_.IsRoomMarked(mesh_.RoomOf(polygon))) {
      return;
    }
    const WorldPoint& from = PointOf(root.vertex);
    const double to_left = root.g + PlanDistance(from.x, from.y, left.x, left.y);
    const double to_right = root.g + PlanDistance(from.x, from.y, right.x, right.y);
    if (IsBeatenAlong(edge_left, right, to_right) || IsBeatenAlong(edge_right, left, to_left)) {
      return;
    }
    if (left.is_vertex) {
      scratch_.Reach(edge_left, to_left);
    }
    if (right.is_vertex) {
      scratch_.Reach(edge_right, to_right);
    }
    MeshInterval interval;
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
    interval.is_final = is_final;
    double f = 0.0;
    if (is_final) {
      const std::optional<double> length = LengthToGoal(interval, root, edge_right);
      if (!length) {
        return;
      }
      f = *length;
    } else {
      f = root.g + LeastDistance(interval, from, mesh_.VertexAt(edge_left), mesh_.VertexAt(edge_right));
    }

    const OpenInterval entry{f, scratch_.Add(interval)};
    ++report_.statistics.generated;
    recorder_.Generated([&] { return Traced(interval, root, edge_right, f); });
    ++successors_;
    if (!next_) {
      next_ = entry;
    } else if (entry.Precedes(*next_)) {
      scratch_.Push(*next_);
      next_ = entry;
    } else {
      scratch_.Push(entry);
    }
    report_.open_peak = std::max(report_.open_peak, scratch_.open_size() + 1);
  }

  // Returns the interval as it is seen from the root, also where a final one was given another.
  TracedInterval Traced(const MeshInterval& interval, const Root& root, std::uint32_t edge_right,
                        double f) const {
    const WorldPoint& a = PointOf(interval.edge_left);
    const WorldPoint& b = PointOf(edge_right);
    const auto on_edge = [&](double x, double y) {
      const bool is_wide = std::abs(b.x - a.x) > std::abs(b.y - a.y);
      const double share = is_wide ? (x - a.x) / (b.x - a.x) : (y - a.y) / (b.y - a.y);
      return WorldPoint{x, y, a.z + share * (b.z - a.z)};
    };
    return {.left = interval.is_left_vertex ? a : on_edge(interval.left_x, interval.left_y),
            .right = interval.is_right_vertex ? b : on_edge(interval.right_x, interval.right_y),
            .root = PointOf(root.vertex),
            .g = root.g,
            .f = f,
            .parent = interval.parent,
            .polygon = interval.polygon};
  }

  // Returns the length of the shortest path through the interval to the goal right behind it, and gives the
  // interval the root that sees the goal. It returns nothing if the path would turn in the middle of an edge:
  // then a shorter one turns at the vertex that the line of sight leads through.
  std::optional<double> LengthToGoal(MeshInterval& interval, const Root& root,
                                     std::uint32_t edge_right) const {
    const auto turn = [&](std::uint32_t vertex) {
      interval.g += PlanDistance(PointOf(root.vertex), PointOf(vertex));
      interval.before = root.vertex;
      interval.root = vertex;
      interval.is_turned = true;
    };
    const auto side = [&](std::uint32_t to) {
      const Sight sight = SightOf(root, to);
      return Side(sight.from, sight.to, goal_);
    };
    const double right_side = interval.is_right_root ? 1.0 : side(interval.right_sight);
    const double left_side = interval.is_left_root ? -1.0 : side(interval.left_sight);
    if (right_side < 0.0) {
      if (!interval.is_right_vertex) {
        return std::nullopt;
      }
      turn(edge_right);
    } else if (left_side > 0.0) {
      if (!interval.is_left_vertex) {
        return std::nullopt;
      }
      turn(interval.edge_left);
    } else if (right_side == 0.0 && left_side == 0.0) {
      // The edge lies on the line of sight, and the goal may lie before it, behind a wall on that line.
      const WorldPoint& from = PointOf(root.vertex);
      const bool is_left_near =
          PlanDistance(from, PointOf(interval.edge_left)) < PlanDistance(from, PointOf(edge_right));
      const std::uint32_t near = is_left_near ? interval.edge_left : edge_right;
      if (!IsOnTheWay(from, PointOf(near), goal_)) {
        turn(near);
      }
    }
    return interval.g + PlanDistance(PointOf(interval.root), goal_);
  }

  // Returns the length of the shortest line from the root through the interval to the goal, or to its image
  // in a mirror along the edge if the goal lies on this side of it.
  double LeastDistance(const MeshInterval& interval, const WorldPoint& root, const WorldPoint& edge_left,
                       const WorldPoint& edge_right) const {
    const double edge_x = edge_right.x - edge_left.x;
    const double edge_y = edge_right.y - edge_left.y;
    double x = goal_.x;
    double y = goal_.y;
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
      return PlanDistance(root.x, root.y, to_x, to_y) + PlanDistance(to_x, to_y, x, y);
    };
    if (side(interval.right_x, interval.right_y) < 0.0) {
      return through(interval.right_x, interval.right_y);
    }
    if (side(interval.left_x, interval.left_y) > 0.0) {
      return through(interval.left_x, interval.left_y);
    }
    return PlanDistance(root.x, root.y, x, y);
  }

  // Builds the path that ends with this interval.
  void Finish(IntervalNumber last) {
    std::vector<WorldPoint>& corners = scratch_.corners();
    std::vector<PolygonNumber>& corridor = scratch_.corridor();
    // A vertex that the path touches without a turn is not among its corners.
    const auto add = [&](const WorldPoint& point) {
      if (IsSamePlace(corners.back(), point)) {
        return;
      }
      if (corners.size() > 1 && IsOnTheWay(corners[corners.size() - 2], corners.back(), point)) {
        corners.pop_back();
      }
      corners.push_back(point);
    };
    corners.push_back(goal_);
    for (IntervalNumber number = last; number != MeshInterval::kNoParent;) {
      const MeshInterval& interval = scratch_.At(number);
      if (interval.root != MeshInterval::kStart) {
        add(mesh_.VertexAt(interval.root));
      }
      if (interval.is_turned && interval.before != MeshInterval::kStart) {
        add(mesh_.VertexAt(interval.before));
      }
      corridor.push_back(interval.polygon);
      number = interval.parent;
      if (number == MeshInterval::kNoParent) {
        corridor.push_back(PolygonBefore(interval));
      }
    }
    add(start_);
    std::reverse(corners.begin(), corners.end());
    std::reverse(corridor.begin(), corridor.end());
    report_.end = SearchEnd::kGoalReached;
    report_.corners = corners;
    report_.corridor = corridor;
    for (std::size_t i = 1; i < corners.size(); ++i) {
      report_.length += PlanDistance(corners[i - 1], corners[i]);
    }
  }

  // Returns the polygon on this side of the interval's edge.
  PolygonNumber PolygonBefore(const MeshInterval& interval) const {
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(interval.polygon);
    const auto edge = std::find(corners.begin(), corners.end(), interval.edge_left);
    return mesh_.NeighboursOf(interval.polygon)[static_cast<std::size_t>(edge - corners.begin())];
  }

  const NavMesh& mesh_;
  const WorldPoint start_;
  const WorldPoint goal_;
  const Budget& budget_;
  MeshScratch& scratch_;
  Recorder& recorder_;
  const double dent_;
  MeshSearchReport report_;
  // The first of the last expansion's successors, which is not on the open list yet.
  std::optional<OpenInterval> next_;
  std::uint32_t successors_ = 0;
  std::uint32_t expanded_root_ = MeshInterval::kStart;
};

}  // namespace

MeshSearchReport SearchMesh(const NavMesh& mesh, const MeshSearchTask& task, const Budget& budget,
                            MeshScratch& scratch, IntervalRecorder* recorder) {
  if (recorder != nullptr) {
    return IntervalSearch(mesh, task, budget, scratch, *recorder).Run(task);
  }
  NoIntervalRecorder none;
  return IntervalSearch(mesh, task, budget, scratch, none).Run(task);
}

}  // namespace waystar::core
