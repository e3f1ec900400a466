// Waypoint graph: immutable snapshot of the nodes and edges of a waypoint map at one revision.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/memory_account.h"
#include "server/base/stop_check.h"
#include "server/core/elements/element_hash.h"
#include "server/core/elements/map_kind.h"
#include "server/core/elements/waypoint.h"
#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/map/shared_pages.h"
#include "server/core/graph/map/sight_line.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Rule for automatic edges. Nodes that see each other get a two-way edge whose cost is the length of the
// straight line between them, unless an explicit edge exists. It has the tags that both nodes have.
struct AutoConnect {
  // Maximum distance, including height: more than 0, at most kMaxEdgeCost.
  double max_distance = 0.0;
  // Grid that blocks sight, or null. Only automatic edges, snapping and direct lines respect it; explicit
  // edges ignore it.
  std::shared_ptr<const GridSight> grid;
};

// Complete content of a new graph.
struct WaypointSpec {
  std::vector<WaypointNode> nodes;
  std::vector<WaypointEdge> edges;
  std::optional<AutoConnect> auto_connect;
  // Named obstacles, which keep their expiry.
  std::vector<Obstacle> obstacles;
};

// Snapshot of a waypoint graph. At most one arc leads from a node to another; a two-way edge is two arcs. An
// arc is open if it is enabled and, unless it is automatic, no named obstacle touches it. Automatic arcs
// depend only on the current content of the graph, not on its history.
//
// Thread safety: immutable. Copies share their parts and cost one pointer per several thousand nodes;
// GraphEditor makes a changed copy.
class WaypointGraph {
 public:
  // Returns the errors of GraphEditor, with fields such as "nodes[3].id", "edges[0].cost",
  // "obstacles[2].shape.discs[0].radius" and "auto_connect.max_distance", or the error of `stop`, which is
  // checked before each obstacle, node and edge.
  static absl::StatusOr<WaypointGraph> Create(const WaypointSpec& spec, const StopCheck* stop = nullptr);

  static MapKind kind() { return MapKind::kWaypointGraph; }

  std::size_t node_count() const { return node_count_; }
  std::size_t arc_count() const { return arc_count_; }
  // Returns an exclusive upper bound of all node numbers.
  std::size_t number_limit() const { return pages_.size() * kPageNodes; }

  // Returns the free numbers below number_limit(), the next to be used first.
  std::vector<NodeNumber> FreeNumbers() const;

  // Returns the node with that id, or kNoNodeNumber.
  NodeNumber FindNode(absl::string_view id) const;
  bool Exists(NodeNumber node) const {
    return node < number_limit() && (PageOf(node).exists >> PlaceOf(node) & 1) != 0;
  }

  // REQUIRES, for the following: Exists(node).
  const std::string& IdOf(NodeNumber node) const { return ids_[node / kPageNodes].ids[PlaceOf(node)]; }
  // Returns the label, or an empty string; valid as long as the graph.
  absl::string_view LabelOf(NodeNumber node) const { return ids_[node / kPageNodes].LabelAt(PlaceOf(node)); }
  const WorldPoint& PositionOf(NodeNumber node) const { return HeadOf(node).position; }
  bool IsEnabled(NodeNumber node) const { return HeadOf(node).is_enabled != 0; }
  TagSet TagsOf(NodeNumber node) const { return PageOf(node).tags[PlaceOf(node)]; }
  absl::Span<const Arc> ArcsOf(NodeNumber node) const {
    const NodePage& page = PageOf(node);
    const NodeHead& head = page.heads[PlaceOf(node)];
    return {page.arcs.data() + head.first_arc, head.arc_count};
  }
  // Return the head of the node and the packed arcs, for searches.
  const NodeHead& HeadOf(NodeNumber node) const { return PageOf(node).heads[PlaceOf(node)]; }
  const PackedArc* PackedArcsOf(NodeNumber node) const {
    const NodePage& page = PageOf(node);
    return page.packed.data() + page.heads[PlaceOf(node)].first_arc;
  }
  // Prefetches the first of those arcs.
  void PrefetchArcsOf(NodeNumber node) const {
    const PackedArc* const arcs = PackedArcsOf(node);
    __builtin_prefetch(arcs);
    // Eight arcs span two cache lines. If there are no arcs, this stays in the first line.
    __builtin_prefetch(arcs + std::min<std::uint32_t>(HeadOf(node).arc_count, 8));
  }
  // Returns the tags of the same arcs, or null if no arc of the page has any.
  const TagSet* ArcTagsOf(NodeNumber node) const {
    const NodePage& page = PageOf(node);
    return page.arc_tags.empty() ? nullptr : page.arc_tags.data() + page.heads[PlaceOf(node)].first_arc;
  }
  // Returns the arc between two nodes, or null. Costs O(log arcs of the node).
  const Arc* FindArc(NodeNumber from, NodeNumber to) const;
  TagSet TagsOfArc(NodeNumber from, const Arc& arc) const;
  // Returns the sources of arcs that lead to the node, in ascending order.
  absl::Span<const NodeNumber> SourcesOf(NodeNumber node) const;

  // Returns, in alphabetical order, the tags of nodes and explicit arcs.
  std::vector<std::string> tags() const { return NamesOf(TagsInUse()); }
  // Returns the bits of the tags, or nullopt if one is not in use; no arc then carries them all.
  std::optional<TagSet> FindTags(absl::Span<const std::string> tags) const;
  // Returns the names in alphabetical order, because the bits depend on earlier edits.
  std::vector<std::string> NamesOf(TagSet tags) const;

  const SightMap& sight() const { return sight_; }
  const ObstacleTable& obstacles() const { return sight_.obstacles(); }
  std::optional<double> max_distance() const { return max_distance_; }

  // Returns a lower bound, for heuristics, of the cost per unit of length of open arcs other than
  // cheap_arcs(). It is lower than the exact minimum by a margin greater than the rounding of distances.
  double least_cost_per_length() const;
  const std::vector<CheapArc>& cheap_arcs() const { return bound_.cheap; }

  // Returns the nearest enabled node within `radius` that the position sees (IsClear in sight_line.h); the
  // smallest number among equals. Returns kNoNodeNumber if there is none, or once `stop` fails, which is
  // checked every few nodes.
  NodeNumber NearestVisible(const WorldPoint& position, double radius, const StopCheck* stop = nullptr) const;

  // Calls visit(node) for the nodes at most `radius` from a position.
  template <typename Visitor>
  void VisitNodesWithin(const WorldPoint& position, double radius, Visitor visit) const {
    places_.VisitOverlapping(Box::Around(position.x, position.y, radius), [&](const PlacedNode& node) {
      if (SquaredDistance(node.position, position) <= radius * radius) {
        visit(node.number);
      }
      return true;
    });
  }

  // As GridMap::digest. Independent of the numbers of nodes.
  std::uint64_t digest() const { return digest_ + sight_.obstacles().digest(); }

  // Returns the bytes held by this revision, including shared parts.
  std::size_t memory_bytes() const;
  void AddTo(MemoryUse& use) const { use.maps += memory_bytes(); }
  // Returns the bytes held by this revision and not by `other`. Cost is proportional to the differences, plus
  // one pointer per several thousand nodes.
  // REQUIRES: one was edited into the other, or a third into both.
  std::size_t BytesBeyond(const WaypointGraph& other) const;

 private:
  friend class GraphEditor;
  friend class ArcWriter;

  WaypointGraph() : tags_(std::make_shared<const std::vector<std::string>>()) {}

  static std::size_t PlaceOf(NodeNumber node) { return node % kPageNodes; }
  // Return the parts of the digest of a node, and of an explicit arc.
  // REQUIRES: Exists(node).
  std::uint64_t DigestOfNode(NodeNumber node) const;
  std::uint64_t DigestOfArc(NodeNumber from, const Arc& arc, TagSet tags) const;
  std::uint64_t DigestOfTags(TagSet tags) const;
  // Count the users of the tags: nodes and explicit arcs.
  void AddUseOf(TagSet tags);
  void EndUseOf(TagSet tags);
  TagSet TagsInUse() const;

  const NodePage& PageOf(NodeNumber node) const { return pages_[node / kPageNodes]; }
  // Returns the number to be used after this one.
  // REQUIRES: the number is free.
  NodeNumber FreeAfter(NodeNumber free) const {
    return static_cast<NodeNumber>(PageOf(free).tags[PlaceOf(free)]);
  }

  SharedPages<NodePage> pages_;
  SharedPages<SourcePage> sources_;
  SharedPages<IdPage> ids_;
  IdIndex by_id_;
  BoxTree<PlacedNode> places_;
  SightMap sight_;
  std::optional<double> max_distance_;
  // Number of nodes and explicit arcs with each tag. The name of an unused tag may be replaced.
  std::array<std::uint32_t, kMaxTagsOfMap> tag_uses_{};
  std::shared_ptr<const std::vector<std::string>> tags_;
  // Next free number for a new node; kNoNodeNumber if there is none.
  NodeNumber first_free_ = kNoNodeNumber;
  // Exclusive upper bound of all numbers ever used.
  NodeNumber next_number_ = 0;
  std::size_t node_count_ = 0;
  std::size_t arc_count_ = 0;
  ArcCostBound bound_;
  // Digest without the obstacles.
  std::uint64_t digest_ = ElementHash(ElementKind::kGraph).value();
};

}  // namespace waystar::core
