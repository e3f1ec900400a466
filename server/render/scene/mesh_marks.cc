#include "server/render/scene/mesh_marks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "server/base/error.h"
#include "server/core/search/recorder.h"
#include "server/render/canvas/canvas.h"
#include "server/render/scene/query_marks.h"

namespace waystar::core {
namespace {

constexpr std::size_t kMeshEventsBetweenChecks = 1 << 8;
constexpr double kSeenOpacity = 0.82;

picture::Point PlanOf(const WorldPoint& point) { return {point.x, point.y}; }

WorldPoint Between(const WorldPoint& a, const WorldPoint& b, double share) {
  return {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), a.z + share * (b.z - a.z)};
}

// Returns the path cost to the middle of an interval.
double CostTo(const TracedInterval& interval) {
  const WorldPoint middle = Between(interval.left, interval.right, 0.5);
  return interval.g + picture::Distance(PlanOf(interval.root), PlanOf(middle));
}

// Returns the highest cost of an expanded interval.
double DearestOf(const IntervalRecorder& search) {
  double dearest = 0.0;
  for (const IntervalEvent& event : search.events()) {
    if (event.kind == SearchEvent::Kind::kExpanded) {
      dearest = std::max(dearest, CostTo(search.intervals()[event.interval]));
    }
  }
  return dearest;
}

// Returns the corners of the area seen through the parent interval, or from the root, up to this interval.
// The area lies in one polygon.
std::vector<WorldPoint> SeenBefore(const TracedInterval& interval, const IntervalRecorder& search) {
  if (interval.parent != MeshInterval::kNoParent) {
    const TracedInterval& parent = search.intervals()[interval.parent];
    if (parent.root == interval.root) {
      const auto crossing = [&](const WorldPoint& end) {
        const double share = picture::ShareAtCrossing(PlanOf(interval.root), PlanOf(end), PlanOf(parent.left),
                                                      PlanOf(parent.right));
        return Between(parent.left, parent.right, share);
      };
      return {crossing(interval.right), interval.right, interval.left, crossing(interval.left)};
    }
  }
  return {interval.root, interval.right, interval.left};
}

// Returns true if the convex polygon contains the point, including its boundary.
bool IsInside(const picture::Polygon& polygon, picture::Point point) {
  bool is_left = false;
  bool is_right = false;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const picture::Point side = polygon[i + 1 < polygon.size() ? i + 1 : 0] - polygon[i];
    const picture::Point to = point - polygon[i];
    const double turn = side.x * to.y - side.y * to.x;
    is_left |= turn > 0;
    is_right |= turn < 0;
  }
  return !(is_left && is_right);
}

class MeshSearchDrawer {
 public:
  MeshSearchDrawer(const IntervalRecorder& search, const WorldProjection& projection, const Layout& layout,
                   bool is_text, Scene& scene)
      : search_(search),
        projection_(projection),
        layout_(layout),
        is_text_(is_text),
        scene_(scene),
        dearest_(DearestOf(search)) {}

  absl::Status Draw(const StopCheck& stop) {
    std::vector<bool> is_expanded(search_.intervals().size(), false);
    std::size_t seen = 0;
    for (const IntervalEvent& event : search_.events()) {
      if (seen++ % kMeshEventsBetweenChecks == 0) {
        WAYSTAR_RETURN_IF_ERROR(stop.Check());
      }
      if (event.kind == SearchEvent::Kind::kExpanded) {
        is_expanded[event.interval] = true;
        AddExpanded(search_.intervals()[event.interval]);
      }
    }
    for (std::size_t i = 0; i < is_expanded.size(); ++i) {
      if (i % kMeshEventsBetweenChecks == 0) {
        WAYSTAR_RETURN_IF_ERROR(stop.Check());
      }
      const TracedInterval& interval = search_.intervals()[i];
      if (is_text_ && !is_expanded[i]) {
        MarkGround(Between(interval.left, interval.right, 0.5));
      } else if (!is_text_) {
        AddEdge(interval, is_expanded[i]);
      }
    }
    return absl::OkStatus();
  }

 private:
  void AddExpanded(const TracedInterval& interval) {
    const double share = dearest_ > 0 ? CostTo(interval) / dearest_ : 0.0;
    picture::Polygon points;
    for (const WorldPoint& corner : SeenBefore(interval, search_)) {
      points.push_back(projection_.At(corner));
    }
    if (is_text_) {
      MarkGround(points, picture::DigitOf(share));
    } else {
      scene_.Fill(points, {picture::SearchColor(share), kSeenOpacity});
    }
  }

  void AddEdge(const TracedInterval& interval, bool is_expanded) {
    const picture::Point line[] = {projection_.At(interval.left), projection_.At(interval.right)};
    scene_.StrokeIn(
        layout_.plot, line,
        {is_expanded ? picture::Paint{scene_.palette.shade, 0.45} : picture::Paint{scene_.palette.open},
         is_expanded ? 1.0 : 2.5});
  }

  void MarkGround(const picture::Polygon& points, char symbol) {
    SceneGround& ground = scene_.ground.front();
    picture::Point low = points.front();
    picture::Point high = points.front();
    for (const picture::Point& point : points) {
      low = {std::min(low.x, point.x), std::min(low.y, point.y)};
      high = {std::max(high.x, point.x), std::max(high.y, point.y)};
    }
    const auto first = [](double pixel, int begin) {
      return std::max(0, static_cast<int>(std::floor(std::max(pixel - begin, -1.0))));
    };
    const auto last = [](double pixel, int begin, int size) {
      return static_cast<int>(std::ceil(std::min(pixel - begin, static_cast<double>(size))));
    };
    const int width = ground.image.width();
    for (int row = first(low.y, ground.y); row < last(high.y, ground.y, ground.image.height()); ++row) {
      for (int column = first(low.x, ground.x); column < last(high.x, ground.x, width); ++column) {
        // The middle of a character may lie off the mesh.
        if (ground.SymbolAt(column, row) != ' ' &&
            IsInside(points, {ground.x + column + 0.5, ground.y + row + 0.5})) {
          ground.SymbolAt(column, row) = symbol;
        }
      }
    }
  }

  void MarkGround(const WorldPoint& point) {
    const picture::Point at = projection_.At(point);
    const picture::Box box{std::floor(at.x), std::floor(at.y), 1.0, 1.0};
    MarkGround(box.corners(), 'o');
  }

  const IntervalRecorder& search_;
  const WorldProjection& projection_;
  const Layout& layout_;
  const bool is_text_;
  Scene& scene_;
  const double dearest_;
};

}  // namespace

absl::Status AddMeshSearch(const IntervalRecorder& search, const WorldProjection& projection,
                           const Layout& layout, bool is_text, const StopCheck& stop, Scene& scene) {
  return MeshSearchDrawer(search, projection, layout, is_text, scene).Draw(stop);
}

void AddMeshSearchToLegend(const IntervalRecorder& search, Scene& scene) {
  if (!search.events().empty()) {
    AddSearchToLegend(DearestOf(search), picture::LegendEntry::Sign::kLine, 'o', scene);
  }
}

namespace {

using Part = std::pair<double, double>;

// A point on the picture, with its height.
struct Seen {
  picture::Point at;
  double z = 0.0;
};

// Positive if c lies on one side of the line from a to b, negative on the other.
double Turn(picture::Point a, picture::Point b, picture::Point c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Clips `part` to where the linear function with these values at 0 and 1 is positive.
void KeepPositive(double at_begin, double at_end, Part& part) {
  if (at_begin <= 0 && at_end <= 0) {
    part.second = part.first;
  } else if (at_begin <= 0) {
    part.first = std::max(part.first, at_begin / (at_begin - at_end));
  } else if (at_end <= 0) {
    part.second = std::min(part.second, at_begin / (at_begin - at_end));
  }
}

// Returns the part of a line that a triangle hides.
std::optional<Part> HiddenBy(const std::array<Seen, 3>& triangle, const Seen& from, const Seen& to,
                             double slack) {
  const double area = Turn(triangle[0].at, triangle[1].at, triangle[2].at);
  if (area == 0) {
    return std::nullopt;
  }
  Part part(0.0, 1.0);
  double z_from = 0.0;
  double z_to = 0.0;
  for (std::size_t i = 0; i < triangle.size() && part.first < part.second; ++i) {
    const picture::Point a = triangle[(i + 1) % 3].at;
    const picture::Point b = triangle[(i + 2) % 3].at;
    const double weight_from = Turn(a, b, from.at) / area;
    const double weight_to = Turn(a, b, to.at) / area;
    KeepPositive(weight_from, weight_to, part);
    z_from += weight_from * triangle[i].z;
    z_to += weight_to * triangle[i].z;
  }
  KeepPositive(z_from - from.z - slack, z_to - to.z - slack, part);
  return part.first < part.second ? std::optional(part) : std::nullopt;
}

std::vector<Part> Joined(std::vector<Part> parts) {
  std::ranges::sort(parts);
  std::vector<Part> joined;
  for (const Part& part : parts) {
    // Adjacent triangles hide without a gap, up to rounding errors.
    constexpr double kGap = 1e-6;
    if (!joined.empty() && part.first <= joined.back().second + kGap) {
      joined.back().second = std::max(joined.back().second, part.second);
    } else {
      joined.push_back(part);
    }
  }
  return joined;
}

}  // namespace

MeshCover::MeshCover(const NavMesh& mesh, const WorldProjection& projection,
                     absl::Span<const PolygonNumber> polygons, double slack)
    : mesh_(mesh), projection_(projection), slack_(slack) {
  covers_.reserve(polygons.size());
  for (const PolygonNumber polygon : polygons) {
    const absl::Span<const std::uint32_t> vertices = mesh.VerticesOf(polygon);
    Cover cover{.polygon = polygon, .box = {}, .top = mesh.VertexAt(vertices.front()).z};
    for (const std::uint32_t vertex : vertices) {
      const picture::Point at = projection.At(mesh.VertexAt(vertex));
      cover.box = cover.box.And(Box::Around(at.x, at.y, 0));
      cover.top = std::max(cover.top, mesh.VertexAt(vertex).z);
    }
    covers_.push_back(cover);
  }
}

std::vector<Part> MeshCover::HiddenParts(const WorldPoint& from, const WorldPoint& to) const {
  const Seen begin{projection_.At(from), from.z};
  const Seen end{projection_.At(to), to.z};
  const Box box = Box::Around(begin.at.x, begin.at.y, 0).And(Box::Around(end.at.x, end.at.y, 0));
  const double low = std::min(from.z, to.z) + slack_;
  std::vector<Part> parts;
  for (const Cover& cover : covers_) {
    if (cover.top <= low || !cover.box.Overlaps(box)) {
      continue;
    }
    std::vector<Seen> corners;
    Seen middle;
    for (const std::uint32_t vertex : mesh_.VerticesOf(cover.polygon)) {
      corners.push_back({projection_.At(mesh_.VertexAt(vertex)), mesh_.VertexAt(vertex).z});
      middle = {middle.at + corners.back().at, middle.z + corners.back().z};
    }
    const double share = 1.0 / static_cast<double>(corners.size());
    middle = {middle.at * share, middle.z * share};
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Seen& next = corners[i + 1 < corners.size() ? i + 1 : 0];
      if (const auto part = HiddenBy({middle, corners[i], next}, begin, end, slack_)) {
        parts.push_back(*part);
      }
    }
  }
  return Joined(std::move(parts));
}

}  // namespace waystar::core
