#include "server/core/render/mesh_scene.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/render/query_marks.h"
#include "server/core/render/theme.h"
#include "server/core/render/world_plot.h"
#include "server/core/render/world_projection.h"
#include "server/core/search/interruption.h"
#include "server/picture/color.h"

namespace waystar::core {
namespace {

constexpr picture::Color kLow = picture::Rgb(0x9FB8A4);
constexpr picture::Color kHigh = picture::Rgb(0xE7F0DC);

Box PlanOf(const MeshBounds& bounds) { return {bounds.low.x, bounds.low.y, bounds.high.x, bounds.high.y}; }

class MeshSceneMaker {
 public:
  MeshSceneMaker(const NavMesh& mesh, const Box& area, const RenderOptions& options,
                 const MeshQueryMarks* query, const Budget& budget)
      : mesh_(mesh), area_(area), options_(options), query_(query), stop_(budget) {}

  absl::StatusOr<Scene> Make() {
    WAYSTAR_RETURN_IF_ERROR(Gather());
    scene_.legend = Legend();
    scene_.area = area_;
    scene_.region = WholeUnits(area_);
    layout_ = LayOut(ViewOfWorld(area_, options_.is_text), options_, scene_);
    projection_ = {layout_.tiling, layout_.z_step};
    if (options_.is_text) {
      WAYSTAR_RETURN_IF_ERROR(AddGround());
    } else {
      AddPolygons();
    }
    AddScaleLines(area_, layout_, options_, scene_);
    AddQuery();
    CoverMargins(layout_, options_, scene_);
    AddWorldNumbers(area_, layout_, options_, scene_);
    AddFurniture(layout_, options_, scene_);
    return std::move(scene_);
  }

 private:
  struct DrawnPolygon {
    // The mean of its corners.
    double height = 0.0;
    PolygonNumber number = 0;
  };

  // The polygons in the area, the lowest first.
  absl::Status Gather() {
    for (PolygonNumber polygon = 0; polygon < mesh_.polygon_count(); ++polygon) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(&stop_, polygon));
      MeshBounds bounds;
      double height = 0.0;
      const absl::Span<const std::uint32_t> vertices = mesh_.VerticesOf(polygon);
      for (const std::uint32_t vertex : vertices) {
        bounds.Add(mesh_.VertexAt(vertex));
        height += mesh_.VertexAt(vertex).z;
      }
      if (!area_.Overlaps(PlanOf(bounds))) {
        continue;
      }
      polygons_.push_back({height / static_cast<double>(vertices.size()), polygon});
      if (polygons_.size() > kMaxDrawnPolygons) {
        return MakeError(ErrorReason::kRegionTooLarge, "region",
                         absl::StrCat("there are more than ", kMaxDrawnPolygons,
                                      " polygons in the region to draw: ask for a smaller one"));
      }
    }
    std::ranges::sort(polygons_, [](const DrawnPolygon& a, const DrawnPolygon& b) {
      return std::pair(a.height, a.number) < std::pair(b.height, b.number);
    });
    return absl::OkStatus();
  }

  bool IsFlat() const { return polygons_.empty() || polygons_.front().height == polygons_.back().height; }

  std::vector<LegendEntry> Legend() const {
    using Sign = LegendEntry::Sign;
    std::vector<LegendEntry> legend;
    if (!polygons_.empty()) {
      legend.push_back(
          {.color = ColorAt(polygons_.front().height),
           .symbol = '.',
           .text = IsFlat() ? "polygon" : absl::StrCat("polygon, lowest at ", polygons_.front().height)});
      if (!IsFlat()) {
        legend.push_back({.color = ColorAt(polygons_.back().height),
                          .text = absl::StrCat("highest at ", polygons_.back().height)});
      }
      legend.push_back({.sign = Sign::kLine, .color = theme::kInk, .text = "wall"});
    }
    if (query_ != nullptr) {
      AddToLegend(query_->start.has_value(), query_->goals.size(), !query_->way.empty(), legend);
    }
    return legend;
  }

  picture::Color ColorAt(double height) const {
    if (IsFlat()) {
      return kHigh;
    }
    const double low = polygons_.front().height;
    return picture::Mix(kLow, kHigh, (height - low) / (polygons_.back().height - low));
  }

  picture::Point At(const WorldPoint& point) const { return projection_.At(point); }

  // Polygons are too small for characters, so each character tells of what lies below its middle.
  absl::Status AddGround() {
    const int width = static_cast<int>(layout_.plot.width);
    const int height = static_cast<int>(layout_.plot.height);
    SceneGround ground{.x = static_cast<int>(layout_.plot.x),
                       .y = static_cast<int>(layout_.plot.y),
                       .image = picture::Canvas(width, height, theme::kPaper)};
    for (int row = 0; row < height; ++row) {
      WAYSTAR_RETURN_IF_ERROR(stop_.Check());
      for (int column = 0; column < width; ++column) {
        const picture::Point at =
            layout_.tiling.PlaneAt({layout_.plot.x + column + 0.5, layout_.plot.y + row + 0.5});
        ground.symbols.push_back(IsOnMesh({at.x, at.y, 0.0}) ? '.' : ' ');
      }
    }
    scene_.ground.push_back(std::move(ground));
    return absl::OkStatus();
  }

  bool IsOnMesh(const WorldPoint& point) const {
    return mesh_
        .FindNearest({.position = point, .radius = 0.0, .height = std::numeric_limits<double>::infinity()})
        .has_value();
  }

  void AddPolygons() {
    const double thin = polygons_.size() > 4000 ? 0.4 : polygons_.size() > 600 ? 0.7 : 1.0;
    for (const DrawnPolygon& polygon : polygons_) {
      const absl::Span<const std::uint32_t> vertices = mesh_.VerticesOf(polygon.number);
      const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon.number);
      std::vector<picture::Point> points;
      points.reserve(vertices.size());
      for (const std::uint32_t vertex : vertices) {
        points.push_back(At(mesh_.VertexAt(vertex)));
      }
      scene_.marks.push_back({.points = points, .paint = {ColorAt(polygon.height)}});
      for (std::size_t i = 0; i < points.size(); ++i) {
        const bool is_wall = neighbours[i] == kNoPolygon;
        if (const auto shown =
                picture::ClipTo(layout_.plot, points[i], points[i + 1 < points.size() ? i + 1 : 0])) {
          scene_.AddLine({shown->first, shown->second}, is_wall ? 2.5 * thin : thin,
                         is_wall ? picture::Paint{theme::kInk} : picture::Paint{theme::kGridLine, 0.7});
        }
      }
    }
  }

  void AddQuery() {
    if (query_ == nullptr) {
      return;
    }
    const MarkSizes sizes = SizesInWorld(layout_, options_.is_text);
    for (std::size_t i = 0; i + 1 < query_->way.size(); ++i) {
      if (const auto shown = picture::ClipTo(layout_.plot, At(query_->way[i]), At(query_->way[i + 1]))) {
        AddPathLine({shown->first, shown->second}, sizes, scene_);
      }
    }
    for (const WorldPoint& goal : query_->goals) {
      AddGoal(At(goal), sizes, scene_);
    }
    if (query_->start.has_value()) {
      AddStart(At(*query_->start), sizes, scene_);
    }
  }

  const NavMesh& mesh_;
  const Box area_;
  const RenderOptions& options_;
  const MeshQueryMarks* const query_;
  const BudgetStop stop_;
  std::vector<DrawnPolygon> polygons_;
  Layout layout_;
  WorldProjection projection_;
  Scene scene_;
};

}  // namespace

absl::StatusOr<Scene> MakeMeshScene(const NavMesh& mesh, const std::optional<Box>& area,
                                    const RenderOptions& options, const MeshQueryMarks* query,
                                    const Budget& budget) {
  const Box shown = area.has_value() ? *area : WithMargin(PlanOf(mesh.bounds()));
  return MeshSceneMaker(mesh, shown, options, query, budget).Make();
}

}  // namespace waystar::core
