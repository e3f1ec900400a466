#include "server/core/graph/search/graph_flood.h"

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

class GraphFlood {
 public:
  GraphFlood(const WaypointGraph& graph, const GraphFloodTask& task, const Budget& budget,
             GraphScratch& scratch)
      : graph_(graph), task_(task), budget_(budget), scratch_(scratch) {}

  GraphFloodReport Run(absl::FunctionRef<bool(NodeNumber, Cost)> visit) {
    report_.end =
        scratch_.Start(graph_.number_limit()) && PushSeeds() ? Loop(visit) : SearchEnd::kScratchLimit;
    return report_;
  }

 private:
  bool PushSeeds() {
    for (const GraphSeed& seed : task_.seeds) {
      if (!Enter(seed.node, seed.cost, seed.node)) {
        return false;
      }
    }
    return true;
  }

  SearchEnd Loop(absl::FunctionRef<bool(NodeNumber, Cost)> visit) {
    while (!scratch_.open().empty()) {
      const OpenEntry entry = scratch_.open().Pop();
      const NodeNumber node = entry.packed_cell;
      if (entry.g != scratch_.At(node).g) {
        continue;
      }
      if (!visit(node, entry.g)) {
        return SearchEnd::kGoalReached;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, report_.expanded)) {
        return *end;
      }
      ++report_.expanded;
      if (task_.sense == GraphSense::kFromSeeds ? !Follow(node, entry.g) : !GoAgainst(node, entry.g)) {
        return SearchEnd::kScratchLimit;
      }
    }
    return SearchEnd::kExhausted;
  }

  bool Follow(NodeNumber node, Cost g) {
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
      if (!arc.is_open() || (tags != nullptr && !CarriesAll(tags[i]))) {
        continue;
      }
      if (!Enter(arc.to(), g + arc.cost(), node)) {
        return false;
      }
    }
    return true;
  }

  bool GoAgainst(NodeNumber node, Cost g) {
    for (const NodeNumber source : graph_.SourcesOf(node)) {
      const Arc* arc = graph_.FindArc(source, node);
      if (!arc->is_open() || (task_.required_tags != 0 && !CarriesAll(graph_.TagsOfArc(source, *arc)))) {
        continue;
      }
      if (!Enter(source, g + arc->cost, node)) {
        return false;
      }
    }
    return true;
  }

  bool CarriesAll(TagSet tags) const { return (tags & task_.required_tags) == task_.required_tags; }

  // Returns false if the memory limit is reached.
  bool Enter(NodeNumber node, Cost g, NodeNumber parent) {
    ReachedNode& next = scratch_.At(node);
    const bool is_fresh = scratch_.IsFresh(next);
    if (g > task_.max_cost || (!is_fresh && g >= next.g)) {
      return true;
    }
    const NodeHead& head = graph_.HeadOf(node);
    if (head.is_enabled == 0 || (task_.region && !Holds(*task_.region, head.position))) {
      scratch_.Reach(next, ReachedNode::kBarred, node);
      return true;
    }
    scratch_.Reach(next, g, parent);
    if (is_fresh && task_.sense == GraphSense::kFromSeeds) {
      // The node is likely to be expanded soon.
      graph_.PrefetchArcsOf(node);
    }
    ++report_.generated;
    return scratch_.Push({.f = g, .g = g, .packed_cell = node});
  }

  const WaypointGraph& graph_;
  const GraphFloodTask& task_;
  const Budget& budget_;
  GraphScratch& scratch_;
  GraphFloodReport report_;
};

}  // namespace

GraphFloodReport FloodGraph(const WaypointGraph& graph, const GraphFloodTask& task, const Budget& budget,
                            GraphScratch& scratch, absl::FunctionRef<bool(NodeNumber, Cost)> visit) {
  return GraphFlood(graph, task, budget, scratch).Run(visit);
}

absl::Status CheckSeatInRegion(const WaypointGraph& graph, const std::optional<Box>& region,
                               const GraphSeat& seat, absl::string_view field) {
  if (!region || Holds(*region, graph.PositionOf(seat.node))) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadValue, field,
                   absl::StrCat("the node \"", graph.IdOf(seat.node), "\" lies outside the region"));
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

}  // namespace waystar::core
