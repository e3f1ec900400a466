#include "server/core/mesh/map/triangulation.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "server/core/mesh/map/plan.h"

namespace waystar::core {
namespace {

// Returns true if d is inside the circle through a, b and c, by more than rounding.
// REQUIRES: a, b and c run counterclockwise.
bool IsInCircle(const WorldPoint& a, const WorldPoint& b, const WorldPoint& c, const WorldPoint& d) {
  constexpr double kRounding = 1e-12;
  const double ax = a.x - d.x;
  const double ay = a.y - d.y;
  const double bx = b.x - d.x;
  const double by = b.y - d.y;
  const double cx = c.x - d.x;
  const double cy = c.y - d.y;
  const double of_a = (ax * ax + ay * ay) * (bx * cy - by * cx);
  const double of_b = (bx * bx + by * by) * (cx * ay - cy * ax);
  const double of_c = (cx * cx + cy * cy) * (ax * by - ay * bx);
  return of_a + of_b + of_c > kRounding * (std::abs(of_a) + std::abs(of_b) + std::abs(of_c));
}

}  // namespace

Triangulation::Triangulation(const std::vector<WorldPoint>& border) {
  // The first triangle contains everything that an outline of twice the reach can have.
  constexpr double kFar = 16.0 * kMaxReach;
  for (const WorldPoint& point : {WorldPoint{-kFar, -kFar, 0.0}, {kFar, -kFar, 0.0}, {0.0, kFar, 0.0}}) {
    points_.push_back(point);
  }
  const int first = Append();
  corner_at_.resize(points_.size());
  Set(first, {0, 1, 2}, {});
  std::vector<int> loop;
  loop.reserve(border.size());
  constexpr std::size_t kUsualPoints = 64;
  points_.reserve(kUsualPoints);
  corner_at_.reserve(kUsualPoints);
  triangles_.reserve(2 * kUsualPoints);
  for (const WorldPoint& point : border) {
    loop.push_back(AddPoint(point, 0.0));
  }
  lines_left_ = kExactLines + 4 * loop.size();
  for (std::size_t k = 0; k < loop.size(); ++k) {
    has_failed_ |= loop[k] != static_cast<int>(k) + kFirstOfBorder;
    lines_.push_back({loop[k], loop[k + 1 < loop.size() ? k + 1 : 0], 0, true});
  }
  FixLines();
}

void Triangulation::AddOutline(const std::vector<WorldPoint>& loop) {
  std::vector<int> points;
  points.reserve(loop.size());
  for (const WorldPoint& point : loop) {
    points.push_back(AddPoint(point, kOnLine));
  }
  // Most lines have few parts.
  constexpr std::size_t kMostParts = 32;
  lines_left_ = kExactLines + kMostParts * loop.size();
  for (std::size_t k = 0; k < points.size(); ++k) {
    lines_.push_back({points[k], points[k + 1 < points.size() ? k + 1 : 0], 1, false});
  }
  FixLines();
}

bool Triangulation::CountOutlines() {
  std::vector<bool> is_counted(triangles_.size());
  std::vector<int> open = {CornerAt(0).triangle};
  is_counted[static_cast<std::size_t>(open.front())] = true;
  while (!open.empty() && !has_failed_) {
    const Triangle from = At(open.back());
    open.pop_back();
    for (const Edge& edge : from.edges) {
      if (edge.beyond == kNone || is_counted[static_cast<std::size_t>(edge.beyond)]) {
        continue;
      }
      is_counted[static_cast<std::size_t>(edge.beyond)] = true;
      Triangle& to = Get(edge.beyond);
      to.outlines = static_cast<std::int16_t>(from.outlines - edge.winding);
      to.is_inside = from.is_inside != edge.is_border;
      open.push_back(edge.beyond);
    }
  }
  return !has_failed_;
}

Triangulation::Corner Triangulation::CornerAt(int point) const {
  return corner_at_[static_cast<std::size_t>(point)];
}

Triangulation::Corner Triangulation::Across(const Corner& corner) const {
  const int end = PointOf(After(corner));
  const int beyond = EdgeAt(corner).beyond;
  const Triangle& triangle = At(beyond);
  return {beyond, triangle.corners[0] == end ? 0 : triangle.corners[1] == end ? 1 : 2};
}

double Triangulation::SideOf(int a, int b, int point) const {
  return Side(PointAt(a), PointAt(b), PointAt(point));
}

bool Triangulation::IsOn(const Line& line, int point) const {
  const WorldPoint& a = PointAt(line.from);
  const WorldPoint& b = PointAt(line.to);
  const WorldPoint& p = PointAt(point);
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double along = (p.x - a.x) * dx + (p.y - a.y) * dy;
  const double squared = dx * dx + dy * dy;
  if (point == line.from || point == line.to || along <= 0.0 || along >= squared) {
    return false;
  }
  const double side = Side(a, b, p);
  const double near = line.is_border ? 0.0 : NearLines();
  return side * side <= near * near * squared;
}

int Triangulation::AddPoint(const WorldPoint& point, double near) {
  const int triangle = Locate(point);
  for (int place = 0; place < 3; ++place) {
    const Corner corner{triangle, place};
    const bool is_outer = EdgeAt(corner).beyond == kNone;
    for (const int other : {PointOf(corner), PointOf(is_outer ? corner : Before(Across(corner)))}) {
      if (SquaredPlanDistance(PointAt(other), point) <= near * near) {
        return other;
      }
    }
  }
  const int number = point_count();
  points_.push_back({point.x, point.y, 0.0});
  corner_at_.emplace_back();
  for (int place = 0; place < 3; ++place) {
    const Corner corner{triangle, place};
    if (SideOf(PointOf(corner), PointOf(After(corner)), number) == 0.0) {
      if (EdgeAt(corner).is_border) {
        points_.pop_back();
        corner_at_.pop_back();
        return NearerEnd(corner, point);
      }
      SplitEdge(corner, number);
      Legalize(number);
      BendLines(number);
      return number;
    }
  }
  SplitTriangle(triangle, number);
  Legalize(number);
  BendLines(number);
  return number;
}

int Triangulation::NearerEnd(const Corner& edge, const WorldPoint& point) const {
  const int a = PointOf(edge);
  const int b = PointOf(After(edge));
  return SquaredPlanDistance(PointAt(a), point) <= SquaredPlanDistance(PointAt(b), point) ? a : b;
}

int Triangulation::Locate(const WorldPoint& point) const {
  const auto exit_of = [&](int triangle) {
    for (int place = 0; place < 3; ++place) {
      const Corner corner{triangle, place};
      if (Side(PointAt(PointOf(corner)), PointAt(PointOf(After(corner))), point) < 0.0) {
        return place;
      }
    }
    return kNone;
  };
  int triangle = last_triangle_;
  // The walk could go in circles, because fixed edges are not those of Delaunay.
  for (std::size_t steps = triangles_.size(); steps > 0; --steps) {
    const int exit = exit_of(triangle);
    if (exit == kNone) {
      return triangle;
    }
    triangle = EdgeAt({triangle, exit}).beyond;
  }
  triangle = 0;
  while (exit_of(triangle) != kNone) {
    ++triangle;
  }
  return triangle;
}

void Triangulation::Set(int triangle, const std::array<int, 3>& corners, const std::array<Edge, 3>& edges) {
  Triangle& set = Get(triangle);
  set.corners = corners;
  set.edges = edges;
  last_triangle_ = triangle;
  for (int place = 0; place < 3; ++place) {
    const Corner corner{triangle, place};
    corner_at_[static_cast<std::size_t>(PointOf(corner))] = corner;
    if (EdgeAt(corner).beyond != kNone) {
      const Corner across = Across(corner);
      if (PointOf(across) == PointOf(After(corner)) && PointOf(After(across)) == PointOf(corner)) {
        EdgeOf(across).beyond = triangle;
      }
    }
  }
}

int Triangulation::Append() {
  triangles_.emplace_back();
  return static_cast<int>(triangles_.size()) - 1;
}

void Triangulation::SplitTriangle(int triangle, int point) {
  const auto [a, b, c] = At(triangle).corners;
  const std::array<Edge, 3> edges = At(triangle).edges;
  const int second = Append();
  const int third = Append();
  Set(triangle, {a, b, point}, {edges[0], Edge{second}, Edge{third}});
  Set(second, {b, c, point}, {edges[1], Edge{third}, Edge{triangle}});
  Set(third, {c, a, point}, {edges[2], Edge{triangle}, Edge{second}});
}

void Triangulation::SplitEdge(const Corner& edge, int point) {
  const Corner across = Across(edge);
  const int a = PointOf(edge);
  const int b = PointOf(After(edge));
  const int c = PointOf(Before(edge));
  const int d = PointOf(Before(across));
  const Edge own = EdgeAt(edge);
  const Edge other = EdgeAt(across);
  const Edge to_c = EdgeAt(After(edge));
  const Edge from_c = EdgeAt(Before(edge));
  const Edge to_d = EdgeAt(After(across));
  const Edge from_d = EdgeAt(Before(across));
  const auto with = [](Edge half, int beyond) {
    half.beyond = beyond;
    return half;
  };
  const int second = Append();
  const int fourth = Append();
  Set(edge.triangle, {a, point, c}, {with(own, across.triangle), Edge{second}, from_c});
  Set(second, {point, b, c}, {with(own, fourth), to_c, Edge{edge.triangle}});
  Set(across.triangle, {point, a, d}, {with(other, edge.triangle), to_d, Edge{fourth}});
  Set(fourth, {b, point, d}, {with(other, second), Edge{across.triangle}, from_d});
}

void Triangulation::Flip(const Corner& edge) {
  const Corner across = Across(edge);
  const int a = PointOf(edge);
  const int b = PointOf(After(edge));
  const int c = PointOf(Before(edge));
  const int d = PointOf(Before(across));
  const Edge to_c = EdgeAt(After(edge));
  const Edge from_c = EdgeAt(Before(edge));
  const Edge to_d = EdgeAt(After(across));
  const Edge from_d = EdgeAt(Before(across));
  Set(edge.triangle, {a, d, c}, {to_d, Edge{across.triangle}, from_c});
  Set(across.triangle, {d, b, c}, {from_d, to_c, Edge{edge.triangle}});
}

bool Triangulation::IsConvexAround(const Corner& edge) const {
  const int c = PointOf(Before(edge));
  const int d = PointOf(Before(Across(edge)));
  return SideOf(d, c, PointOf(edge)) > 0.0 && SideOf(d, c, PointOf(After(edge))) < 0.0;
}

void Triangulation::Legalize(int point) {
  std::vector<int>& open = open_;
  open.clear();
  const Corner first = CornerAt(point);
  Corner corner = first;
  do {
    open.push_back(corner.triangle);
    corner = Across(Before(corner));
  } while (!(corner == first));
  // Rounding of circles could make flips go on.
  std::size_t flips_left = 4 * triangles_.size();
  while (!open.empty() && flips_left-- > 0) {
    const Triangle& triangle = At(open.back());
    const int at = triangle.corners[0] == point ? 0 : triangle.corners[1] == point ? 1 : 2;
    const Corner opposite{open.back(), (at + 1) % 3};
    open.pop_back();
    const Edge& edge = EdgeAt(opposite);
    if (edge.is_fixed || edge.beyond == kNone) {
      continue;
    }
    const Corner across = Across(opposite);
    if (IsInCircle(PointAt(PointOf(opposite)), PointAt(PointOf(After(opposite))), PointAt(point),
                   PointAt(PointOf(Before(across)))) &&
        IsConvexAround(opposite)) {
      Flip(opposite);
      open.push_back(opposite.triangle);
      open.push_back(across.triangle);
    }
  }
}

void Triangulation::BendLines(int point) {
  std::vector<Corner> near;
  const Corner first = CornerAt(point);
  Corner corner = first;
  do {
    const Corner opposite = After(corner);
    const Edge& edge = EdgeAt(opposite);
    if (edge.is_fixed && !edge.is_border &&
        IsOn({PointOf(opposite), PointOf(After(opposite)), 0, false}, point)) {
      near.push_back(opposite);
    }
    corner = Across(Before(corner));
  } while (!(corner == first));
  for (const Corner& edge : near) {
    Release(edge, point);
  }
}

void Triangulation::FixLines() {
  while (!lines_.empty() && !has_failed_) {
    if (lines_left_ == 0) {
      has_failed_ = true;
      return;
    }
    --lines_left_;
    const Line line = lines_.back();
    lines_.pop_back();
    if (line.from != line.to) {
      FixFirstPart(line);
    }
  }
}

void Triangulation::FixFirstPart(const Line& line) {
  const Corner first = CornerAt(line.from);
  Corner exit;
  Corner corner = first;
  do {
    const int right = PointOf(After(corner));
    if (right == line.to || IsOn(line, right)) {
      Mark(corner, line);
      lines_.push_back({right, line.to, line.winding, line.is_border});
      return;
    }
    if (SideOf(line.from, line.to, right) < 0.0 &&
        SideOf(line.from, line.to, PointOf(Before(corner))) > 0.0) {
      exit = After(corner);
    }
    corner = Across(Before(corner));
  } while (!(corner == first));
  if (exit.triangle == kNone) {
    has_failed_ = true;
    return;
  }
  FixAcross(line, exit);
}

void Triangulation::FixAcross(const Line& line, Corner exit) {
  std::vector<Crossed> crossed;
  while (!has_failed_) {
    if (EdgeAt(exit).is_fixed) {
      DivideAt(line, exit);
      return;
    }
    crossed.push_back({PointOf(exit), PointOf(After(exit))});
    const Corner left = Across(exit);
    const Corner ahead = Before(left);
    const int point = PointOf(ahead);
    if (point == line.to || IsOn(line, point)) {
      FlipAway(line.from, point, std::move(crossed));
      if (!has_failed_) {
        Mark(FindEdge(line.from, point), line);
        lines_.push_back({point, line.to, line.winding, line.is_border});
      }
      return;
    }
    exit = SideOf(line.from, line.to, point) < 0.0 ? ahead : After(left);
    has_failed_ |= EdgeAt(exit).beyond == kNone;
  }
}

void Triangulation::DivideAt(const Line& line, const Corner& fixed) {
  if (line.is_border) {
    has_failed_ = true;
    return;
  }
  const int right = PointOf(fixed);
  const int left = PointOf(After(fixed));
  const WorldPoint& a = PointAt(right);
  const WorldPoint& b = PointAt(left);
  const double side = SideOf(line.from, line.to, right);
  const double share = side / (side - SideOf(line.from, line.to, left));
  const WorldPoint crossing = Rounded(WorldPoint{a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), 0.0});
  const auto is_near = [&](int point) {
    return SquaredPlanDistance(PointAt(point), crossing) <= NearLines() * NearLines();
  };
  const auto lead_over = [&](int point) {
    lines_.push_back({point, line.to, line.winding, false});
    lines_.push_back({line.from, point, line.winding, false});
  };
  if (EdgeAt(fixed).is_border || is_near(right) || is_near(left)) {
    lead_over(NearerEnd(fixed, crossing));
    return;
  }
  for (const int end : {line.from, line.to}) {
    if (is_near(end)) {
      lines_.push_back(line);
      Release(fixed, end);
      return;
    }
  }
  const Edge edge = EdgeAt(fixed);
  EdgeOf(Across(fixed)) = {.beyond = fixed.triangle};
  EdgeOf(fixed) = {.beyond = edge.beyond};
  const int point = AddPoint(crossing, NearLines());
  lead_over(point);
  lines_.push_back({right, point, edge.winding, false});
  lines_.push_back({point, left, edge.winding, false});
}

void Triangulation::Mark(const Corner& corner, const Line& line) {
  for (const auto& [half, winding] : {std::pair(corner, line.winding),
                                      std::pair(Across(corner), static_cast<std::int16_t>(-line.winding))}) {
    Edge& edge = EdgeOf(half);
    edge.winding = static_cast<std::int16_t>(edge.winding + winding);
    edge.is_fixed = true;
    edge.is_border |= line.is_border;
  }
}

void Triangulation::Release(const Corner& corner, int point) {
  const Edge edge = EdgeAt(corner);
  lines_.push_back({PointOf(corner), point, edge.winding, false});
  lines_.push_back({point, PointOf(After(corner)), edge.winding, false});
  EdgeOf(Across(corner)) = {.beyond = corner.triangle};
  EdgeOf(corner) = {.beyond = edge.beyond};
}

void Triangulation::FlipAway(int from, int to, std::vector<Crossed> crossed) {
  std::deque<Crossed> open(crossed.begin(), crossed.end());
  std::size_t tries_left = 16 + 4 * crossed.size() * crossed.size();
  while (!open.empty()) {
    if (tries_left-- == 0) {
      has_failed_ = true;
      return;
    }
    const Crossed next = open.front();
    open.pop_front();
    const Corner edge = FindEdge(next.right, next.left);
    if (!IsConvexAround(edge)) {
      open.push_back(next);
      continue;
    }
    const int c = PointOf(Before(edge));
    const int d = PointOf(Before(Across(edge)));
    Flip(edge);
    const double c_side = c == from || c == to ? 0.0 : SideOf(from, to, c);
    const double d_side = d == from || d == to ? 0.0 : SideOf(from, to, d);
    if (c_side < 0.0 && d_side > 0.0) {
      open.push_back({c, d});
    } else if (c_side > 0.0 && d_side < 0.0) {
      open.push_back({d, c});
    }
  }
}

Triangulation::Corner Triangulation::FindEdge(int from, int to) const {
  // The far points are not surrounded by triangles.
  const bool is_far = from < kFirstOfBorder;
  Corner corner = CornerAt(is_far ? to : from);
  while (PointOf(After(corner)) != (is_far ? from : to)) {
    corner = Across(Before(corner));
  }
  return is_far ? Across(corner) : corner;
}

}  // namespace waystar::core
