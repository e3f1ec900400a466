#include "server/core/graph/search/graph_astar.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "server/core/graph/search/graph_heuristic.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

template <typename Recorder>
class GraphAStar {
 public:
  GraphAStar(const WaypointGraph& graph, const GraphSearchTask& task, const Budget& budget,
             GraphScratch& scratch, Recorder& recorder)
      : graph_(graph),
        task_(task),
        budget_(budget),
        scratch_(scratch),
        recorder_(recorder),
        heuristic_(task.is_guided ? GraphHeuristic(graph, task.goal_position) : GraphHeuristic()) {}

  GraphSearchReport Run() {
    report_.statistics.algorithm = task_.is_guided ? Algorithm::kAStar : Algorithm::kDijkstra;
    scratch_.Reach(scratch_.At(task_.start), 0, task_.start);
    report_.end =
        Push(task_.start, task_.start, 0, graph_.HeadOf(task_.start)) ? Loop() : SearchEnd::kScratchLimit;
    return report_;
  }

 private:
  // Distances are rounded, so the heuristic may be inconsistent by one unit of cost, but it is admissible. A
  // node that is reached more cheaply later is expanded again.
  SearchEnd Loop() {
    while (!scratch_.open().empty()) {
      const OpenEntry entry = scratch_.open().Pop();
      const NodeNumber node = entry.packed_cell;
      if (entry.g != scratch_.At(node).g) {
        continue;
      }
      if (node == task_.goal) {
        report_.last = node;
        report_.cost = entry.g;
        return SearchEnd::kGoalReached;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, report_.statistics.expanded)) {
        return *end;
      }
      ++report_.statistics.expanded;
      recorder_.Expanded(node, entry.g, entry.f);
      if (task_.wants_nearest) {
        NoteNearest(node, entry.g);
      }
      if (!Expand(node, entry.g)) {
        return SearchEnd::kScratchLimit;
      }
    }
    return SearchEnd::kExhausted;
  }

  bool Expand(NodeNumber node, Cost g) {
    const PackedArc* const arcs = graph_.PackedArcsOf(node);
    const std::uint32_t count = graph_.HeadOf(node).arc_count;
    const TagSet* tags = nullptr;
    if (task_.required_tags != 0) {
      tags = graph_.ArcTagsOf(node);
      if (tags == nullptr) {
        return true;
      }
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const PackedArc arc = arcs[i];
      if (!arc.is_open() || (tags != nullptr && (tags[i] & task_.required_tags) != task_.required_tags)) {
        continue;
      }
      const NodeNumber to = arc.to();
      ReachedNode& next = scratch_.At(to);
      const Cost next_g = g + arc.cost();
      const bool is_fresh = scratch_.IsFresh(next);
      if (!is_fresh && next_g >= next.g) {
        continue;
      }
      const NodeHead& head = graph_.HeadOf(to);
      if (head.is_enabled == 0) {
        scratch_.Reach(next, ReachedNode::kBarred, to);
        continue;
      }
      scratch_.Reach(next, next_g, node);
      if (is_fresh) {
        // The node is likely to be expanded soon.
        graph_.PrefetchArcsOf(to);
      }
      if (!Push(to, node, next_g, head)) {
        return false;
      }
    }
    return true;
  }

  bool Push(NodeNumber node, NodeNumber parent, Cost g, const NodeHead& head) {
    ++report_.statistics.generated;
    const Cost f = g + heuristic_.Estimate(head.position);
    recorder_.Generated(node, parent, g, f);
    return scratch_.Push({.f = f, .g = g, .packed_cell = node});
  }

  void NoteNearest(NodeNumber node, Cost g) {
    const double distance = SquaredDistance(graph_.PositionOf(node), task_.goal_position);
    const bool is_first = report_.statistics.expanded == 1;
    if (is_first || distance < nearest_distance_ ||
        (distance == nearest_distance_ && (g < report_.cost || (g == report_.cost && node < report_.last)))) {
      nearest_distance_ = distance;
      report_.last = node;
      report_.cost = g;
    }
  }

  const WaypointGraph& graph_;
  const GraphSearchTask& task_;
  const Budget& budget_;
  GraphScratch& scratch_;
  Recorder& recorder_;
  const GraphHeuristic heuristic_;
  GraphSearchReport report_;
  double nearest_distance_ = 0.0;
};

}  // namespace

GraphSearchReport SearchGraph(const WaypointGraph& graph, const GraphSearchTask& task, const Budget& budget,
                              GraphScratch& scratch, NodeRecorder* recorder) {
  if (recorder != nullptr) {
    return GraphAStar(graph, task, budget, scratch, *recorder).Run();
  }
  NoNodeRecorder none;
  return GraphAStar(graph, task, budget, scratch, none).Run();
}

}  // namespace waystar::core
