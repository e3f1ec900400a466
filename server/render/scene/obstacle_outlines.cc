#include "server/render/scene/obstacle_outlines.h"

#include <cstddef>
#include <vector>

#include "server/core/elements/obstacle_table.h"
#include "server/render/canvas/geometry.h"
#include "server/render/scene/theme.h"

namespace waystar::core {
namespace {

constexpr std::size_t kMaxOutlines = 1000;

picture::Color OutlineColor(const ObstacleEffect& effect) {
  if (effect.kind == ObstacleEffect::Kind::kMultiplyCost) {
    return theme::kFactor;
  }
  return effect.amount < 0 ? theme::kCheaper : theme::kDearer;
}

class Outliner {
 public:
  Outliner(const Layout& layout, Scene& scene) : layout_(layout), tiling_(layout.tiling), scene_(scene) {}

  bool is_full() const { return outlines_ >= kMaxOutlines; }

  void Add(const Obstacle& obstacle) {
    const picture::Color color = OutlineColor(obstacle.effect);
    for (const Rectangle& part : obstacle.shape.rectangles) {
      const double left = part.x - 0.5;
      const double top = part.y - 0.5;
      const double right = left + part.width;
      const double bottom = top + part.height;
      AddOutline({tiling_.At(left, top), tiling_.At(right, top), tiling_.At(right, bottom),
                  tiling_.At(left, bottom)},
                 color);
    }
    // A disc covers cells by their centres.
    constexpr double kRim = 0.3;
    for (const Disc& disc : obstacle.shape.discs) {
      AddOutline(picture::DiscOutline(tiling_.At(disc.center.x, disc.center.y),
                                      (disc.radius + kRim) * tiling_.CellPixels()),
                 color);
    }
    for (const Polygon& polygon : obstacle.shape.polygons) {
      std::vector<picture::Point> corners;
      for (const Point& vertex : polygon.vertices) {
        corners.push_back(tiling_.At(vertex.x, vertex.y));
      }
      AddOutline(corners, color);
    }
  }

 private:
  // Joins consecutive sides into one line, so that dashes continue around corners.
  void AddOutline(const std::vector<picture::Point>& corners, picture::Color color) {
    if (is_full()) {
      return;
    }
    ++outlines_;
    std::vector<picture::Point> line;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const auto side = picture::ClipTo(layout_.plot, corners[i], corners[(i + 1) % corners.size()]);
      if (!side.has_value()) {
        continue;
      }
      if (!line.empty() && line.back() != side->first) {
        AddLine(line, color);
        line.clear();
      }
      if (line.empty()) {
        line.push_back(side->first);
      }
      line.push_back(side->second);
    }
    AddLine(line, color);
  }

  void AddLine(const std::vector<picture::Point>& line, picture::Color color) {
    if (!line.empty()) {
      scene_.AddLine(line, 1.5, {color}, 0, 5);
    }
  }

  const Layout& layout_;
  const picture::Tiling& tiling_;
  Scene& scene_;
  std::size_t outlines_ = 0;
};

}  // namespace

void AddObstacleOutlines(const GridMap& map, const Rectangle& region, const Layout& layout, Scene& scene) {
  if (map.obstacles().cost_obstacles() == 0) {
    return;
  }
  Outliner outliner(layout, scene);
  for (const Obstacle* obstacle : map.obstacles().Overlapping(region)) {
    if (outliner.is_full()) {
      break;
    }
    if (obstacle->effect.kind != ObstacleEffect::Kind::kBlock) {
      outliner.Add(*obstacle);
    }
  }
}

}  // namespace waystar::core
