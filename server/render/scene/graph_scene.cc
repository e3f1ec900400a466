#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "server/base/error.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/graph/map/box_tree.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/interruption.h"
#include "server/render/canvas/canvas.h"
#include "server/render/scene/graph_part.h"
#include "server/render/scene/map_scenes.h"
#include "server/render/scene/query_marks.h"
#include "server/render/scene/world_plot.h"

namespace waystar::core {
namespace {

// With more nodes, names are omitted.
constexpr std::size_t kNamedNodes = 80;

using NodeVisit = PlaceVisit<NodeNumber>;

class GraphSceneMaker {
 public:
  GraphSceneMaker(const WaypointGraph& graph, const Box& area, GraphLayout places,
                  const RenderOptions& options, const AnsweredQuery* query, const Budget& budget)
      : graph_(graph),
        places_(std::move(places)),
        area_(area),
        options_(options),
        query_(query),
        marks_(query == nullptr ? QueryMarks() : MarksOf(*query)),
        budget_(budget) {
    scene_.palette = options.palette;
  }

  absl::StatusOr<Scene> Make() {
    WAYSTAR_ASSIGN_OR_RETURN(part_, GatherGraph(graph_, places_.is_chosen() ? Everywhere() : area_, budget_));
    if (query_ != nullptr && query_->search != nullptr) {
      const std::vector<NodeEvent>& events = query_->search->nodes.events();
      WAYSTAR_ASSIGN_OR_RETURN(visits_, VisitsOf(events, &NodeEvent::node, BudgetStop(budget_)));
      std::ranges::sort(visits_, {}, &NodeVisit::place);
      dearest_ = DearestOf(events);
    }
    AddLegend();
    scene_.area = area_;
    scene_.region = WholeUnits(area_);
    layout_ = LayOut(ViewOfWorld(area_, options_.is_text), options_, scene_);
    // Things with positions do not fit among nodes with chosen places.
    if (!places_.is_chosen()) {
      if (graph_.sight().grid() != nullptr) {
        AddReferenceMap();
      }
      AddScaleLines(area_, layout_, options_, scene_);
      AddObstacles();
    }
    AddEdges();
    AddSearch();
    for (const std::vector<WorldPoint>& leg : marks_.legs) {
      AddWay(leg);
    }
    AddNodes();
    AddEnds(
        marks_, SizesInWorld(layout_, options_.is_text),
        [&](const WorldPoint& place) { return std::optional(At(place)); }, scene_);
    CoverMargins(layout_, options_, scene_);
    if (places_.is_chosen()) {
      NotePlaces();
    } else {
      AddWorldNumbers(area_, layout_, options_, scene_);
    }
    AddFurniture(layout_, options_, scene_);
    return std::move(scene_);
  }

 private:
  static Box Everywhere() {
    constexpr double kFar = 2 * kMaxReach;
    return {-kFar, -kFar, kFar, kFar};
  }

  // Limits the size of the response message.
  static constexpr std::size_t kMostPlaces = 4096;

  void NotePlaces() {
    if (part_.nodes.size() > kMostPlaces) {
      return;
    }
    for (const NodeNumber node : part_.nodes) {
      scene_.placed_nodes.push_back({.node = node, .at = At(node)});
    }
  }

  bool HasArc(bool is_auto, bool is_open) const {
    return std::any_of(part_.arcs.begin(), part_.arcs.end(), [&](const DrawnArc& arc) {
      return arc.is_open == is_open && (!is_open || arc.is_auto == is_auto);
    });
  }

  void AddLegend() {
    using Sign = picture::LegendEntry::Sign;
    const auto add = [&](bool is_there, picture::LegendEntry entry) {
      if (is_there) {
        scene_.legend.push_back(std::move(entry));
      }
    };
    add(!part_.nodes.empty(), {Sign::kDisc, scene_.palette.ink, 'o', "node"});
    add(HasArc(false, true), {Sign::kLine, scene_.palette.edge, '.', "edge"});
    add(HasArc(true, true), {Sign::kLine, scene_.palette.sight_line, '.', "edge by sight"});
    add(HasArc(false, false), {Sign::kDashes, scene_.palette.closed_edge, 'x', "closed edge"});
    const bool has_positions = !places_.is_chosen();
    add(graph_.obstacles().size() > 0 && has_positions,
        {Sign::kArea, scene_.palette.named_obstacle, '%', "obstacle"});
    add(graph_.sight().grid() != nullptr && has_positions,
        {Sign::kArea, Wall(), '#', "blocked on the reference map"});
    AddToLegend(marks_, scene_);
    if (!visits_.empty()) {
      AddSearchToLegend(CostToDouble(dearest_), 'O', scene_);
    }
  }

  picture::Color Wall() const { return picture::Mix(scene_.palette.paper, scene_.palette.obstacle, 0.35); }

  picture::Point At(const WorldPoint& point) const { return layout_.tiling.At(point.x, point.y); }
  picture::Point At(NodeNumber node) const { return At(places_.PlaceOf(graph_, node)); }
  double unit() const { return Distance({}, layout_.tiling.y_step); }

  void AddReferenceMap() {
    const GridSight& grid = *graph_.sight().grid();
    SceneGround ground = BlankGround(layout_, scene_.palette.paper);
    for (int row = 0; row < ground.image.height(); ++row) {
      for (int column = 0; column < ground.image.width(); ++column) {
        const picture::Point at = layout_.PlaneAtPixel(column, row);
        const bool is_free = grid.IsWalkableAt({at.x, at.y, 0});
        ground.image.Set(column, row, is_free ? scene_.palette.paper : Wall());
        ground.symbols.push_back(is_free ? ' ' : '#');
      }
    }
    scene_.ground.push_back(std::move(ground));
  }

  void AddObstacles() {
    for (const Obstacle* obstacle : graph_.sight().ObstaclesNear(area_)) {
      Shape cells;
      for (const Cell cell : obstacle->shape.cells) {
        cells.rectangles.push_back({cell.x, cell.y, 1, 1});
      }
      for (const Shape* const shape : {&std::as_const(cells), &obstacle->shape}) {
        for (const picture::Polygon& outline : OutlinesOf(*shape, layout_.tiling, 0, 0, unit())) {
          scene_.Fill(outline, {scene_.palette.named_obstacle, 0.75, '%'});
        }
      }
      for (const Line& line : obstacle->shape.lines) {
        const double width = std::max(2.0, line.width * unit());
        const picture::Box& plot = layout_.plot;
        const picture::Box near = {plot.x - width, plot.y - width, plot.width + 2 * width,
                                   plot.height + 2 * width};
        const picture::Point ends[] = {layout_.tiling.At(line.start.x, line.start.y),
                                       layout_.tiling.At(line.end.x, line.end.y)};
        scene_.StrokeIn(near, ends, {{scene_.palette.named_obstacle, 0.75, '%'}, width});
      }
    }
  }

  // Automatic edges are drawn below explicit ones.
  void AddEdges() {
    const double thick = part_.arcs.size() > 3000 ? 0.7 : part_.arcs.size() > 300 ? 1.2 : 2.0;
    for (const bool is_auto : {true, false}) {
      for (const DrawnArc& arc : part_.arcs) {
        if (arc.is_auto != is_auto) {
          continue;
        }
        const auto shown = picture::ClipTo(layout_.plot, At(arc.from), At(arc.to));
        if (!shown.has_value()) {
          continue;
        }
        const auto& [from, to] = *shown;
        const picture::Color color = !arc.is_open ? scene_.palette.closed_edge
                                     : is_auto    ? scene_.palette.sight_line
                                                  : scene_.palette.edge;
        const picture::Point line[] = {from, to};
        scene_.Stroke(line, {{color, 1, arc.is_open ? '.' : 'x'},
                             is_auto || !arc.is_open ? thick * 0.8 : thick,
                             arc.is_open ? 0.0 : 4.0});
        if (arc.is_one_way && part_.arcs.size() <= 3000) {
          AddTip(from, to, color);
        }
      }
    }
  }

  // Placed past the middle, so that the arrowheads of two opposite edges do not meet.
  void AddTip(picture::Point from, picture::Point to, picture::Color color) {
    const double length = Distance(from, to);
    constexpr double kTip = 8.0;
    if (options_.is_text || length < 3 * kTip) {
      return;
    }
    const picture::Point ahead = (to - from) * (kTip / length);
    const picture::Point aside = {-ahead.y * 0.55, ahead.x * 0.55};
    const picture::Point tip = from + (to - from) * 0.62;
    scene_.Fill({tip, tip - ahead + aside, tip - ahead - aside}, {color});
  }

  // Returns null if the search did not reach the node.
  const NodeVisit* FindVisit(NodeNumber node) const {
    const auto found = std::ranges::lower_bound(visits_, node, {}, &NodeVisit::place);
    return found != visits_.end() && found->place == node ? &*found : nullptr;
  }
  double ShareOf(const NodeVisit& visit) const {
    return static_cast<double>(visit.g) / static_cast<double>(dearest_);
  }
  picture::Color ColorOf(const NodeVisit& visit) const {
    return visit.is_expanded ? picture::SearchColor(ShareOf(visit)) : scene_.palette.open;
  }

  void AddNodes() {
    const double radius = picture::NodeRadius(part_.nodes.size());
    for (const NodeNumber node : part_.nodes) {
      const picture::Point at = At(node);
      const bool is_enabled = graph_.IsEnabled(node);
      if (const NodeVisit* const visit = FindVisit(node)) {
        DrawReachedNode(at, radius, visit->is_expanded ? std::optional(ShareOf(*visit)) : std::nullopt,
                        scene_.palette, scene_);
        continue;
      }
      scene_.FillDisc(
          at, radius,
          {is_enabled ? scene_.palette.ink : scene_.palette.closed_edge, 1, is_enabled ? 'o' : 'x'});
      if (radius >= picture::kRimmedNode) {
        scene_.FillDisc(at, radius - 2, {scene_.palette.paper});
      }
    }
    if (part_.nodes.size() > kNamedNodes || options_.is_text || !layout_.has_labels) {
      return;
    }
    for (const NodeNumber node : part_.nodes) {
      AddName(graph_.IdOf(node), At(node) + picture::Point{0, -11});
    }
  }

  // Draws the name above the node on a light background, within the picture.
  void AddName(const std::string& name, picture::Point at) {
    const double half = picture::TextWidth(name, picture::kTextSize) / 2;
    at.x = std::clamp(at.x, half + 2, std::max(half + 2, layout_.width - half - 2));
    const double top = at.y - picture::kTextSize - 2;
    const picture::Box box = {at.x - half - 2, top, 2 * half + 4, picture::kTextSize + 5};
    scene_.Fill(box.corners(), {scene_.palette.paper, 0.75});
    scene_.Write(name, at, {scene_.palette.ink, picture::kTextSize, picture::TextStyle::Anchor::kMiddle});
  }

  // Draws the edges by which the search reached nodes.
  void AddSearch() {
    if (options_.is_text) {
      return;
    }
    const double thick = visits_.size() > 3000 ? 1.2 : visits_.size() > 300 ? 2.0 : 3.5;
    for (const NodeVisit& visit : visits_) {
      if (visit.parent == visit.place) {
        continue;
      }
      const picture::Point line[] = {At(visit.parent), At(visit.place)};
      scene_.StrokeIn(layout_.plot, line, {{ColorOf(visit)}, visit.is_expanded ? thick : thick * 0.6});
    }
  }

  void AddWay(const std::vector<WorldPoint>& way) {
    const picture::MarkSizes sizes = SizesInWorld(layout_, options_.is_text);
    for (std::size_t i = 0; i + 1 < way.size(); ++i) {
      if (const auto shown = picture::ClipTo(layout_.plot, At(way[i]), At(way[i + 1]))) {
        const picture::Point line[] = {shown->first, shown->second};
        DrawPath(line, sizes, scene_.palette, scene_);
      }
    }
  }

  QueryMarks MarksOf(const AnsweredQuery& answered) const {
    QueryMarks marks;
    const auto add = [&](const Location& end, std::vector<WorldPoint>& places) {
      if (end.position.has_value()) {
        places.push_back({end.position->x, end.position->y, end.position->z});
      } else if (const NodeNumber node = graph_.FindNode(end.node); node != kNoNodeNumber) {
        places.push_back(places_.PlaceOf(graph_, node));
      }
    };
    std::vector<WorldPoint> start;
    add(answered.query.start, start);
    if (!start.empty()) {
      marks.start = start.front();
    }
    for (const Location& goal : answered.query.goals) {
      add(goal, marks.goals);
    }
    // The positions are the nodes, plus a start and a goal given as positions.
    const Route& route = answered.route;
    std::vector<WorldPoint> way = route.positions;
    const std::size_t first = answered.query.start.position.has_value() ? 1 : 0;
    for (std::size_t i = first; i < way.size() && i - first < route.nodes.size(); ++i) {
      way[i] = places_.PlaceOf(graph_, route.nodes[i - first]);
    }
    if (!way.empty()) {
      marks.legs.push_back(std::move(way));
    }
    return marks;
  }

  const WaypointGraph& graph_;
  const GraphLayout places_;
  const Box area_;
  const RenderOptions& options_;
  const AnsweredQuery* const query_;
  const QueryMarks marks_;
  const Budget& budget_;
  GraphPart part_;
  // Sorted by node number.
  std::vector<NodeVisit> visits_;
  Cost dearest_ = 1;
  Layout layout_;
  Scene scene_;
};

}  // namespace

absl::StatusOr<Scene> MakeGraphScene(const WaypointGraph& graph, const std::optional<Box>& area,
                                     const RenderOptions& options, const AnsweredQuery* query,
                                     const Budget& budget) {
  WAYSTAR_ASSIGN_OR_RETURN(GraphLayout places, GraphLayout::Of(graph, BudgetStop(budget)));
  const Box shown = area.has_value() ? *area : places.is_chosen() ? places.area() : AllOf(graph);
  return GraphSceneMaker(graph, shown, std::move(places), options, query, budget).Make();
}

}  // namespace waystar::core
