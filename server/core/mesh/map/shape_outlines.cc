#include "server/core/mesh/map/shape_outlines.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/mesh/map/plan.h"

namespace waystar::core {
namespace {

// Cosines of the first quarter turn, in kDiscCorners steps per turn. Constants, because library functions
// differ between machines.
constexpr std::array<double, kDiscCorners / 4 + 1> kCosines = {1.0, 0.9238795325112867, 0.7071067811865476,
                                                               0.3826834323650898, 0.0};
// Distance of the corners of a regular polygon circumscribed around a circle of radius 1.
constexpr double kCornerRadius = 1.0195911582083184;

// Returns the corners of a regular polygon circumscribed around a circle at the origin, counterclockwise.
std::array<Point, kDiscCorners> CornersOfDisc(double radius) {
  constexpr std::size_t kQuarter = kDiscCorners / 4;
  std::array<Point, kDiscCorners> corners;
  for (std::size_t step = 0; step < kQuarter; ++step) {
    const double along = radius * kCornerRadius * kCosines[step];
    const double across = radius * kCornerRadius * kCosines[kQuarter - step];
    corners[step] = {along, across};
    corners[step + kQuarter] = {-across, along};
    corners[step + 2 * kQuarter] = {-along, -across};
    corners[step + 3 * kQuarter] = {across, -along};
  }
  return corners;
}

Int128 TwiceAreaOf(absl::Span<const WorldPoint> loop) {
  return TwiceArea(loop.size(), [&](std::size_t k) { return ToFixed(loop[k]); });
}

int Sign(Int128 value) { return (value > 0 ? 1 : 0) - (value < 0 ? 1 : 0); }

// Returns true if two segments have a point in common.
bool Touch(const FixedPoint& a, const FixedPoint& b, const FixedPoint& c, const FixedPoint& d) {
  if (std::max(a.x, b.x) < std::min(c.x, d.x) || std::max(c.x, d.x) < std::min(a.x, b.x) ||
      std::max(a.y, b.y) < std::min(c.y, d.y) || std::max(c.y, d.y) < std::min(a.y, b.y)) {
    return false;
  }
  return Sign(SideOf(a, b, c)) * Sign(SideOf(a, b, d)) <= 0 &&
         Sign(SideOf(c, d, a)) * Sign(SideOf(c, d, b)) <= 0;
}

// Returns true if the segments b-a and b-c, which share b, lead in the same direction.
bool TurnsBack(const FixedPoint& a, const FixedPoint& b, const FixedPoint& c) {
  return SideOf(a, b, c) == 0 && Int128{a.x - b.x} * (c.x - b.x) + Int128{a.y - b.y} * (c.y - b.y) > 0;
}

absl::StatusOr<bool> IsSimple(absl::Span<const FixedPoint> loop, const StopCheck* stop) {
  for (std::size_t i = 0; i < loop.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
    const FixedPoint& a = loop[i];
    const FixedPoint& b = loop[(i + 1) % loop.size()];
    if (TurnsBack(a, b, loop[(i + 2) % loop.size()])) {
      return false;
    }
    for (std::size_t j = i + 2; j < loop.size() && (i > 0 || j + 1 < loop.size()); ++j) {
      if (Touch(a, b, loop[j], loop[(j + 1) % loop.size()])) {
        return false;
      }
    }
  }
  return true;
}

class Outliner {
 public:
  Outliner(double widening, const StopCheck* stop) : widening_(widening), stop_(stop) {}

  absl::Status Add(const Shape& shape) {
    for (const Cell& cell : shape.cells) {
      AddBox({cell.x, cell.y, 1, 1});
    }
    for (const Rectangle& rectangle : shape.rectangles) {
      AddBox(rectangle);
    }
    for (const Disc& disc : shape.discs) {
      AddRound(disc.center, std::max(disc.radius, kLeastOutlineRadius) + widening_);
    }
    for (std::size_t i = 0; i < shape.polygons.size(); ++i) {
      if (const absl::Status status = AddPolygon(shape.polygons[i]); !status.ok()) {
        return ErrorReasonOf(status).empty() ? status
                                             : WithFieldPrefix(status, absl::StrCat(".polygons[", i, "]"));
      }
    }
    for (const Line& line : shape.lines) {
      AddLine(line);
    }
    return absl::OkStatus();
  }

  std::vector<ConvexOutline> Take() { return std::move(outlines_); }

 private:
  // Rounds the corners, and drops the outline if it then has no area.
  void AddConvex(ConvexOutline outline) {
    for (WorldPoint& corner : outline) {
      corner = Rounded(corner);
    }
    if (TwiceAreaOf(outline) > 0) {
      outlines_.push_back(std::move(outline));
    }
  }

  // Widens the outline, and adds it. The result is the Minkowski sum with a disc of `widening_`.
  void AddWidened(ConvexOutline outline) {
    if (widening_ == 0.0) {
      AddConvex(std::move(outline));
      return;
    }
    const std::array<Point, kDiscCorners> disc = CornersOfDisc(widening_);
    // Start at the corner furthest to the right of the last edge.
    const auto right_of = [&](const Point& corner, const WorldPoint& from, const WorldPoint& to) {
      return (to.y - from.y) * corner.x - (to.x - from.x) * corner.y;
    };
    std::size_t at = 0;
    for (std::size_t k = 1; k < kDiscCorners; ++k) {
      if (right_of(disc[k], outline.back(), outline.front()) >
          right_of(disc[at], outline.back(), outline.front())) {
        at = k;
      }
    }
    ConvexOutline sum;
    for (std::size_t i = 0; i < outline.size(); ++i) {
      const WorldPoint& from = outline[i];
      const WorldPoint& to = outline[i + 1 < outline.size() ? i + 1 : 0];
      sum.push_back({from.x + disc[at].x, from.y + disc[at].y});
      for (std::size_t next = (at + 1) % kDiscCorners;
           right_of(disc[next], from, to) > right_of(disc[at], from, to); next = (at + 1) % kDiscCorners) {
        at = next;
        sum.push_back({from.x + disc[at].x, from.y + disc[at].y});
      }
    }
    AddConvex(std::move(sum));
  }

  void AddBox(const Rectangle& box) {
    const double right = double{1.0} * box.x + box.width;
    const double top = double{1.0} * box.y + box.height;
    const double x = box.x;
    const double y = box.y;
    AddWidened({{x, y}, {right, y}, {right, top}, {x, top}});
  }

  void AddRound(const Point& center, double radius) {
    ConvexOutline outline;
    outline.reserve(kDiscCorners);
    for (const Point& corner : CornersOfDisc(radius)) {
      outline.push_back({center.x + corner.x, center.y + corner.y});
    }
    AddConvex(std::move(outline));
  }

  absl::Status AddPolygon(const Polygon& polygon) {
    std::vector<WorldPoint> loop;
    std::vector<FixedPoint> points;
    for (const Point& vertex : polygon.vertices) {
      const WorldPoint point = Rounded(WorldPoint{vertex.x, vertex.y, 0.0});
      if (loop.empty() || !(point == loop.back())) {
        loop.push_back(point);
      }
    }
    if (loop.size() > 1 && loop.front() == loop.back()) {
      loop.pop_back();
    }
    if (TwiceAreaOf(loop) < 0) {
      std::reverse(loop.begin(), loop.end());
    }
    points.reserve(loop.size());
    for (const WorldPoint& point : loop) {
      points.push_back(ToFixed(point));
    }
    WAYSTAR_ASSIGN_OR_RETURN(const bool is_simple, IsSimple(points, stop_));
    if (!is_simple) {
      return MakeError(ErrorReason::kBadPolygon, "", "the polygon touches or crosses itself");
    }
    bool is_convex = true;
    for (std::size_t k = 0; k < points.size(); ++k) {
      is_convex &= SideOf(points[k], points[(k + 1) % points.size()], points[(k + 2) % points.size()]) >= 0;
    }
    if (is_convex) {
      AddWidened(std::move(loop));
      return absl::OkStatus();
    }
    WAYSTAR_ASSIGN_OR_RETURN(const std::vector<LoopTriangle> triangles, TriangulateLoop(points, stop_));
    for (const LoopTriangle& triangle : triangles) {
      AddWidened({loop[triangle[0]], loop[triangle[1]], loop[triangle[2]]});
    }
    return absl::OkStatus();
  }

  void AddLine(const Line& line) {
    const double radius = std::max(line.width / 2.0, kLeastOutlineRadius) + widening_;
    const double dx = line.end.x - line.start.x;
    const double dy = line.end.y - line.start.y;
    const double length = std::sqrt(dx * dx + dy * dy);
    if (length > 0.0) {
      const double x = dx / length * radius;
      const double y = dy / length * radius;
      AddConvex({{line.start.x + y, line.start.y - x},
                 {line.end.x + y, line.end.y - x},
                 {line.end.x - y, line.end.y + x},
                 {line.start.x - y, line.start.y + x}});
    }
    if (line.width > 0.0 || widening_ > 0.0 || length == 0.0) {
      AddRound(line.start, radius);
      AddRound(line.end, radius);
    }
  }

  const double widening_;
  const StopCheck* stop_;
  std::vector<ConvexOutline> outlines_;
};

}  // namespace

absl::StatusOr<std::vector<ConvexOutline>> OutlinesOf(const Shape& shape, double widening,
                                                      const StopCheck* stop) {
  Outliner outliner(widening, stop);
  WAYSTAR_RETURN_IF_ERROR(outliner.Add(shape));
  return outliner.Take();
}

namespace {

class EarClipper {
 public:
  EarClipper(absl::Span<const FixedPoint> loop, const StopCheck* stop, std::vector<LoopTriangle>* flat)
      : loop_(loop),
        stop_(stop),
        flat_(flat),
        next_(loop.size()),
        previous_(loop.size()),
        left_(loop.size()) {
    for (std::uint32_t i = 0; i < loop.size(); ++i) {
      next_[i] = i + 1 < loop.size() ? i + 1 : 0;
      previous_[next_[i]] = i;
    }
  }

  absl::StatusOr<std::vector<LoopTriangle>> Clip() {
    std::uint32_t corner = 0;
    while (left_ >= 3) {
      WAYSTAR_ASSIGN_OR_RETURN(corner, FindCorner(corner));
      if (corner == kNone) {
        break;
      }
      const LoopTriangle triangle = {previous_[corner], corner, next_[corner]};
      if (SideAt(corner) > 0) {
        triangles_.push_back(triangle);
      } else if (flat_ != nullptr) {
        flat_->push_back(triangle);
      }
      corner = Remove(corner);
    }
    return std::move(triangles_);
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;

  Int128 SideAt(std::uint32_t tip) const {
    return SideOf(loop_[previous_[tip]], loop_[tip], loop_[next_[tip]]);
  }

  // Returns the corner to cut off, searching from `from`: an ear; else, as in a polygon that touches itself,
  // a corner without area; else any convex corner. If all corners are clockwise, returns the one of the least
  // area if flat triangles are collected, else kNone.
  absl::StatusOr<std::uint32_t> FindCorner(std::uint32_t from) {
    std::uint32_t flat = kNone;
    std::uint32_t convex = kNone;
    std::uint32_t best = kNone;
    Int128 best_side = 0;
    std::uint32_t corner = from;
    for (std::size_t i = 0; i < left_; ++i, corner = next_[corner]) {
      WAYSTAR_ASSIGN_OR_RETURN(const bool is_ear, IsEar(corner));
      if (is_ear) {
        return corner;
      }
      const Int128 side = SideAt(corner);
      flat = flat == kNone && side == 0 ? corner : flat;
      convex = convex == kNone && side > 0 ? corner : convex;
      if (best == kNone || side > best_side) {
        best = corner;
        best_side = side;
      }
    }
    if (flat != kNone || convex != kNone) {
      return flat != kNone ? flat : convex;
    }
    return flat_ != nullptr ? best : kNone;
  }

  // Returns true if the triangle at the corner is an ear: it has an area and contains no other corner.
  absl::StatusOr<bool> IsEar(std::uint32_t tip) {
    if (SideAt(tip) <= 0) {
      return false;
    }
    const FixedPoint& a = loop_[previous_[tip]];
    const FixedPoint& b = loop_[tip];
    const FixedPoint& c = loop_[next_[tip]];
    const auto [low_x, high_x] = std::minmax({a.x, b.x, c.x});
    const auto [low_y, high_y] = std::minmax({a.y, b.y, c.y});
    for (std::uint32_t i = next_[next_[tip]]; i != previous_[tip]; i = next_[i]) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, ++steps_));
      const FixedPoint& p = loop_[i];
      if (p.x < low_x || p.x > high_x || p.y < low_y || p.y > high_y || p == a || p == b || p == c) {
        continue;
      }
      if (SideOf(a, b, p) >= 0 && SideOf(b, c, p) >= 0 && SideOf(c, a, p) >= 0) {
        return false;
      }
    }
    return true;
  }

  // Returns the previous corner, which is often the next ear.
  std::uint32_t Remove(std::uint32_t corner) {
    next_[previous_[corner]] = next_[corner];
    previous_[next_[corner]] = previous_[corner];
    --left_;
    return previous_[corner];
  }

  absl::Span<const FixedPoint> loop_;
  const StopCheck* stop_;
  // Null if flat triangles are not collected.
  std::vector<LoopTriangle>* flat_;
  // Ring of the remaining corners.
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> previous_;
  std::size_t left_;
  std::size_t steps_ = 0;
  std::vector<LoopTriangle> triangles_;
};

}  // namespace

absl::StatusOr<std::vector<LoopTriangle>> TriangulateLoop(absl::Span<const FixedPoint> loop,
                                                          const StopCheck* stop,
                                                          std::vector<LoopTriangle>* flat) {
  return EarClipper(loop, stop, flat).Clip();
}

}  // namespace waystar::core
