#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/mesh/map/mesh_terrain.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/query/resolve.h"
#include "server/core/search/interruption.h"
#include "server/render/canvas/canvas.h"
#include "server/render/scene/map_scenes.h"
#include "server/render/scene/mesh_marks.h"
#include "server/render/scene/query_marks.h"
#include "server/render/scene/world_plot.h"

namespace waystar::core {
namespace {

// Lengths of a unit of y and of height in an oblique view. Their squares add up to 1, as in any parallel
// projection.
constexpr double kDepth = 0.6;
constexpr double kRise = 0.8;

Box PlanOf(const MeshBounds& bounds) { return {bounds.low.x, bounds.low.y, bounds.high.x, bounds.high.y}; }

// Returns the colours of terrains by area. Plain ground has none, nor has any terrain in text.
std::vector<std::optional<picture::Color>> ColorsOf(absl::Span<const MeshTerrain> terrains,
                                                    const RenderOptions& options) {
  const picture::Color ground =
      options.palette.ColorOf("ground", /*symbol=*/0, /*is_impassable=*/false, /*index=*/0);
  std::vector<std::optional<picture::Color>> colors(terrains.size());
  for (std::size_t area = 0; !options.is_text && area < terrains.size(); ++area) {
    const MeshTerrain& terrain = terrains[area];
    const bool is_walkable = absl::EqualsIgnoreCase(terrain.name, "walkable");
    const picture::Color color =
        options.palette.ColorOf(is_walkable ? "ground" : absl::string_view(terrain.name),
                                /*symbol=*/0, terrain.is_impassable, area);
    if ((color != ground || terrain.cost != 1.0) && terrain != DefaultMeshTerrain(area)) {
      colors[area] = color;
    }
  }
  return colors;
}

std::string EntryText(const MeshTerrain& terrain) {
  if (terrain.is_impassable) {
    return absl::StrCat(terrain.name, ", impassable");
  }
  return terrain.cost == 1.0 ? terrain.name : absl::StrCat(terrain.name, ", cost ", terrain.cost);
}

class MeshSceneMaker {
 public:
  MeshSceneMaker(const NavMesh& mesh, const MeshView& view, const RenderOptions& options,
                 const AnsweredQuery* query, const Budget& budget)
      : mesh_(mesh),
        view_(view),
        area_(view.area.has_value() ? *view.area : WithMargin(PlanOf(mesh.bounds()))),
        options_(options),
        terrain_colors_(ColorsOf(mesh.terrains(), options)),
        search_(query != nullptr && query->search != nullptr ? &query->search->intervals : nullptr),
        marks_(query == nullptr ? QueryMarks() : MarksOf(*query)),
        stop_(budget) {
    scene_.palette = options.palette;
  }

  absl::StatusOr<Scene> Make() {
    WAYSTAR_RETURN_IF_ERROR(Gather());
    AddLegend();
    scene_.area = area_;
    scene_.region = WholeUnits(area_);
    layout_ = LayOut(PlaneOf(), options_, scene_);
    projection_ = {layout_.tiling, layout_.z_step};
    // Numbers beside the picture refer to ground level.
    Layout ground = layout_;
    ground.tiling = projection_.PlanAt(shown_.low);
    if (options_.is_text) {
      WAYSTAR_RETURN_IF_ERROR(AddGround());
    } else {
      AddPolygons();
    }
    if (search_ != nullptr) {
      WAYSTAR_RETURN_IF_ERROR(AddMeshSearch(*search_, projection_, layout_, options_.is_text, stop_, scene_));
    }
    AddScaleLines(area_, ground, options_, scene_);
    if (!view_.is_oblique) {
      AddObstacles();
    }
    AddPortals();
    const picture::MarkSizes sizes = SizesInWorld(layout_, options_.is_text);
    WAYSTAR_RETURN_IF_ERROR(AddWay(sizes));
    AddEnds(
        marks_, sizes, [&](const WorldPoint& place) { return std::optional(At(OnSurface(place))); }, scene_);
    CoverMargins(layout_, options_, scene_);
    AddWorldNumbers(area_, ground, options_, scene_);
    AddFurniture(layout_, options_, scene_);
    return std::move(scene_);
  }

 private:
  struct DrawnPolygon {
    // Mean height of its corners.
    double height = 0.0;
    PolygonNumber number = 0;
  };

  // Collects the polygons in the area, lowest first.
  absl::Status Gather() {
    for (const PolygonNumber polygon : mesh_.Polygons()) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(&stop_, polygon));
      MeshBounds bounds;
      double height = 0.0;
      const absl::Span<const std::uint32_t> vertices = mesh_.VerticesOf(polygon);
      for (const std::uint32_t vertex : vertices) {
        bounds.Add(mesh_.VertexAt(vertex));
        height += mesh_.VertexAt(vertex).z;
      }
      const HeightRange heights{bounds.low.z, bounds.high.z};
      if (!area_.Overlaps(PlanOf(bounds))) {
        continue;
      }
      if (!view_.heights.Overlaps(heights)) {
        if (heights.high < view_.heights.low && lower_.size() < kMaxDrawnPolygons) {
          lower_.push_back(polygon);
        }
        continue;
      }
      shown_ = polygons_.empty()
                   ? heights
                   : HeightRange{std::min(shown_.low, heights.low), std::max(shown_.high, heights.high)};
      for (const std::uint32_t vertex : vertices) {
        top_ = std::min(top_, mesh_.VertexAt(vertex).y * kDepth - mesh_.VertexAt(vertex).z * kRise);
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

  // In an oblique view, shows the area from the lowest to the highest height, without the empty space on top.
  PlaneView PlaneOf() const {
    PlaneView plane = ViewOfWorld(area_, options_.is_text);
    if (view_.is_oblique) {
      plane.unit.y_step.y *= kDepth;
      plane.z_unit = {0.0, -kRise};
      const double room = plane.box.width * 0.04;
      const double above = std::max(area_.y_low * kDepth - shown_.high * kRise, top_ - room);
      plane.box.y = std::min(above, area_.y_low * kDepth - shown_.low * kRise);
      plane.box.height = area_.y_high * kDepth - shown_.low * kRise - plane.box.y;
    }
    return plane;
  }

  bool IsFlat() const { return polygons_.empty() || polygons_.front().height == polygons_.back().height; }

  void AddLegend() {
    std::vector<picture::LegendEntry>& legend = scene_.legend;
    std::array<bool, kMaxMeshAreas> is_shown{};
    bool shows_heights = false;
    for (const DrawnPolygon& polygon : polygons_) {
      const std::uint8_t area = mesh_.AreaOf(polygon.number);
      is_shown[area] = true;
      shows_heights |= !terrain_colors_[area].has_value();
    }
    if (shows_heights) {
      legend.push_back(
          {.color = ColorAt(polygons_.front().height),
           .symbol = '.',
           .text = IsFlat() ? "polygon" : absl::StrCat("polygon, lowest at ", polygons_.front().height)});
      if (!IsFlat()) {
        legend.push_back({.color = ColorAt(polygons_.back().height),
                          .text = absl::StrCat("highest at ", polygons_.back().height)});
      }
    }
    for (std::size_t area = 0; area < terrain_colors_.size(); ++area) {
      if (is_shown[area] && terrain_colors_[area].has_value()) {
        legend.push_back({.color = *terrain_colors_[area], .text = EntryText(mesh_.terrains()[area])});
      }
    }
    if (!polygons_.empty()) {
      legend.push_back(
          {.sign = picture::LegendEntry::Sign::kLine, .color = scene_.palette.ink, .text = "wall"});
    }
    if (mesh_.obstacles().size() > 0 && !view_.is_oblique) {
      legend.push_back(
          {picture::LegendEntry::Sign::kOutline, scene_.palette.named_obstacle, '%', "obstacle"});
    }
    if (!mesh_.portals().empty()) {
      AddPortalToLegend(scene_);
    }
    AddToLegend(marks_, scene_);
    if (search_ != nullptr) {
      AddMeshSearchToLegend(*search_, scene_);
    }
  }

  picture::Color ColorAt(double height) const {
    if (IsFlat()) {
      return scene_.palette.high;
    }
    const double low = polygons_.front().height;
    return picture::Mix(scene_.palette.low, scene_.palette.high,
                        (height - low) / (polygons_.back().height - low));
  }

  picture::Color ColorOf(const DrawnPolygon& polygon) const {
    return terrain_colors_[mesh_.AreaOf(polygon.number)].value_or(ColorAt(polygon.height));
  }

  picture::Point At(const WorldPoint& point) const { return projection_.At(point); }

  // Polygons are too small for characters, so each character shows whether its middle is on the mesh.
  absl::Status AddGround() {
    SceneGround ground = BlankGround(layout_, scene_.palette.paper);
    for (int row = 0; row < ground.image.height(); ++row) {
      WAYSTAR_RETURN_IF_ERROR(stop_.Check());
      for (int column = 0; column < ground.image.width(); ++column) {
        const picture::Point at = layout_.PlaneAtPixel(column, row);
        ground.symbols.push_back(IsOnMesh({at.x, at.y, 0.0}) ? '.' : ' ');
      }
    }
    scene_.ground.push_back(std::move(ground));
    return absl::OkStatus();
  }

  bool IsOnMesh(const WorldPoint& point) const {
    const MeshReach reach{
        .position = point, .radius = 0.0, .height = std::numeric_limits<double>::infinity()};
    if (view_.heights.IsAll()) {
      return mesh_.FindNearest(reach).has_value();
    }
    std::vector<MeshPlace> places;
    mesh_.FindAllNear(reach, places);
    return std::ranges::any_of(places, [&](const MeshPlace& place) { return IsShown(place.polygon); });
  }

  bool IsShown(PolygonNumber polygon) const {
    MeshBounds bounds;
    for (const std::uint32_t vertex : mesh_.VerticesOf(polygon)) {
      bounds.Add(mesh_.VertexAt(vertex));
    }
    return view_.heights.Overlaps({bounds.low.z, bounds.high.z});
  }

  // Draws the side of a floor below an edge that faces the viewer, that is, whose polygon lies behind it.
  void AddRim(picture::Point from, picture::Point to, picture::Color color, double thin) {
    const picture::Point down{0.0, 5.0 * thin};
    scene_.Fill({from, to, to + down, from + down}, {picture::Mix(color, scene_.palette.shade, 0.5)});
  }

  std::vector<picture::Point> CornersOf(PolygonNumber polygon) const {
    std::vector<picture::Point> corners;
    for (const std::uint32_t vertex : mesh_.VerticesOf(polygon)) {
      corners.push_back(At(mesh_.VertexAt(vertex)));
    }
    return corners;
  }

  void AddPolygons() {
    constexpr double kFaint = 0.3;
    for (const PolygonNumber polygon : lower_) {
      const picture::Color color = terrain_colors_[mesh_.AreaOf(polygon)].value_or(scene_.palette.low);
      scene_.Fill(CornersOf(polygon), {color, kFaint});
    }
    const double thin = polygons_.size() > 4000 ? 0.4 : polygons_.size() > 600 ? 0.7 : 1.0;
    for (const DrawnPolygon& polygon : polygons_) {
      const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon.number);
      const std::vector<picture::Point> points = CornersOf(polygon.number);
      for (std::size_t i = 0; view_.is_oblique && i < points.size(); ++i) {
        const picture::Point next = points[i + 1 < points.size() ? i + 1 : 0];
        if (neighbours[i] == kNoPolygon && next.x < points[i].x) {
          AddRim(points[i], next, ColorOf(polygon), thin);
        }
      }
      scene_.Fill(points, {ColorOf(polygon)});
      for (std::size_t i = 0; i < points.size(); ++i) {
        const bool is_wall = neighbours[i] == kNoPolygon;
        const picture::Point side[] = {points[i], points[i + 1 < points.size() ? i + 1 : 0]};
        scene_.StrokeIn(
            layout_.plot, side,
            {is_wall ? picture::Paint{scene_.palette.ink} : picture::Paint{scene_.palette.grid_line, 0.7},
             is_wall ? 2.5 * thin : thin});
      }
    }
  }

  void AddObstacles() {
    mesh_.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
      if (view_.heights.Overlaps(obstacle.heights.value_or(HeightRange()))) {
        AddObstacle(obstacle, layout_, /*on_cells=*/false, scene_);
      }
      return true;
    });
  }

  // Skips ends at other heights, or without a surface below them.
  void AddPortals() {
    const picture::MarkSizes sizes = SizesInCells(layout_, options_.is_text);
    const auto shown = [&](const MeshPlace& end) {
      const bool is_shown = end.polygon != kNoPolygon &&
                            area_.Overlaps(Box::Around(end.point.x, end.point.y, 0.0)) &&
                            view_.heights.Overlaps({end.point.z, end.point.z});
      return is_shown ? std::optional(At(end.point)) : std::nullopt;
    };
    mesh_.portals().VisitAfter("", [&](const PlacedPortal& portal) {
      std::string name = NameOfPortal(portal);
      for (const PortalLane& lane : portal.lanes) {
        AddPortal(std::exchange(name, ""), shown(lane.from), shown(lane.to), portal.closed, sizes, scene_);
      }
      return true;
    });
  }

  // Returns the parts of a straight piece of the path that are drawn faint, as intervals of [0, 1].
  std::vector<std::pair<double, double>> FaintParts(const WorldPoint& from, const WorldPoint& to,
                                                    const MeshCover& cover) const {
    std::vector<std::pair<double, double>> faint;
    double begin = 0.0;
    double end = 1.0;
    const double rise = to.z - from.z;
    if (rise == 0) {
      end = view_.heights.Overlaps({from.z, from.z}) ? 1.0 : 0.0;
    } else {
      const double at_low = (view_.heights.low - from.z) / rise;
      const double at_high = (view_.heights.high - from.z) / rise;
      begin = std::clamp(std::min(at_low, at_high), 0.0, 1.0);
      end = std::clamp(std::max(at_low, at_high), 0.0, 1.0);
    }
    if (begin > 0) {
      faint.emplace_back(0.0, begin);
    }
    if (view_.is_oblique) {
      for (const auto& [first, last] : cover.HiddenParts(from, to)) {
        if (std::max(first, begin) < std::min(last, end)) {
          faint.emplace_back(std::max(first, begin), std::min(last, end));
        }
      }
    }
    if (end < 1) {
      faint.emplace_back(end, 1.0);
    }
    return faint;
  }

  // Faint parts are drawn first, below the rest.
  absl::Status AddWay(const picture::MarkSizes& sizes) {
    const MeshCover cover = CoverOf();
    std::vector<std::vector<picture::Point>> plain;
    std::vector<std::vector<picture::Point>> faint;
    const auto add = [&](std::vector<std::vector<picture::Point>>& lines, picture::Point from,
                         picture::Point to) {
      if (lines.empty() || lines.back().back() != from) {
        lines.push_back({from});
      }
      lines.back().push_back(to);
    };
    for (const std::vector<WorldPoint>& leg : marks_.legs) {
      for (std::size_t i = 0; i + 1 < leg.size(); ++i) {
        WAYSTAR_RETURN_IF_ERROR(stop_.Check());
        const picture::Point from = At(leg[i]);
        const picture::Point to = At(leg[i + 1]);
        const auto at = [&](double share) { return share == 1 ? to : from + (to - from) * share; };
        double done = 0.0;
        for (const auto& [first, last] : FaintParts(leg[i], leg[i + 1], cover)) {
          if (done < first) {
            add(plain, at(done), at(first));
          }
          add(faint, at(first), at(last));
          done = last;
        }
        if (done < 1) {
          add(plain, at(done), to);
        }
      }
    }
    for (const auto& [from, to] : marks_.jumps) {
      add(faint, At(from), At(to));
    }
    for (const std::vector<picture::Point>& line : faint) {
      if (!options_.is_text) {
        scene_.StrokeIn(layout_.plot, line, {{scene_.palette.path, 0.55}, sizes.path * 0.75, 2 * sizes.path});
      }
    }
    for (const std::vector<picture::Point>& line : plain) {
      for (const std::vector<picture::Point>& part : picture::PartsIn(layout_.plot, line)) {
        DrawPath(part, sizes, scene_.palette, scene_);
      }
    }
    return absl::OkStatus();
  }

  MeshCover CoverOf() const {
    std::vector<PolygonNumber> numbers;
    double slack = 0.0;
    if (view_.is_oblique) {
      // Surfaces are less even than the corners of their polygons suggest.
      constexpr double kPixels = 4.0;
      constexpr double kUneven = 0.01;
      slack = std::max(kPixels / -layout_.z_step.y, (shown_.high - shown_.low) * kUneven);
      for (const DrawnPolygon& polygon : polygons_) {
        numbers.push_back(polygon.number);
      }
    }
    return {mesh_, projection_, numbers, slack};
  }

  // In an oblique view, moves an end onto its surface.
  WorldPoint OnSurface(const WorldPoint& point) const {
    const auto place = view_.is_oblique ? FindMeshPlace(mesh_, point, MeshSnap()) : std::nullopt;
    return place.has_value() ? place->point : point;
  }

  static QueryMarks MarksOf(const AnsweredQuery& answered) {
    const auto& [map, query, route, search] = answered;
    QueryMarks marks{.start = *query.start.position};
    bool was_home = false;
    std::optional<WorldPoint> last;
    for (const MeshLeg& leg :
         LegsOnMeshes(*route.mesh_agent, route.positions, route.corridor, route.mesh_crossings)) {
      if (leg.is_home && !leg.corners.empty()) {
        if (was_home && last) {
          marks.jumps.emplace_back(*last, leg.corners.front());
        }
        marks.legs.push_back(leg.corridor.empty()
                                 ? std::vector<WorldPoint>(leg.corners.begin(), leg.corners.end())
                                 : SurfaceLine(*leg.mesh, leg.corners, leg.corridor));
        last = leg.corners.back();
      }
      was_home = leg.is_home;
    }
    if (query.goal_map.empty() || query.goal_map == map) {
      for (const Location& goal : query.goals) {
        marks.goals.push_back(*goal.position);
      }
    }
    return marks;
  }

  const NavMesh& mesh_;
  const MeshView& view_;
  const Box area_;
  const RenderOptions& options_;
  const std::vector<std::optional<picture::Color>> terrain_colors_;
  const IntervalRecorder* const search_;
  const QueryMarks marks_;
  const BudgetStop stop_;
  std::vector<DrawnPolygon> polygons_;
  // The polygons below the heights to show, which are drawn faint.
  std::vector<PolygonNumber> lower_;
  // Heights of all corners of these polygons.
  HeightRange shown_{0.0, 0.0};
  // Topmost place of these polygons in an oblique view, in units.
  double top_ = std::numeric_limits<double>::infinity();
  Layout layout_;
  WorldProjection projection_;
  Scene scene_;
};

}  // namespace

absl::StatusOr<Scene> MakeMeshScene(const NavMesh& mesh, const MeshView& view, const RenderOptions& options,
                                    const AnsweredQuery* query, const Budget& budget) {
  assert(!view.is_oblique || !options.is_text);
  return MeshSceneMaker(mesh, view, options, query, budget).Make();
}

}  // namespace waystar::core
