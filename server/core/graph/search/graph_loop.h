// Best-first loop of all searches on waypoint graphs.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_scratch.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/interruption.h"
#include "server/core/search/query.h"

namespace waystar::core {

enum class GraphSense : std::uint8_t {
  // Follows the arcs and finds the cost from the seeds to each node.
  kFromSeeds,
  // Follows the arcs backwards and finds the cost from each node to the seeds.
  kToSeeds,
};

struct GraphSeed {
  NodeNumber node = 0;
  // Initial cost at the node.
  Cost cost = 0;
};

// Expands enabled nodes over open arcs that carry all required tags, in the order of OpenEntry. A node that
// is reached more cheaply later is expanded again; a node reached at equal cost keeps the parent expanded
// first. Seeds are their own parents.
//
// The class `Search` derives from this (without virtual calls) and has:
// - Cost Estimate(const NodeHead& head): the heuristic, an admissible estimate of the remaining cost.
// - bool MayReach(Cost g) and bool MayEnter(const NodeHead& head): limits of the search.
// - bool EndsAt(NodeNumber node, Cost g): called with the next node to expand; ends the search if true.
// - void Generated(node, parent, g, f) and void Expanded(node, g, f): the recorder.
template <typename Search>
class GraphLoop {
 protected:
  GraphLoop(const WaypointGraph& graph, TagSet required_tags, GraphSense sense, const Budget& budget,
            GraphScratch& scratch)
      : graph_(graph), required_tags_(required_tags), sense_(sense), budget_(budget), scratch_(scratch) {}

  // Searches from the seeds. Returns kGoalReached if EndsAt did, kExhausted, or the limit or interruption.
  // REQUIRES: scratch.Start(graph.number_limit()) returned true.
  SearchEnd Run(absl::Span<const GraphSeed> seeds) {
    for (const GraphSeed& seed : seeds) {
      if (!Enter(seed.node, seed.cost, seed.node)) {
        return SearchEnd::kScratchLimit;
      }
    }
    while (!scratch_.open().empty()) {
      const OpenEntry entry = scratch_.open().Pop();
      const NodeNumber node = entry.packed_cell;
      if (entry.g != scratch_.At(node).g) {
        continue;
      }
      if (search().EndsAt(node, entry.g)) {
        return SearchEnd::kGoalReached;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, statistics_.expanded)) {
        return *end;
      }
      ++statistics_.expanded;
      search().Expanded(node, entry.g, entry.f);
      if (sense_ == GraphSense::kFromSeeds ? !Follow(node, entry.g) : !GoAgainst(node, entry.g)) {
        return SearchEnd::kScratchLimit;
      }
    }
    return SearchEnd::kExhausted;
  }

  const WaypointGraph& graph_;
  SearchStatistics statistics_;

 private:
  Search& search() { return static_cast<Search&>(*this); }

  bool CarriesAll(TagSet tags) const { return (tags & required_tags_) == required_tags_; }

  // Follows the arcs of a node. Here and below, returns false if the memory limit is reached.
  bool Follow(NodeNumber node, Cost g) {
    const PackedArc* const arcs = graph_.PackedArcsOf(node);
    const std::uint32_t count = graph_.HeadOf(node).arc_count;
    const TagSet* tags = nullptr;
    if (required_tags_ != 0) {
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
      if (!arc->is_open() || (required_tags_ != 0 && !CarriesAll(graph_.TagsOfArc(source, *arc)))) {
        continue;
      }
      if (!Enter(source, g + arc->cost, node)) {
        return false;
      }
    }
    return true;
  }

  bool Enter(NodeNumber node, Cost g, NodeNumber parent) {
    ReachedNode& next = scratch_.At(node);
    const bool is_fresh = scratch_.IsFresh(next);
    if (!search().MayReach(g) || (!is_fresh && g >= next.g)) {
      return true;
    }
    const NodeHead& head = graph_.HeadOf(node);
    if (head.is_enabled == 0 || !search().MayEnter(head)) {
      scratch_.Reach(next, ReachedNode::kBarred, node);
      return true;
    }
    scratch_.Reach(next, g, parent);
    if (is_fresh && sense_ == GraphSense::kFromSeeds) {
      // The node is likely to be expanded soon.
      graph_.PrefetchArcsOf(node);
    }
    ++statistics_.generated;
    const Cost f = g + search().Estimate(head);
    search().Generated(node, parent, g, f);
    return scratch_.Push({.f = f, .g = g, .packed_cell = node});
  }

  const TagSet required_tags_;
  const GraphSense sense_;
  const Budget& budget_;
  GraphScratch& scratch_;
};

}  // namespace waystar::core
