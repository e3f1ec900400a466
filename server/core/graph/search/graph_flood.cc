#include "server/core/graph/search/graph_flood.h"

#include "server/base/error.h"
#include "server/core/search/checks.h"

namespace waystar::core {
namespace {

class GraphFlood : private GraphLoop<GraphFlood> {
  friend GraphLoop<GraphFlood>;

 public:
  GraphFlood(const WaypointGraph& graph, const GraphFloodTask& task, const Budget& budget,
             GraphScratch& scratch, absl::FunctionRef<bool(NodeNumber, Cost)> visit)
      : GraphLoop(graph, task.required_tags, task.sense, budget, scratch), task_(task), visit_(visit) {}

  GraphFloodReport Flood() {
    const SearchEnd end = Run(task_.seeds);
    return {.end = end, .expanded = statistics_.expanded, .generated = statistics_.generated};
  }

 private:
  static constexpr Cost Estimate(const NodeHead& /*head*/) { return 0; }
  static constexpr bool IsTooCostly(Cost /*f*/) { return false; }
  bool MayReach(Cost g) const { return g <= task_.max_cost; }
  bool MayEnter(const NodeHead& head) const { return !task_.region || Holds(*task_.region, head.position); }
  bool EndsAt(NodeNumber node, Cost g) const { return !visit_(node, g); }
  static constexpr void Generated(NodeNumber /*node*/, NodeNumber /*parent*/, Cost /*g*/, Cost /*f*/) {}
  static constexpr void Expanded(NodeNumber /*node*/, Cost /*g*/, Cost /*f*/) {}

  const GraphFloodTask& task_;
  const absl::FunctionRef<bool(NodeNumber, Cost)> visit_;
};

}  // namespace

GraphFloodReport FloodGraph(const WaypointGraph& graph, const GraphFloodTask& task, const Budget& budget,
                            GraphScratch& scratch, absl::FunctionRef<bool(NodeNumber, Cost)> visit) {
  if (!scratch.Start(graph.number_limit())) {
    return {.end = SearchEnd::kScratchLimit};
  }
  return GraphFlood(graph, task, budget, scratch, visit).Flood();
}

absl::Status StatusOfFlood(SearchEnd end, std::uint64_t expanded) {
  switch (end) {
    case SearchEnd::kScratchLimit:
      return MakeError(
          ErrorReason::kRegionTooLarge, "",
          "a search over so large a graph would take more than the server's memory for one search");
    case SearchEnd::kExpansionLimit:
      return MakeError(ErrorReason::kRegionTooLarge, "",
                       "a search over so large a graph would take more expansions than one answer may");
    default:
      return StatusOfEnd(end, expanded);
  }
}

bool GraphScratch::Start(std::size_t limit) {
  if (IsMuchToKeep(open_.memory_bytes(), max_bytes_)) {
    open_ = OpenList();
  }
  open_.Clear();
  path_.clear();
  limit_ = limit;
  if (nodes_.size() < limit) {
    CutTo(nodes_, 0);
    if (!HasRoom(limit * sizeof(ReachedNode))) {
      return false;
    }
    nodes_.resize(limit);
    generation_ = 0;
  }
  ++generation_;
  if (generation_ == 0) {
    // The counter wrapped: nodes of an old generation must not match a new one.
    nodes_.assign(nodes_.size(), ReachedNode{});
    generation_ = 1;
  }
  return true;
}

bool GraphScratch::HasRoom(std::size_t bytes) {
  const auto fits = [&] {
    return nodes_.capacity() * sizeof(ReachedNode) + open_.memory_bytes() + bytes <= max_bytes_;
  };
  if (!fits()) {
    CutTo(nodes_, limit_);
  }
  return fits();
}

bool GraphScratch::GrowOpen() {
  // While it grows, the list needs both its old and new memory.
  if (!HasRoom(open_.grown_bytes())) {
    return false;
  }
  open_.Grow();
  return true;
}

}  // namespace waystar::core
