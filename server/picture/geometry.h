// Points of a picture and the outlines that they make. x grows to the right, y down; the pixel of column i
// and row j is the square from (i, j) to (i + 1, j + 1).
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

// Returns the part of a straight line that lies in a box, or nothing if none does. (Liang and Barsky, "A New
// Concept and Method for Line Clipping", 1984.)
std::optional<std::pair<Point, Point>> ClipTo(const Box& box, Point from, Point to);

// Returns where the straight line through `from` and `to` crosses that from a to b: the share of the way from
// a to b, from 0 to 1, or the nearer of these two. It is 0 if the lines do not cross.
double ShareAtCrossing(Point from, Point to, Point a, Point b);

// Returns a regular polygon of 16 to 128 corners that looks round at its size. It is made by halving the
// sides of a square, which takes nothing but square roots, so that it is the same on every machine.
Polygon DiscOutline(Point center, double radius);

// Returns what a pen of that width covers along a line, with round ends and turns: polygons that overlap, all
// turning the same way. A line of one point is a disc.
std::vector<Polygon> StrokeOutline(absl::Span<const Point> line, double width);

// Returns the parts of a line that are drawn if `on` is drawn and `off` left out in turns. REQUIRES: both are
// more than 0.
std::vector<std::vector<Point>> Dashes(absl::Span<const Point> line, double on, double off);

}  // namespace waystar::picture
