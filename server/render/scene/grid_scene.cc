#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/portal.h"
#include "server/core/search/interruption.h"
#include "server/render/canvas/canvas.h"
#include "server/render/canvas/geometry.h"
#include "server/render/scene/grid_marks.h"
#include "server/render/scene/ground.h"
#include "server/render/scene/map_scenes.h"
#include "server/render/scene/query_marks.h"

namespace waystar::core {
namespace {

using picture::kTextSize;

// Cells of at least this many pixels are drawn as polygons, unless there are too many.
constexpr double kAreaCell = 4.0;
constexpr std::int64_t kMaxAreas = 1 << 16;
constexpr double kGridLineCell = 8.0;
constexpr double kOutlinedCell = 6.0;

bool IsBoard(const GridMap& map) {
  const auto& hexagons = map.settings().frame.hexagons;
  return hexagons.has_value() && HasOffsets(hexagons->layout);
}

Rectangle PlaneBoundsOf(const GridMap& map, const Rectangle& part) {
  const std::optional<HexBoard>& board = map.settings().frame.hexagons;
  return board ? board->PlaneBoundsOf(part) : part;
}

picture::Box BoxAround(const picture::Polygon& points) {
  double left = 1e9;
  double top = 1e9;
  double right = -1e9;
  double bottom = -1e9;
  for (const picture::Point& point : points) {
    left = std::min(left, point.x);
    top = std::min(top, point.y);
    right = std::max(right, point.x);
    bottom = std::max(bottom, point.y);
  }
  return {left, top, right - left, bottom - top};
}

// Returns cells of the plane that include the outermost ones of a part of the map on each side.
std::vector<Cell> OutermostCells(const GridMap& map, const Rectangle& part) {
  // Every other line of a board sticks out.
  std::vector<Cell> cells;
  const std::int32_t right = part.x + part.width - 1;
  const std::int32_t bottom = part.y + part.height - 1;
  for (const std::int32_t column : {part.x, part.x + 1, right - 1, right}) {
    for (const std::int32_t row : {part.y, part.y + 1, bottom - 1, bottom}) {
      cells.push_back(map.settings().frame.PlaneCellOf(
          {std::clamp(column, part.x, right), std::clamp(row, part.y, bottom)}));
    }
  }
  return cells;
}

PlaneView ViewOf(const GridMap& map, const Rectangle& part, bool is_text) {
  PlaneView view{.unit = UnitTiling(map.settings(), is_text)};
  const bool hexagons = view.unit.hexagons;
  picture::Polygon corners;
  for (const Cell cell : OutermostCells(map, part)) {
    // In text, a hexagon is shown by the character at its centre.
    const picture::Point at = view.unit.At(cell.x, cell.y);
    const picture::Point half = {0.5, 0.5};
    const picture::Polygon outline =
        is_text && hexagons ? picture::Polygon{at - half, at + half} : view.unit.OutlineOf(cell.x, cell.y);
    corners.insert(corners.end(), outline.begin(), outline.end());
  }
  view.box = BoxAround(corners);
  view.whole_pixels = !hexagons;
  view.max_scale = is_text ? 1.0 : 64.0;
  view.widest_column = absl::StrCat(part.x + part.width - 1);
  view.widest_row = absl::StrCat(part.y + part.height - 1);
  return view;
}

class GridSceneMaker {
 public:
  GridSceneMaker(const GridMap& map, const Rectangle& part, const RenderOptions& options,
                 const AnsweredQuery* query, const Budget& budget)
      : map_(map),
        part_(part),
        region_(PlaneBoundsOf(map, part)),
        options_(options),
        query_(query),
        marks_(query == nullptr ? QueryMarks() : GridMarks(*query)),
        stop_(budget),
        looks_(map, part, options.palette) {
    scene_.palette = options.palette;
  }

  absl::StatusOr<Scene> Make() {
    AddLegend();
    WAYSTAR_RETURN_IF_ERROR(stop_.Check());
    scene_.region = part_;
    layout_ = LayOut(ViewOf(map_, part_, options_.is_text), options_, scene_);
    if (DrawsAreas()) {
      WAYSTAR_RETURN_IF_ERROR(AddCells());
    } else {
      WAYSTAR_ASSIGN_OR_RETURN(SceneGround ground,
                               DrawGround(map_, looks_, region_, layout_, options_.is_text, stop_));
      scene_.ground.push_back(std::move(ground));
    }
    if (HasSearch()) {
      WAYSTAR_RETURN_IF_ERROR(AddGridSearch(*query_, region_, layout_, options_.is_text, stop_, scene_));
    }
    AddGridLines();
    WAYSTAR_RETURN_IF_ERROR(stop_.Check());
    if (!options_.is_text && cell() >= kOutlinedCell) {
      AddObstacles();
    }
    const picture::MarkSizes sizes = SizesInCells(layout_, options_.is_text);
    AddPortals(sizes);
    AddGridPath(marks_, region_, layout_, options_.is_text, scene_);
    AddEnds(
        marks_, sizes,
        [&](const WorldPoint& place) {
          return Shown({static_cast<std::int32_t>(place.x), static_cast<std::int32_t>(place.y)});
        },
        scene_);
    AddNumbers();
    AddFurniture(layout_, options_, scene_);
    return std::move(scene_);
  }

 private:
  double cell() const { return layout_.tiling.CellPixels(); }

  bool DrawsAreas() const { return !options_.is_text && cell() >= kAreaCell && region_.area() <= kMaxAreas; }

  void AddLegend() {
    scene_.legend = looks_.LegendOf(region_, stop_);
    if (!map_.portals().empty()) {
      AddPortalToLegend(scene_);
    }
    AddToLegend(marks_, scene_);
    if (HasSearch()) {
      AddSearchToLegend(CostToDouble(DearestOf(query_->search->cells.events())),
                        picture::LegendEntry::Sign::kArea, 'o', scene_);
    }
  }

  // Adjacent equal squares of a row become one area.
  absl::Status AddCells() {
    for (int y = region_.y; y < region_.y + region_.height; ++y) {
      WAYSTAR_RETURN_IF_ERROR(stop_.Check());
      for (int x = region_.x; x < region_.x + region_.width;) {
        const CellLook look = looks_.At({x, y});
        int end = x + 1;
        while (!layout_.tiling.hexagons && end < region_.x + region_.width &&
               looks_.At({end, y}).color == look.color) {
          ++end;
        }
        if (look.exists) {
          scene_.Fill(AreaOf(x, end, y), {look.color});
        }
        x = end;
      }
    }
    return absl::OkStatus();
  }

  // Hexagons overlap slightly, so that the background does not show through.
  picture::Polygon AreaOf(int x, int end, int y) const {
    constexpr double kOverlap = 0.35;
    if (layout_.tiling.hexagons) {
      return layout_.tiling.OutlineOf(x, y, -kOverlap);
    }
    const picture::Point from = layout_.tiling.At(x - 0.5, y - 0.5);
    const picture::Point to = layout_.tiling.At(end - 0.5, y + 0.5);
    return {from, {to.x, from.y}, to, {from.x, to.y}};
  }

  void AddGridLine(const std::vector<picture::Point>& line) {
    scene_.Stroke(line, {{scene_.palette.grid_line, 0.4}});
  }

  void AddGridLines() {
    using GridLines = RenderOptions::GridLines;
    const double smallest = options_.grid_lines == GridLines::kAlways ? kAreaCell : kGridLineCell;
    if (options_.is_text || options_.grid_lines == GridLines::kNever || cell() < smallest) {
      return;
    }
    if (layout_.tiling.hexagons) {
      AddHexagonLines();
      return;
    }
    // Centred on pixels, so that the lines are crisp.
    const picture::Box& plot = layout_.plot;
    for (int x = 0; x <= region_.width; ++x) {
      const double at = plot.x + x * cell() + (x == region_.width ? -0.5 : 0.5);
      AddGridLine({{at, plot.y + 0.5}, {at, plot.bottom() - 0.5}});
    }
    for (int y = 0; y <= region_.height; ++y) {
      const double at = plot.y + y * cell() + (y == region_.height ? -0.5 : 0.5);
      AddGridLine({{plot.x + 0.5, at}, {plot.right() - 0.5, at}});
    }
  }

  void AddHexagonLines() {
    if (region_.area() > kMaxAreas) {
      return;
    }
    for (int y = region_.y; y < region_.y + region_.height && !IsStopped(&stop_); ++y) {
      for (int x = region_.x; x < region_.x + region_.width; ++x) {
        if (looks_.At({x, y}).exists) {
          picture::Polygon rim = layout_.tiling.OutlineOf(x, y);
          rim.push_back(rim.front());
          AddGridLine(rim);
        }
      }
    }
  }

  bool HasSearch() const {
    return query_ != nullptr && query_->search != nullptr && !query_->search->cells.events().empty();
  }

  std::optional<picture::Point> Shown(Cell cell) const {
    return part_.Contains(map_.settings().frame.CountedAt(cell)) ? std::optional(CenterOf(cell))
                                                                 : std::nullopt;
  }

  void AddObstacles() {
    constexpr std::size_t kMaxOutlined = 1000;
    const std::vector<const Obstacle*> obstacles = map_.obstacles().Overlapping(region_);
    for (std::size_t i = 0; i < std::min(obstacles.size(), kMaxOutlined); ++i) {
      AddObstacle(*obstacles[i], layout_, /*on_cells=*/true, scene_);
    }
  }

  void AddPortals(const picture::MarkSizes& sizes) {
    map_.portals().VisitAfter("", [&](const Portal& portal) {
      AddPortal(NameOfPortal(portal), Shown(portal.from),
                portal.to_map.empty() ? Shown(portal.to) : std::nullopt, portal.closed, sizes, scene_);
      return true;
    });
  }

  picture::Point CenterOf(Cell cell) const { return layout_.tiling.At(cell.x, cell.y); }

  // Adds column numbers above and row numbers beside the map.
  void AddNumbers() {
    if (!layout_.has_labels) {
      return;
    }
    using Anchor = picture::TextStyle::Anchor;
    const auto cell_of = [&](int column, int row) {
      return map_.settings().frame.PlaneCellOf({column, row});
    };
    const bool is_slanted = layout_.tiling.hexagons && !IsBoard(map_);
    const double widest = options_.is_text
                              ? static_cast<double>(absl::StrCat(part_.width).size())
                              : picture::TextWidth(absl::StrCat(part_.x + part_.width), kTextSize);
    const double gap = options_.is_text ? 1.0 : 6.0;
    const double half = options_.is_text ? 0.5 : cell() * 0.5;
    const int column_step = NumberStep(layout_.tiling.x_step.x, widest, options_.is_text);
    for (int x = NextMultiple(part_.x, column_step); x < part_.x + part_.width; x += column_step) {
      picture::Point at = CenterOf(cell_of(x, part_.y));
      at.y = (is_slanted ? at.y - half : layout_.plot.y) - gap;
      at.y = std::max(at.y, layout_.plot.y - gap);
      scene_.Write(absl::StrCat(x), at,
                   {scene_.palette.faint, kTextSize, options_.is_text ? Anchor::kLeft : Anchor::kMiddle});
    }
    const int row_step =
        NumberStep(layout_.tiling.y_step.y, options_.is_text ? 0 : kTextSize, options_.is_text);
    for (int y = NextMultiple(part_.y, row_step); y < part_.y + part_.height; y += row_step) {
      picture::Point at = CenterOf(cell_of(part_.x, y));
      at.x = (is_slanted && !options_.is_text ? at.x - half : layout_.plot.x) - gap;
      at.y += options_.is_text ? 0.0 : kTextSize / 2;
      scene_.Write(absl::StrCat(y), at, {scene_.palette.faint, kTextSize, Anchor::kRight});
    }
  }

  // Map sides fit in an int.
  static int NumberStep(double pixels, double widest, bool is_text) {
    return static_cast<int>(std::min<std::int64_t>(LabelStep(pixels, widest, is_text), 2 * kMaxMapSide));
  }
  static int NextMultiple(int from, int step) { return (from + step - 1) / step * step; }

  const GridMap& map_;
  // The part shown, in client cell coordinates.
  const Rectangle part_;
  // The cells of the plane around it.
  const Rectangle region_;
  const RenderOptions& options_;
  const AnsweredQuery* const query_;
  const QueryMarks marks_;
  const BudgetStop stop_;
  const CellLooks looks_;
  Layout layout_;
  Scene scene_;
};

}  // namespace

absl::StatusOr<Scene> MakeGridScene(const GridMap& map, const Rectangle& part, const RenderOptions& options,
                                    const AnsweredQuery* query, const Budget& budget) {
  return GridSceneMaker(map, part, options, query, budget).Make();
}

}  // namespace waystar::core
