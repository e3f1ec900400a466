// Points, outlines and tilings in a picture. x grows to the right, y down; the pixel in column i and row j is
// the square from (i, j) to (i + 1, j + 1).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace waystar::picture {

struct Point {
  double x = 0.0;
  double y = 0.0;

  friend bool operator==(const Point&, const Point&) = default;
};

constexpr Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
constexpr Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
constexpr Point operator*(Point a, double by) { return {a.x * by, a.y * by}; }

double Distance(Point a, Point b);

using Polygon = std::vector<Point>;

struct Box {
  double x = 0.0;
  double y = 0.0;
  double width = 0.0;
  double height = 0.0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  Polygon corners() const { return {{x, y}, {right(), y}, {right(), bottom()}, {x, bottom()}}; }
};

// Returns the part of a straight line in a box, or nullopt. (Liang and Barsky, "A New Concept and Method for
// Line Clipping", 1984.)
std::optional<std::pair<Point, Point>> ClipTo(const Box& box, Point from, Point to);

// Returns the connected parts of a line in a box.
std::vector<std::vector<Point>> PartsIn(const Box& box, absl::Span<const Point> line);

// Returns the parameter on the segment from a to b, clamped to [0, 1], at which the line through `from` and
// `to` crosses it. Returns 0 for parallel lines.
double ShareAtCrossing(Point from, Point to, Point a, Point b);

// Returns a regular polygon of 16 to 128 corners that looks round at its size. Built by halving the sides of
// a square, which needs only square roots, so that it is the same on every machine.
Polygon DiscOutline(Point center, double radius);

// Returns the outline of a pen stroke of that width along a line, with round ends and joins: overlapping
// polygons with the same winding. A line of one point becomes a disc.
std::vector<Polygon> StrokeOutline(absl::Span<const Point> line, double width);

// Splits a line into dashes of length `on` with gaps of length `off`.
// REQUIRES: both are above 0.
std::vector<std::vector<Point>> Dashes(absl::Span<const Point> line, double on, double off);

// Places of a plane's cells on a picture, for squares or hexagons in axial coordinates.
//
// The centre of cell (x, y) lies at zero + x * x_step + y * y_step. Three hexagons meet at each corner, which
// is the mean of their centres, so the orientation of hexagons does not matter.
struct Tiling {
  Point zero;
  Point x_step = {1.0, 0.0};
  Point y_step = {0.0, 1.0};
  bool hexagons = false;

  // Returns the place of a point of the plane, not only of cell centres.
  Point At(double x, double y) const { return zero + x_step * x + y_step * y; }
  // Returns the inverse of At.
  Point PlaneAt(Point point) const;

  // Returns the line from one cell to another, diagonal first and then straight, like jumps on squares.
  std::vector<Point> BentLine(int from_x, int from_y, int to_x, int to_y) const;

  // Returns the outline of a cell, shrunk by `inset` pixels.
  Polygon OutlineOf(double x, double y, double inset = 0.0) const;

  // Returns the distance between adjacent centres in pixels.
  double CellPixels() const { return Distance({}, x_step); }
};

}  // namespace waystar::picture
