#include "server/core/graph/search/explain_graph_path.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/base/error.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/map/sight_line.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Costs stop growing here, so that they stay below 2^63.
constexpr Cost kMostCost = Cost{1} << 62;

// Finds what blocks the arcs of a graph.
class GraphBlockers {
 public:
  // `joined` is the graph without obstacles if it is connected by sight, else the graph itself.
  GraphBlockers(const WaypointGraph& graph, const WaypointGraph& joined, NodeNumber start,
                const BlockerPrices& prices)
      : graph_(graph), joined_(joined), start_(start), prices_(prices) {}

  // Returns true if nothing blocks the arc, which is open in the joined graph, and its end.
  bool IsOpen(NodeNumber from, NodeNumber to) const {
    if (!graph_.IsEnabled(to)) {
      return false;
    }
    const Arc* const arc = &graph_ == &joined_ ? nullptr : graph_.FindArc(from, to);
    return &graph_ == &joined_ || (arc != nullptr && arc->is_open());
  }

  // Appends what an arc of the joined graph enters; `index` is that of its first node in the path. Returns
  // false if the arc cannot be passed.
  bool AppendEntries(NodeNumber from, const Arc& arc, std::size_t index,
                     std::vector<Blocker>& entries) const {
    const std::size_t begin = entries.size();
    if ((arc.flags & Arc::kEnabled) == 0) {
      if (prices_.only_obstacles) {
        return false;
      }
      entries.push_back({.kind = Blocker::Kind::kEdge,
                         .id = graph_.IdOf(from),
                         .to = graph_.IdOf(arc.to),
                         .index = index,
                         .price = prices_.price});
    }
    AppendObstacles(from, arc.to, index, entries);
    SortEntries(entries, begin);
    return AppendNode(arc.to, index + 1, entries);
  }

  // Appends the node if it is disabled. Returns false if it cannot be entered.
  bool AppendNode(NodeNumber node, std::size_t index, std::vector<Blocker>& entries) const {
    if (graph_.IsEnabled(node)) {
      return true;
    }
    entries.push_back(
        {.kind = Blocker::Kind::kNode, .id = graph_.IdOf(node), .index = index, .price = prices_.price});
    return !prices_.only_obstacles;
  }

 private:
  void AppendObstacles(NodeNumber from, NodeNumber to, std::size_t index,
                       std::vector<Blocker>& entries) const {
    const WorldPoint& a = graph_.PositionOf(from);
    const WorldPoint& b = graph_.PositionOf(to);
    const Segment segment{ToFixed(a), ToFixed(b)};
    const Segment point{segment.a, segment.a};
    std::vector<const Obstacle*> touched;
    graph_.sight().VisitPartsAlong(a, b, [&](const Obstacle& obstacle, std::size_t part) {
      if (TouchesPart(segment, obstacle.shape, part)) {
        touched.push_back(&obstacle);
      }
      return true;
    });
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const Obstacle* obstacle : touched) {
      if (from != start_ && Touches(point, obstacle->shape)) {
        continue;
      }
      Blocker& entry = entries.emplace_back(Blocker{.index = index});
      if (obstacle->id == GraphEditor::kAreaId) {
        entry.kind = Blocker::Kind::kArea;
        entry.price = prices_.price;
      } else {
        entry.id = obstacle->id;
        entry.price = prices_.OfObstacle(obstacle->id);
      }
    }
  }

  const WaypointGraph& graph_;
  const WaypointGraph& joined_;
  const NodeNumber start_;
  const BlockerPrices& prices_;
};

double SumOf(const std::vector<Blocker>& entries) {
  double sum = 0.0;
  for (const Blocker& entry : entries) {
    sum += entry.price;
  }
  return sum;
}

class BlockedGraphSearch : private GraphLoop<BlockedGraphSearch> {
  friend GraphLoop<BlockedGraphSearch>;

 public:
  BlockedGraphSearch(const WaypointGraph& joined, const GraphBlockers& blockers, TagSet required_tags,
                     NodeNumber goal, const Budget& budget, GraphScratch& scratch)
      : GraphLoop(joined, required_tags, GraphSense::kFromSeeds, budget, scratch),
        blockers_(blockers),
        goal_(goal),
        budget_(budget) {}

  SearchEnd Search(const GraphSeed& seed) {
    const SearchEnd end = Run({&seed, 1});
    return interruption_.value_or(end);
  }
  const SearchStatistics& statistics() const { return statistics_; }

 private:
  static constexpr bool kEntersDisabled = true;

  static constexpr Cost Estimate(const NodeHead& /*head*/) { return 0; }
  static constexpr bool MayReach(Cost /*g*/) { return true; }
  static constexpr bool MayEnter(const NodeHead& /*head*/) { return true; }
  bool IsTooCostly(Cost /*f*/) const { return interruption_.has_value(); }
  bool EndsAt(NodeNumber node, Cost /*g*/) const { return node == goal_; }
  static constexpr void Generated(NodeNumber /*node*/, NodeNumber /*parent*/, Cost /*g*/, Cost /*f*/) {}
  static constexpr void Expanded(NodeNumber /*node*/, Cost /*g*/, Cost /*f*/) {}

  Cost After(Cost g, NodeNumber node, std::uint32_t i, PackedArc arc) {
    const Cost walked = std::min(g + arc.cost(), kMostCost);
    if (arc.is_open() && blockers_.IsOpen(node, arc.to())) {
      return walked;
    }
    entries_.clear();
    // A blocked arc may touch many obstacles.
    if (++blocked_arcs_ % 64 == 0 && !interruption_) {
      interruption_ = InterruptionAlone(budget_);
    }
    if (interruption_ || !blockers_.AppendEntries(node, graph_.ArcsOf(node)[i], 0, entries_)) {
      return ReachedNode::kBarred;
    }
    const double price = std::min(SumOf(entries_), CostToDouble(kMostCost) / 2);
    return std::min(walked + CostFromDouble(price), kMostCost);
  }

  const GraphBlockers& blockers_;
  const NodeNumber goal_;
  const Budget& budget_;
  std::vector<Blocker> entries_;
  std::size_t blocked_arcs_ = 0;
  std::optional<SearchEnd> interruption_;
};

class GraphExplainer {
 public:
  GraphExplainer(const WaypointGraph& graph, const GraphQuery& query, const BlockerPrices& prices,
                 const Budget& budget, GraphScratch& scratch)
      : graph_(graph), query_(query), prices_(prices), budget_(budget), stop_(budget), scratch_(scratch) {}

  absl::StatusOr<GraphExplanation> Run() {
    WAYSTAR_RETURN_IF_ERROR(CheckPrices(prices_));
    const GraphPlace& goal_place = query_.goals.front();
    WAYSTAR_ASSIGN_OR_RETURN(const TagSet tags, FindRequiredTags(graph_, query_.required_tags));
    WAYSTAR_RETURN_IF_ERROR(CheckPlace(query_.start, "start"));
    WAYSTAR_RETURN_IF_ERROR(CheckPlace(goal_place, "goal"));
    if (SeeEachOther(graph_, query_.start, goal_place, tags != 0)) {
      return GraphExplanation{{.is_found = true, .cost = CostToDouble(LineCost(query_.start, goal_place))}};
    }
    WAYSTAR_ASSIGN_OR_RETURN(const GraphSeat start,
                             FindSeat(graph_, query_.start, query_.snap_radius, "start", &stop_));
    WAYSTAR_ASSIGN_OR_RETURN(const GraphSeat goal,
                             FindSeat(graph_, goal_place, query_.snap_radius, "goal", &stop_));
    std::optional<WaypointGraph> cleared;
    if (graph_.max_distance() && graph_.obstacles().size() > 0) {
      GraphEditor editor(graph_, &stop_);
      WAYSTAR_RETURN_IF_ERROR(editor.RemoveAllObstacles());
      cleared = std::move(editor).Finish();
    }
    return Search(cleared ? *cleared : graph_, start, goal, tags);
  }

 private:
  absl::StatusOr<GraphExplanation> Search(const WaypointGraph& joined, const GraphSeat& start,
                                          const GraphSeat& goal, TagSet tags) {
    const GraphBlockers blockers(graph_, joined, start.node, prices_);
    GraphExplanation explanation;
    if (!blockers.AppendNode(start.node, 0, explanation.blockers)) {
      return GraphExplanation{};
    }
    if (!scratch_.Start(graph_.number_limit())) {
      return StatusOfFlood(SearchEnd::kScratchLimit, 0);
    }
    BlockedGraphSearch search(joined, blockers, tags, goal.node, budget_, scratch_);
    const SearchEnd end =
        search.Search({.node = start.node, .cost = CostFromDouble(SumOf(explanation.blockers))});
    WAYSTAR_RETURN_IF_ERROR(StatusOfFlood(end, search.statistics().expanded));
    explanation.statistics = search.statistics();
    explanation.statistics.algorithm = Algorithm::kDijkstra;
    if (end != SearchEnd::kGoalReached) {
      explanation.blockers.clear();
      return explanation;
    }
    std::vector<NodeNumber>& path = scratch_.path();
    for (NodeNumber node = goal.node; node != start.node; node = scratch_.At(node).parent) {
      path.push_back(node);
    }
    path.push_back(start.node);
    std::reverse(path.begin(), path.end());
    Cost cost = start.cost + goal.cost;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      const Arc& arc = *joined.FindArc(path[i], path[i + 1]);
      cost += arc.cost;
      if (!arc.is_open() || !blockers.IsOpen(path[i], path[i + 1])) {
        blockers.AppendEntries(path[i], arc, i, explanation.blockers);
        WAYSTAR_RETURN_IF_ERROR(CheckEntries(explanation.blockers));
      }
    }
    explanation.is_found = true;
    explanation.cost = CostToDouble(cost);
    explanation.price = SumOf(explanation.blockers);
    explanation.nodes = path;
    return explanation;
  }

  const WaypointGraph& graph_;
  const GraphQuery& query_;
  const BlockerPrices& prices_;
  const Budget& budget_;
  const BudgetStop stop_;
  GraphScratch& scratch_;
};

}  // namespace

absl::StatusOr<GraphExplanation> ExplainGraphPath(const WaypointGraph& graph, const GraphQuery& query,
                                                  const BlockerPrices& prices, const Budget& budget,
                                                  GraphScratch& scratch) {
  return GraphExplainer(graph, query, prices, budget, scratch).Run();
}

}  // namespace waystar::core
