// Constrained Delaunay triangulation of outlines in the plane.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/geometry/world_point.h"

namespace waystar::core {

// Points at most this far from a line count as on it: a multiple of the rounding error.
inline constexpr double kOnLine = 4.0 / kFixedScale;

// Triangulation of the plane around a border, with closed outlines that may touch and cross each other.
//
// Points are inserted one by one (Lawson, "Software for C1 Surface Interpolation", 1977), and lines by edge
// flips (Sloan, "A Fast Algorithm for Generating Constrained Delaunay Triangulations", 1993). Where lines
// cross, the crossing becomes a point, rounded to 2^-20. A line leads over the points within kOnLine of it,
// so that no gap of that width remains. Sides are decided in integers: all triangles run counterclockwise and
// have an area.
//
// Not thread-safe.
class Triangulation {
 public:
  static constexpr int kNone = -1;

  // An edge as seen from one of its triangles.
  struct Edge {
    // Triangle across the edge, or kNone.
    int beyond = kNone;
    // Number of outlines around this triangle minus the number around `beyond`.
    std::int16_t winding = 0;
    // Fixed edges are on a line or on the border, and stay.
    bool is_fixed = false;
    bool is_border = false;
  };

  // Edge i leads from corner i to the next.
  struct Triangle {
    std::array<int, 3> corners;
    std::array<Edge, 3> edges;
    // Number of outlines around it, and whether the border is around it. Set by CountOutlines.
    std::int16_t outlines = 0;
    bool is_inside = false;
  };

  // A corner of a triangle, and the edge that starts there.
  struct Corner {
    int triangle = kNone;
    int place = 0;

    friend bool operator==(const Corner&, const Corner&) = default;
  };

  // Triangulates the surroundings of a border.
  // REQUIRES: the loop is counterclockwise, with at least three points, which are multiples of 2^-20 from
  // -kMaxReach to kMaxReach.
  explicit Triangulation(const std::vector<WorldPoint>& border);

  // Adds a closed counterclockwise outline. Where it crosses the border, it passes the nearer end of the edge
  // that it crosses: the border has points there.
  // REQUIRES: the coordinates are as those of the border.
  void AddOutline(const std::vector<WorldPoint>& loop);

  // Adds a point, and returns its number, or that of an equal one. On the border it returns the nearer end of
  // the edge. CountOutlines must be called again.
  // REQUIRES: the coordinates are as those of the border.
  int AddPoint(const WorldPoint& point) { return AddPoint(point, 0.0); }

  // Sets Triangle::outlines and is_inside. Returns false if the border crosses itself, or there were too many
  // crossings, which rounding may cause where many lines run along each other.
  bool CountOutlines();

  const std::vector<Triangle>& triangles() const { return triangles_; }
  const Triangle& At(int triangle) const { return triangles_[static_cast<std::size_t>(triangle)]; }
  // Three points far away come first, then those of the border in their order.
  static constexpr int kFirstOfBorder = 3;
  int point_count() const { return static_cast<int>(points_.size()); }
  const WorldPoint& PointAt(int point) const { return points_[static_cast<std::size_t>(point)]; }

  int PointOf(const Corner& corner) const {
    return At(corner.triangle).corners[static_cast<std::size_t>(corner.place)];
  }
  const Edge& EdgeAt(const Corner& corner) const {
    return At(corner.triangle).edges[static_cast<std::size_t>(corner.place)];
  }
  // Returns the next corner of the triangle.
  static Corner After(const Corner& corner) { return {corner.triangle, (corner.place + 1) % 3}; }
  static Corner Before(const Corner& corner) { return {corner.triangle, (corner.place + 2) % 3}; }
  // Returns a corner at the point.
  Corner CornerAt(int point) const;
  // Returns the corner at the end of the edge that starts at this corner, in the triangle across.
  // REQUIRES: there is a triangle across the edge.
  Corner Across(const Corner& corner) const;

 private:
  // A line to be fixed.
  struct Line {
    int from = 0;
    int to = 0;
    std::int16_t winding = 0;
    bool is_border = false;
  };
  // Ends of an edge that a line crosses, on its right and on its left.
  struct Crossed {
    int right = 0;
    int left = 0;
  };

  Triangle& Get(int triangle) { return triangles_[static_cast<std::size_t>(triangle)]; }
  Edge& EdgeOf(const Corner& corner) {
    return Get(corner.triangle).edges[static_cast<std::size_t>(corner.place)];
  }
  double SideOf(int a, int b, int point) const;
  // Returns how near to a point a line leads over it.
  double NearLines() const { return lines_left_ < kExactLines ? 0.0 : kOnLine; }
  // Returns true if the point is between the ends of the line, and on it or, unless it is of the border,
  // within kOnLine of it.
  bool IsOn(const Line& line, int point) const;

  // Returns the number of the point, or that of one at most this near. Does not divide the border.
  int AddPoint(const WorldPoint& point, double near);
  int NearerEnd(const Corner& edge, const WorldPoint& point) const;
  int Locate(const WorldPoint& point) const;
  void Set(int triangle, const std::array<int, 3>& corners, const std::array<Edge, 3>& edges);
  int Append();
  void SplitTriangle(int triangle, int point);
  void SplitEdge(const Corner& edge, int point);
  // Replaces an edge by the other diagonal of its two triangles.
  // REQUIRES: these form a strictly convex quadrangle.
  void Flip(const Corner& edge);
  bool IsConvexAround(const Corner& edge) const;
  // Flips edges until the triangles at a new point are those of Delaunay.
  void Legalize(int point);
  // Leads fixed lines near a new point over it.
  void BendLines(int point);

  void FixLines();
  void FixFirstPart(const Line& line);
  // Fixes a line that leaves the triangle of its start through the edge at this corner.
  void FixAcross(const Line& line, Corner exit);
  // Divides a line where it meets a fixed one.
  void DivideAt(const Line& line, const Corner& fixed);
  void Mark(const Corner& edge, const Line& line);
  // Releases a fixed line, which then leads over the point.
  void Release(const Corner& edge, int point);
  // Flips the edges that the line between the two points crosses until it is an edge.
  void FlipAway(int from, int to, std::vector<Crossed> crossed);
  // Returns the corner at `from` whose edge leads to `to`.
  Corner FindEdge(int from, int to) const;

  std::vector<WorldPoint> points_;
  // For each point, one of its corners.
  std::vector<Corner> corner_at_;
  std::vector<Triangle> triangles_;
  int last_triangle_ = 0;
  // Scratch list of Legalize.
  std::vector<int> open_;
  // Lines to be fixed, and how many more may be. The last ones are not bent: bent lines could bend each other
  // without end.
  static constexpr std::size_t kExactLines = 4096;
  std::vector<Line> lines_;
  std::size_t lines_left_ = 0;
  bool has_failed_ = false;
};

}  // namespace waystar::core
