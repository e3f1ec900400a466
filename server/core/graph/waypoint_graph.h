// Nodes and the edges between them: the immutable state of a waypoint map at one revision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/graph/id_index.h"
#include "server/core/graph/node_pages.h"
#include "server/core/graph/shared_pages.h"
#include "server/core/graph/sight_map.h"
#include "server/core/graph/waypoint.h"
#include "server/core/graph/world_point.h"

namespace waystar::core {

// Nodes that see each other have an edge both ways, as long as the straight line between them, unless one was
// put between them by name. The edge carries the tags that both nodes carry.
struct AutoConnect {
  // In the plane and up: more than 0, at most kMaxEdgeCost.
  double max_distance = 0.0;
  // Null for none. Only what auto-connection, snapping and direct lines see: edges that were put pass it.
  std::shared_ptr<const GridSight> grid;
};

// All that a new graph holds.
struct WaypointSpec {
  std::vector<WaypointNode> nodes;
  std::vector<WaypointEdge> edges;
  std::optional<AutoConnect> auto_connect;
  // Their expiry is kept.
  std::vector<Obstacle> obstacles;
};

// At most one arc leads from a node to another; an edge both ways is two. An arc is open if it is enabled
// and, unless AutoConnect made it, no named obstacle touches it. What AutoConnect made depends on nothing but
// what else the graph holds, not on how that came about.
//
// Thread safety: immutable, so any number of threads may read it. Copies share what they hold and cost a
// pointer for some thousand nodes; GraphEditor makes a changed copy.
class WaypointGraph {
 public:
  // Errors of GraphEditor, with fields "nodes[3].id", "edges[0].cost", "obstacles[2].shape.discs[0].radius"
  // and "auto_connect.max_distance".
  static absl::StatusOr<WaypointGraph> Create(const WaypointSpec& spec);

  std::size_t node_count() const { return node_count_; }
  std::size_t arc_count() const { return arc_count_; }
  // Numbers of nodes are below this.
  std::size_t number_limit() const { return pages_.size() * kPageNodes; }

  // kNoNodeNumber if there is none.
  NodeNumber FindNode(absl::string_view id) const;
  bool Exists(NodeNumber node) const {
    return node < number_limit() && (PageOf(node).exists >> PlaceOf(node) & 1) != 0;
  }

  // REQUIRES of these: Exists(node).
  const std::string& IdOf(NodeNumber node) const { return ids_[node / kPageNodes].ids[PlaceOf(node)]; }
  const WorldPoint& PositionOf(NodeNumber node) const { return HeadOf(node).position; }
  bool IsEnabled(NodeNumber node) const { return HeadOf(node).is_enabled != 0; }
  TagSet TagsOf(NodeNumber node) const { return PageOf(node).tags[PlaceOf(node)]; }
  absl::Span<const Arc> ArcsOf(NodeNumber node) const {
    const NodePage& page = PageOf(node);
    const NodeHead& head = page.heads[PlaceOf(node)];
    return {page.arcs.data() + head.first_arc, head.arc_count};
  }
  // For searches: where the node is, and the same arcs.
  const NodeHead& HeadOf(NodeNumber node) const { return PageOf(node).heads[PlaceOf(node)]; }
  const PackedArc* PackedArcsOf(NodeNumber node) const {
    const NodePage& page = PageOf(node);
    return page.packed.data() + page.heads[PlaceOf(node)].first_arc;
  }
  // Of the same arcs; null if no arc near here has any.
  const TagSet* ArcTagsOf(NodeNumber node) const {
    const NodePage& page = PageOf(node);
    return page.arc_tags.empty() ? nullptr : page.arc_tags.data() + page.heads[PlaceOf(node)].first_arc;
  }
  // Null if there is none. Costs O(log arcs of the node).
  const Arc* FindArc(NodeNumber from, NodeNumber to) const;
  TagSet TagsOfArc(NodeNumber from, const Arc& arc) const;
  // In order.
  absl::Span<const NodeNumber> SourcesOf(NodeNumber node) const;

  const std::vector<std::string>& tags() const { return *tags_; }
  // Nothing if the graph does not know one of them: then nothing carries them all.
  std::optional<TagSet> FindTags(absl::Span<const std::string> tags) const;
  std::vector<std::string> NamesOf(TagSet tags) const;

  const SightMap& sight() const { return sight_; }
  std::optional<double> max_distance() const { return max_distance_; }

  // No arc costs less than its length times this, in units of cost; what a heuristic may count on. Holds by a
  // margin greater than what distances are rounded by.
  double least_cost_per_length() const { return least_ratio_; }

  // The enabled node nearest to the position of those it sees (IsClear in sight_map.h), at most `radius`
  // away; among equals the smallest number. kNoNodeNumber if there is none.
  NodeNumber NearestVisible(const WorldPoint& position, double radius) const;

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

  // Held by this revision, shared parts included.
  std::size_t memory_bytes() const;
  // Held by this revision and not by `other`. Costs in proportion to what differs and a pointer for some
  // thousand nodes. REQUIRES: one was made from the other by edits, or both from a third.
  std::size_t BytesBeyond(const WaypointGraph& other) const;

 private:
  friend class GraphEditor;
  friend class ArcWriter;

  // A number that a removed node gave up, and those given up before it.
  struct FreeNumber {
    NodeNumber number = 0;
    std::shared_ptr<const FreeNumber> next;
  };

  WaypointGraph() : tags_(std::make_shared<const std::vector<std::string>>()) {}

  static std::size_t PlaceOf(NodeNumber node) { return node % kPageNodes; }
  const NodePage& PageOf(NodeNumber node) const { return pages_[node / kPageNodes]; }

  SharedPages<NodePage> pages_;
  SharedPages<SourcePage> sources_;
  SharedPages<IdPage> ids_;
  IdIndex by_id_;
  BoxTree<PlacedNode> places_;
  SightMap sight_;
  std::optional<double> max_distance_;
  std::shared_ptr<const std::vector<std::string>> tags_;
  std::shared_ptr<const FreeNumber> free_;
  // Numbers below were used, and those from here on never.
  NodeNumber next_number_ = 0;
  std::size_t node_count_ = 0;
  std::size_t arc_count_ = 0;
  double least_ratio_ = 0.0;
};

}  // namespace waystar::core
