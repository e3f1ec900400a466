#include "server/render/canvas/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace waystar::picture {

double Distance(Point a, Point b) {
  const Point way = b - a;
  return std::sqrt(way.x * way.x + way.y * way.y);
}

std::optional<std::pair<Point, Point>> ClipTo(const Box& box, Point from, Point to) {
  double begin = 0.0;
  double end = 1.0;
  // `way` is the line's extent towards a side, `room` the distance to that side.
  const auto cut = [&](double way, double room) {
    if (way == 0) {
      return room >= 0;
    }
    if (way < 0) {
      begin = std::max(begin, room / way);
    } else {
      end = std::min(end, room / way);
    }
    return begin <= end;
  };
  const Point way = to - from;
  if (!cut(-way.x, from.x - box.x) || !cut(way.x, box.right() - from.x) || !cut(-way.y, from.y - box.y) ||
      !cut(way.y, box.bottom() - from.y)) {
    return std::nullopt;
  }
  return std::make_pair(begin == 0 ? from : from + way * begin, end == 1 ? to : from + way * end);
}

std::vector<std::vector<Point>> PartsIn(const Box& box, absl::Span<const Point> line) {
  std::vector<std::vector<Point>> parts;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    if (const auto part = ClipTo(box, line[i], line[i + 1])) {
      if (parts.empty() || parts.back().back() != part->first) {
        parts.push_back({part->first});
      }
      parts.back().push_back(part->second);
    }
  }
  return parts;
}

double ShareAtCrossing(Point from, Point to, Point a, Point b) {
  const auto side = [&](Point point) {
    return (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x);
  };
  const double at_a = side(a);
  const double at_b = side(b);
  return at_a == at_b ? 0.0 : std::clamp(at_a / (at_a - at_b), 0.0, 1.0);
}

Polygon DiscOutline(Point center, double radius) {
  Polygon unit = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  const std::size_t corners = radius < 3 ? 16 : radius < 12 ? 32 : radius < 60 ? 64 : 128;
  while (unit.size() < corners) {
    Polygon finer;
    finer.reserve(unit.size() * 2);
    for (std::size_t i = 0; i < unit.size(); ++i) {
      const Point middle = (unit[i] + unit[(i + 1) % unit.size()]) * 0.5;
      finer.push_back(unit[i]);
      finer.push_back(middle * (1.0 / Distance({}, middle)));
    }
    unit = std::move(finer);
  }
  for (Point& corner : unit) {
    corner = center + corner * radius;
  }
  return unit;
}

std::vector<Polygon> StrokeOutline(absl::Span<const Point> line, double width) {
  std::vector<Polygon> outline;
  const double half = width / 2;
  for (std::size_t i = 0; i < line.size(); ++i) {
    outline.push_back(DiscOutline(line[i], half));
    if (i + 1 == line.size() || line[i] == line[i + 1]) {
      continue;
    }
    const Point way = line[i + 1] - line[i];
    const double scale = half / Distance(line[i], line[i + 1]);
    const Point aside = {-way.y * scale, way.x * scale};
    outline.push_back({line[i] - aside, line[i + 1] - aside, line[i + 1] + aside, line[i] + aside});
  }
  return outline;
}

std::vector<std::vector<Point>> Dashes(absl::Span<const Point> line, double on, double off) {
  std::vector<std::vector<Point>> dashes;
  bool is_on = true;
  double left = on;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const double length = Distance(line[i], line[i + 1]);
    for (double done = 0; done < length;) {
      const double step = std::min(left, length - done);
      const auto at = [&](double way) { return line[i] + (line[i + 1] - line[i]) * (way / length); };
      if (is_on) {
        if (done > 0 || i == 0 || left == on) {
          dashes.push_back({at(done)});
        }
        dashes.back().push_back(at(done + step));
      }
      done += step;
      left -= step;
      if (left <= 0) {
        is_on = !is_on;
        left = is_on ? on : off;
      }
    }
  }
  return dashes;
}

Point Tiling::PlaneAt(Point point) const {
  const Point way = point - zero;
  const double area = x_step.x * y_step.y - x_step.y * y_step.x;
  return {(way.x * y_step.y - way.y * y_step.x) / area, (x_step.x * way.y - x_step.y * way.x) / area};
}

std::vector<Point> Tiling::BentLine(int from_x, int from_y, int to_x, int to_y) const {
  const int dx = to_x - from_x;
  const int dy = to_y - from_y;
  const int diagonal = std::min(std::abs(dx), std::abs(dy));
  std::vector<Point> line = {At(from_x, from_y)};
  if (diagonal > 0 && std::abs(dx) != std::abs(dy)) {
    line.push_back(At(from_x + (dx > 0 ? diagonal : -diagonal), from_y + (dy > 0 ? diagonal : -diagonal)));
  }
  line.push_back(At(to_x, to_y));
  return line;
}

Polygon Tiling::OutlineOf(double x, double y, double inset) const {
  const Point center = At(x, y);
  Polygon corners;
  if (hexagons) {
    const Point a = x_step;
    const Point b = y_step;
    const Point neighbours[] = {a, b, b - a, a * -1, b * -1, a - b};
    for (int i = 0; i < 6; ++i) {
      corners.push_back((neighbours[i] + neighbours[(i + 1) % 6]) * (1.0 / 3));
    }
  } else {
    const Point half_x = x_step * 0.5;
    const Point half_y = y_step * 0.5;
    corners = {half_x * -1 - half_y, half_x - half_y, half_x + half_y, half_y - half_x};
  }
  const double shrink = std::max(0.0, 1.0 - 2 * inset / CellPixels());
  for (Point& corner : corners) {
    corner = center + corner * shrink;
  }
  return corners;
}

}  // namespace waystar::picture
