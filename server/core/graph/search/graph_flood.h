// Working memory and best-first loop of all searches on waypoint graphs, and Dijkstra's algorithm from or to
// several nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/core/graph/map/box_tree.h"
#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/interruption.h"
#include "server/core/search/open_list.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Search state of a node.
struct ReachedNode {
  // Cost of nodes that paths may not enter; lower than any other cost.
  static constexpr Cost kBarred = -1;

  // Minimum cost from the start so far.
  Cost g = 0;
  // Search that wrote this; an older generation means that the node is not reached yet.
  std::uint32_t generation = 0;
  // Predecessor; the node itself at the start.
  NodeNumber parent = 0;
};

// Nodes, open list and path of one search, reused between searches. Allocates nothing once it has grown to
// the largest graph searched. Takes 16 bytes per node of that graph.
//
// Not thread-safe; each worker thread has its own.
class GraphScratch {
 public:
  // Nodes and open list together stay below `max_bytes`; memory left by earlier searches is freed before a
  // search is refused more.
  explicit GraphScratch(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  GraphScratch(const GraphScratch&) = delete;
  GraphScratch& operator=(const GraphScratch&) = delete;

  // Clears the scratch and prepares for a search over node numbers below `limit`. Returns false if the memory
  // limit does not allow it. Costs O(1) plus growth.
  bool Start(std::size_t limit);

  ReachedNode& At(NodeNumber node) { return nodes_[node]; }
  bool IsFresh(const ReachedNode& node) const { return node.generation != generation_; }
  void Reach(ReachedNode& node, Cost g, NodeNumber parent) const {
    node = {.g = g, .generation = generation_, .parent = parent};
  }

  OpenList& open() { return open_; }
  // Pushes an entry onto the open list. Returns false if the memory limit is reached.
  bool Push(const OpenEntry& entry) {
    if (open_.IsFull() && !GrowOpen()) {
      return false;
    }
    open_.Push(entry);
    return true;
  }

  std::vector<NodeNumber>& path() { return path_; }

  std::size_t memory_bytes() const {
    return nodes_.capacity() * sizeof(ReachedNode) + open_.memory_bytes() +
           path_.capacity() * sizeof(NodeNumber);
  }

 private:
  // Returns true if `bytes` more fit below the limit, after freeing unused memory if necessary.
  bool HasRoom(std::size_t bytes);
  bool GrowOpen();

  const std::size_t max_bytes_;
  // Number of nodes that the search uses.
  std::size_t limit_ = 0;
  std::uint32_t generation_ = 0;
  std::vector<ReachedNode> nodes_;
  OpenList open_;
  std::vector<NodeNumber> path_;
};

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
// - bool IsTooCostly(Cost f): called with the least f of the open nodes; ends the search if true.
// - bool EndsAt(NodeNumber node, Cost g): called with the next node to expand; ends the search if true.
// - Cost After(Cost g, NodeNumber node, std::uint32_t i, PackedArc arc): the cost after following arc i of a
//   node, or kBarred; unless the search hides that of this class. With kEntersDisabled, paths may enter
//   disabled nodes.
// - void Generated(node, parent, g, f) and void Expanded(node, g, f): the recorder.
template <typename Search>
class GraphLoop {
 protected:
  static constexpr bool kEntersDisabled = false;

  static Cost After(Cost g, NodeNumber /*node*/, std::uint32_t /*i*/, PackedArc arc) {
    return arc.is_open() ? g + arc.cost() : ReachedNode::kBarred;
  }

  GraphLoop(const WaypointGraph& graph, TagSet required_tags, GraphSense sense, const Budget& budget,
            GraphScratch& scratch)
      : graph_(graph), required_tags_(required_tags), sense_(sense), budget_(budget), scratch_(scratch) {}

  // Searches from the seeds. Returns kGoalReached if EndsAt did, kCostLimit if IsTooCostly did, kExhausted,
  // or the limit or interruption. REQUIRES: scratch.Start(graph.number_limit()) returned true.
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
      if (search().IsTooCostly(entry.f)) {
        return SearchEnd::kCostLimit;
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
      if (tags != nullptr && !CarriesAll(tags[i])) {
        continue;
      }
      const Cost next_g = search().After(g, node, i, arc);
      if (next_g == ReachedNode::kBarred) {
        continue;
      }
      if (!Enter(arc.to(), next_g, node)) {
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
    if ((head.is_enabled == 0 && !Search::kEntersDisabled) || !search().MayEnter(head)) {
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

struct GraphFloodTask {
  // Seeds; duplicates are allowed. Disabled nodes and nodes outside the region are skipped.
  absl::Span<const GraphSeed> seeds;
  GraphSense sense = GraphSense::kFromSeeds;
  // An arc must carry all of these tags.
  TagSet required_tags = 0;
  // Maximum cost; nodes that cost more are not reached.
  Cost max_cost = std::numeric_limits<Cost>::max();
  // Area that paths may not leave, seen from above.
  std::optional<Box> region;
};

struct GraphFloodReport {
  // kGoalReached if the visitor ended the flood.
  SearchEnd end = SearchEnd::kExhausted;
  std::uint64_t expanded = 0;
  std::uint64_t generated = 0;
};

// Returns true if the box contains the position, seen from above.
inline bool Holds(const Box& box, const WorldPoint& position) {
  return box.x_low <= position.x && position.x <= box.x_high && box.y_low <= position.y &&
         position.y <= box.y_high;
}

// Floods over enabled nodes and open arcs. Calls visit(node, cost) once for each node before it is expanded,
// in order of cost; among open nodes of equal cost the smallest number is first. Ends when the visitor
// returns false. A node reached at equal cost from two others keeps the one expanded first as its parent;
// seeds are their own parents. The result is therefore the same on every machine.
//
// Reached nodes stay in the scratch until its next search (FindReached). After an early end, some of them may
// not have been visited, and their costs may be too high. Takes O(arcs + nodes log nodes), plus O(log arcs of
// the node) for each arc that is followed backwards.
GraphFloodReport FloodGraph(const WaypointGraph& graph, const GraphFloodTask& task, const Budget& budget,
                            GraphScratch& scratch, absl::FunctionRef<bool(NodeNumber node, Cost cost)> visit);

// Returns the state of a node, or null if the last flood did not reach it.
// REQUIRES: the node is below the number limit.
inline const ReachedNode* FindReached(GraphScratch& scratch, NodeNumber node) {
  const ReachedNode& reached = scratch.At(node);
  return scratch.IsFresh(reached) || reached.g == ReachedNode::kBarred ? nullptr : &reached;
}

// Returns the error of a flood that its budget stopped, as StatusOfEnd does; or RESOURCE_EXHAUSTED /
// REGION_TOO_LARGE if it needs more expansions or memory than allowed; the message says which.
absl::Status StatusOfFlood(SearchEnd end, std::uint64_t expanded);

// Nodes that a flood looks for: a sorted list, plus one bit per possible node.
class NodeSet {
 public:
  // Nodes have numbers below `limit`.
  explicit NodeSet(std::size_t limit) : bits_((limit + 63) / 64) {}

  // Replaces the nodes; `nodes` may contain duplicates and be in any order.
  void Assign(std::vector<NodeNumber> nodes) {
    for (const NodeNumber node : nodes_) {
      bits_[node / 64] = 0;
    }
    nodes_ = std::move(nodes);
    std::sort(nodes_.begin(), nodes_.end());
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
    for (const NodeNumber node : nodes_) {
      bits_[node / 64] |= std::uint64_t{1} << (node % 64);
    }
  }

  const std::vector<NodeNumber>& nodes() const { return nodes_; }
  std::size_t size() const { return nodes_.size(); }

  bool Contains(NodeNumber node) const { return (bits_[node / 64] >> (node % 64) & 1) != 0; }
  // Returns the index in nodes(). Costs O(log size).
  // REQUIRES: Contains(node).
  std::size_t IndexOf(NodeNumber node) const {
    return static_cast<std::size_t>(std::lower_bound(nodes_.begin(), nodes_.end(), node) - nodes_.begin());
  }

 private:
  std::vector<NodeNumber> nodes_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace waystar::core
