#include "server/render/scene/mesh_marks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "server/base/status_macros.h"
#include "server/core/search/recorder.h"
#include "server/render/canvas/canvas.h"
#include "server/render/scene/query_marks.h"
#include "server/render/scene/theme.h"

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
      MarkGround(points, DigitOf(share));
    } else {
      scene_.AddArea(std::move(points), {picture::SearchColor(share), kSeenOpacity});
    }
  }

  void AddEdge(const TracedInterval& interval, bool is_expanded) {
    scene_.AddLineIn(layout_.plot, projection_.At(interval.left), projection_.At(interval.right),
                     is_expanded ? 1.0 : 2.5,
                     is_expanded ? picture::Paint{picture::kInk, 0.45} : picture::Paint{picture::kOpenColor});
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
        char& shown = ground.symbols[static_cast<std::size_t>(row) * static_cast<std::size_t>(width) +
                                     static_cast<std::size_t>(column)];
        // The middle of a character may lie off the mesh.
        if (shown != ' ' && IsInside(points, {ground.x + column + 0.5, ground.y + row + 0.5})) {
          shown = symbol;
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

void AddMeshSearchToLegend(const IntervalRecorder& search, std::vector<LegendEntry>& legend) {
  if (!search.events().empty()) {
    AddSearchToLegend(DearestOf(search), 'o', legend);
  }
}

}  // namespace waystar::core
