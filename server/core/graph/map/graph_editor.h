// Editor that makes a changed copy of a waypoint graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/elements/area_collector.h"
#include "server/core/elements/map_changes.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/waypoint.h"
#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/map/shared_pages.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/geometry/box.h"

namespace waystar::core {

// New state of the arc from one node to another.
struct ArcChange {
  NodeNumber from = 0;
  // `to` is set even if the arc does not exist.
  Arc arc;
  TagSet tags = 0;
  bool is_there = true;
  // Set by ArcWriter::Write: true if the change makes a path possible or cheaper.
  bool is_better = false;

  bool IsSameArc(const ArcChange& other) const { return from == other.from && arc.to == other.arc.to; }
  friend bool operator<(const ArcChange& a, const ArcChange& b) {
    return a.from != b.from ? a.from < b.from : a.arc.to < b.arc.to;
  }
};

// Applies arc changes to a graph. Not thread-safe.
class ArcWriter {
 public:
  // REQUIRES: no other writer has `owner`.
  ArcWriter(WaypointGraph& graph, Owner owner) : graph_(graph), owner_(owner) {}

  // Applies all changes; the last one of each arc counts. Also updates data that depends on the positions of
  // moved nodes; `changes` must include each of their arcs, even if unchanged. Cost is proportional to the
  // affected pages, and to all pages of the graph if the arc of least cost per distance is removed. Returns
  // the effective changes, in order.
  std::vector<ArcChange> Write(std::vector<ArcChange> changes);

 private:
  // Applies the changes of one page, and appends the effective ones to `changed`.
  void WritePage(std::size_t page, absl::Span<const ArcChange> changes, std::vector<ArcChange>& changed);
  // Change of the arcs that lead to a node.
  struct SourceChange {
    NodeNumber to = 0;
    NodeNumber from = 0;
    bool is_there = true;
  };
  void WriteSources(std::size_t page, absl::Span<const SourceChange> changes);
  void UpdateReach(NodeNumber node);
  ArcCostBound BoundOf(std::size_t page) const;

  WaypointGraph& graph_;
  const Owner owner_;
  std::vector<SourceChange> sources_;
};

// Maximum number of pairs of nodes that one edit may check against the obstacles, counted from both ends.
// Bounds the time of an edit to a few seconds.
inline constexpr std::size_t kMaxPairs = std::size_t{1} << 22;

// Changes made by edits.
struct GraphChanges {
  // Number of nodes that were put, removed, enabled or disabled.
  std::int64_t nodes = 0;
  // Number of arcs that were added or removed, or whose cost, tags or openness changed. A two-way edge counts
  // twice.
  std::int64_t arcs = 0;
  // Boxes around those nodes, the ends of those arcs, and the changed obstacles.
  GraphPlaces places;
  // The same in whole units of the world.
  AreaCollector areas;
};

// Applies edits to a copy of a graph that shares unchanged parts with the original. Cost is proportional to
// the change and to the nodes and obstacles near it. After an error the editor must not be used. Fields of
// errors begin with "nodes[3]" or "edges[3]" unless stated otherwise.
//
// Thread safety: not thread-safe; readers of the base are unaffected.
class GraphEditor {
 public:
  // `stop` is checked before each node and edge, and the edit returns its error. May be null.
  explicit GraphEditor(WaypointGraph base, const StopCheck* stop = nullptr)
      : graph_(std::move(base)), owner_(NewOwner()), writer_(graph_, owner_), stop_(stop) {}
  GraphEditor(const GraphEditor&) = delete;
  GraphEditor& operator=(const GraphEditor&) = delete;

  const WaypointGraph& graph() const { return graph_; }

  // Sets the rule for automatic edges. Returns INVALID_ARGUMENT / BAD_VALUE with field "max_distance".
  // REQUIRES: the graph is empty.
  absl::Status SetAutoConnect(const AutoConnect& rule);

  // Puts nodes. With `replace`, a node replaces the one with the same id and keeps its edges; if it moved,
  // edges whose cost is their length get a new cost. Returns INVALID_ARGUMENT with reason BAD_NODE_ID,
  // DUPLICATE_NODE (within the list), BAD_VALUE (a position), BAD_TAG, or BAD_EDGE (an edge became too long);
  // ALREADY_EXISTS / NODE_EXISTS; RESOURCE_EXHAUSTED / TOO_MANY_NODES, TOO_MANY_TAGS or TOO_MANY_EDGES (by
  // AutoConnect).
  absl::Status PutNodes(absl::Span<const WaypointNode> nodes, bool replace);
  // Removes nodes and their edges. Returns INVALID_ARGUMENT / DUPLICATE_NODE or NOT_FOUND / NODE_NOT_FOUND.
  absl::Status RemoveNodes(absl::Span<const std::string> ids);

  // Puts edges. Automatic edges are always replaced, others only with `replace`, separately for each
  // direction. Returns NOT_FOUND / NODE_NOT_FOUND; INVALID_ARGUMENT with reason BAD_EDGE (from a node to
  // itself, or a cost or length out of range), BAD_VALUE (a cost that is not a number), BAD_TAG or
  // DUPLICATE_EDGE; ALREADY_EXISTS / EDGE_EXISTS; RESOURCE_EXHAUSTED / TOO_MANY_TAGS or TOO_MANY_EDGES.
  absl::Status PutEdges(absl::Span<const WaypointEdge> edges, bool replace);
  // Removes edges; AutoConnect may replace them. Returns NOT_FOUND / NODE_NOT_FOUND or EDGE_NOT_FOUND
  // (neither put nor enabled or disabled by name), or INVALID_ARGUMENT / DUPLICATE_EDGE.
  absl::Status RemoveEdges(absl::Span<const EdgeName> edges);

  // Enable or disable nodes or edges. Disabling an automatic edge makes it an explicit one with its current
  // cost and tags. Return NOT_FOUND / NODE_NOT_FOUND or EDGE_NOT_FOUND.
  absl::Status SetNodesEnabled(absl::Span<const std::string> ids, bool enabled);
  absl::Status SetEdgesEnabled(absl::Span<const EdgeName> edges, bool enabled);

  // Inserts an obstacle or, with `replace`, replaces the one with the same id. Returns the errors of
  // CheckObstacle, BAD_EFFECT for an obstacle that does not block, and ALREADY_EXISTS / OBSTACLE_EXISTS, all
  // with fields that begin with '.'; or RESOURCE_EXHAUSTED / TOO_MANY_OBSTACLES or BATCH_TOO_LARGE with an
  // empty field.
  absl::Status PutObstacle(std::shared_ptr<const Obstacle> obstacle, bool replace);
  // These return NOT_FOUND / OBSTACLE_NOT_FOUND with field ".id", or of RemoveObstacle an empty one;
  // MoveObstacle also the errors of ShiftShape.
  absl::Status MoveObstacle(absl::string_view id, double dx, double dy);
  absl::Status ResizeObstacle(absl::string_view id, Shape shape);
  absl::Status RemoveObstacle(absl::string_view id);
  // Removes all obstacles, and the area of BlockArea. Returns BATCH_TOO_LARGE or TOO_MANY_EDGES without a
  // field.
  absl::Status RemoveAllObstacles();

  // Blocks an area as an obstacle of that shape would, in addition to all obstacles and replacing the
  // previous area. It has the id kAreaId, which no other obstacle can have. For temporary graphs only.
  // Returns, with fields that begin with '.', the errors of CheckShape, and BATCH_TOO_LARGE with an empty
  // field.
  absl::Status BlockArea(Shape shape);
  static constexpr absl::string_view kAreaId = "(area)";

  // Returns the changes since the editor was created.
  const GraphChanges& changes() const { return changes_; }

  // Returns the changed graph. The editor must not be used afterwards.
  WaypointGraph Finish() && { return std::move(graph_); }

 private:
  struct Pair {
    NodeNumber low = 0;
    NodeNumber high = 0;

    friend bool operator==(const Pair&, const Pair&) = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Pair& pair) {
      return H::combine(std::move(hash), pair.low, pair.high);
    }
  };
  struct EdgeEnds {
    NodeNumber from = 0;
    NodeNumber to = 0;
  };
  using PairSet = absl::flat_hash_set<Pair>;

  absl::StatusOr<NodeNumber> FindNode(absl::string_view id, absl::string_view field) const;
  // Returns the bits of the tags. An unused name may lose its bit to a new one unless it is in `kept`.
  absl::StatusOr<TagSet> InternTags(const std::vector<std::string>& tags, TagSet kept);
  absl::StatusOr<std::vector<NodeNumber>> FindNodes(absl::Span<const std::string> ids) const;
  // Returns the directions of a named edge, each of which must be new to `seen`.
  absl::StatusOr<std::vector<EdgeEnds>> EndsOf(const EdgeName& name, PairSet& seen) const;

  NodeNumber TakeNumber();
  // Removes a node from all counts and indexes, before it is rewritten or dropped.
  void TakeNodeOut(NodeNumber number);
  // REQUIRES: the node is new, or TakeNodeOut(number) was called.
  absl::Status WriteNode(const WaypointNode& node, NodeNumber number, bool is_new);
  void DropNode(NodeNumber number);

  // Removes the tags of arcs that are about to be replaced, to make room for the tags of the new edges. The
  // changes of the arcs are recorded when they are replaced.
  void StripTags(absl::Span<const WaypointEdge> edges);

  // Appends changes of the explicit arcs from and to a node whose position may have changed.
  absl::Status RefreshOwnArcs(NodeNumber node, std::vector<ArcChange>& changes) const;
  // Appends changes of the automatic arcs from and to these nodes.
  absl::Status Reconnect(absl::Span<const NodeNumber> nodes, std::vector<ArcChange>& changes);
  // Appends changes of the arcs between two nodes, given whether they are to be connected.
  void ConnectPair(Pair pair, bool connected, std::vector<ArcChange>& changes) const;
  bool AreConnected(NodeNumber a, NodeNumber b) const;
  bool IsOwnArc(NodeNumber from, NodeNumber to) const;

  absl::Status ReplaceObstacle(std::shared_ptr<const Obstacle> before, std::shared_ptr<const Obstacle> after);
  // Collect the arcs or pairs that a shape may touch, each once, however many of its parts touch it.
  absl::Status CollectOwnArcs(const Shape& shape, std::vector<ArcChange>& touched) const;
  absl::Status CollectPairs(const Shape& shape, PairSet& touched);

  absl::Status CountPairs(std::size_t count);
  absl::Status Write(std::vector<ArcChange> changes);
  // Record a changed node or arc; `is_opened` is as in GraphPlaces.
  void NoteNode(NodeNumber node, bool is_opened);
  void NoteArc(const ArcChange& change);

  WaypointGraph graph_;
  const Owner owner_;
  ArcWriter writer_;
  const StopCheck* const stop_;
  GraphChanges changes_;
  std::size_t pairs_ = 0;
};

}  // namespace waystar::core
