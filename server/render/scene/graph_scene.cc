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
    AddArrowheads();
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
    add(!part_.nodes.empty(), {Sign::kDisc, scene_.palette.obstacle, 'o', "node"});
    add(HasArc(false, true), {Sign::kLine, scene_.palette.edge, '.', "edge"});
    add(HasArc(true, true), {Sign::kLine, scene_.palette.sight_line, '.', "edge by sight"});
    add(std::ranges::any_of(part_.arcs, &DrawnArc::is_one_way),
        {.sign = Sign::kArrow, .color = scene_.palette.edge, .text = "one-way edge"});
    add(HasArc(false, false), {Sign::kDashes, scene_.palette.closed_edge, 'x', "closed edge"});
    const bool has_positions = !places_.is_chosen();
    add(graph_.obstacles().size() > 0 && has_positions,
        {Sign::kOutline, scene_.palette.named_obstacle, '%', "obstacle"});
    add(graph_.sight().grid() != nullptr && has_positions,
        {Sign::kArea, Wall(), '#', "blocked on the reference map"});
    AddToLegend(marks_, scene_);
    if (!visits_.empty()) {
      AddSearchToLegend(CostToDouble(dearest_), picture::LegendEntry::Sign::kRing, 'O', scene_);
    }
  }

  picture::Color Wall() const { return picture::Mix(scene_.palette.paper, scene_.palette.obstacle, 0.35); }

  picture::Point At(const WorldPoint& point) const { return layout_.tiling.At(point.x, point.y); }
  picture::Point At(NodeNumber node) const { return At(places_.PlaceOf(graph_, node)); }

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
      AddObstacle(*obstacle, layout_, /*on_cells=*/false, scene_);
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
        const picture::Point line[] = {At(arc.from), At(arc.to)};
        scene_.StrokeIn(layout_.plot, line,
                        {{ColorOf(arc), 1, arc.is_open ? '.' : 'x'},
                         is_auto || !arc.is_open ? thick * 0.8 : thick,
                         arc.is_open ? 0.0 : 4.0});
      }
    }
  }

  picture::Color ColorOf(const DrawnArc& arc) const {
    return !arc.is_open  ? scene_.palette.closed_edge
           : arc.is_auto ? scene_.palette.sight_line
                         : scene_.palette.edge;
  }

  // Drawn above the path, which would cover them.
  void AddArrowheads() {
    if (options_.is_text || part_.arcs.size() > 3000) {
      return;
    }
    for (const DrawnArc& arc : part_.arcs) {
      const auto shown = picture::ClipTo(layout_.plot, At(arc.from), At(arc.to));
      if (arc.is_one_way && shown.has_value()) {
        DrawArrowhead(shown->first, shown->second, ColorOf(arc), scene_.palette, scene_);
      }
    }
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
      const bool is_rimmed = radius >= picture::kRimmedNode;
      if (is_rimmed) {
        scene_.FillDisc(at, radius + 1.5, {scene_.palette.paper});
      }
      scene_.FillDisc(
          at, radius,
          {is_enabled ? scene_.palette.obstacle : scene_.palette.closed_edge, 1, is_enabled ? 'o' : 'x'});
      if (is_rimmed && !is_enabled) {
        scene_.FillDisc(at, radius - 2, {scene_.palette.paper});
      }
    }
    if (part_.nodes.size() > kNamedNodes) {
      return;
    }
    const double end = SizesInWorld(layout_, options_.is_text).disc + 2;
    for (const NodeNumber node : part_.nodes) {
      const WorldPoint place = places_.PlaceOf(graph_, node);
      const bool is_end =
          marks_.start == place || std::ranges::find(marks_.goals, place) != marks_.goals.end();
      const double reach = is_end ? end : radius + 2;
      scene_.names.push_back(
          {.name = graph_.IdOf(node), .middle = At(place), .across = reach, .down = reach});
    }
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
    std::vector<picture::Point> line;
    line.reserve(way.size());
    for (const WorldPoint& place : way) {
      line.push_back(At(place));
    }
    for (const std::vector<picture::Point>& part : picture::PartsIn(layout_.plot, line)) {
      DrawPath(part, SizesInWorld(layout_, options_.is_text), scene_.palette, scene_);
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
