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
#include "server/core/graph/arc_writer.h"
#include "server/core/graph/node_pages.h"
#include "server/core/graph/owner.h"
#include "server/core/graph/waypoint.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/map/map_changes.h"
#include "server/core/map/obstacle.h"
#include "server/core/shape/box.h"

namespace waystar::core {

// How many pairs of nodes one edit may check against the obstacles, a pair counted from both ends. It bounds
// the time of an edit to some seconds.
inline constexpr std::size_t kMaxPairs = std::size_t{1} << 22;

// What edits changed.
struct GraphChanges {
  // Nodes that were put, removed, enabled or disabled.
  std::int64_t nodes = 0;
  // Arcs that came or went, or whose cost, tags or openness changed. An edge both ways counts as two.
  std::int64_t arcs = 0;
  // A box around those nodes and the ends of those arcs.
  Box bounds;
  // The same in smaller boxes, and obstacles.
  GraphPlaces places;
};

// Applies edits to a copy of a graph, which shares with the original what they do not change: an edit costs
// in proportion to what it changes and to the nodes and obstacles near it. After an error the editor must not
// be used any more. Fields of errors begin with "nodes[3]", "edges[3]", or as said.
//
// Thread safety: one thread at a time; readers of the base are not disturbed.
class GraphEditor {
 public:
  // `stop` is asked before each node and edge, and its error returned by the edit; null if nothing stops it.
  explicit GraphEditor(WaypointGraph base, const StopCheck* stop = nullptr)
      : graph_(std::move(base)), owner_(NewOwner()), writer_(graph_, owner_), stop_(stop) {}
  GraphEditor(const GraphEditor&) = delete;
  GraphEditor& operator=(const GraphEditor&) = delete;

  const WaypointGraph& graph() const { return graph_; }

  // Returns INVALID_ARGUMENT / BAD_VALUE with field "max_distance". REQUIRES: the graph is empty.
  absl::Status SetAutoConnect(const AutoConnect& rule);

  // Puts nodes. With `replace`, a node replaces one with the same id and keeps its edges; those whose cost is
  // their length get a new cost if it moved. Returns INVALID_ARGUMENT with reason BAD_NODE_ID, DUPLICATE_NODE
  // (within the list), BAD_VALUE (a position), BAD_TAG, BAD_EDGE (moved so far that an edge gets too long);
  // ALREADY_EXISTS / NODE_EXISTS; RESOURCE_EXHAUSTED / TOO_MANY_NODES, TOO_MANY_TAGS or TOO_MANY_EDGES (by
  // AutoConnect).
  absl::Status PutNodes(absl::Span<const WaypointNode> nodes, bool replace);
  // Removes nodes and the edges from and to them. Returns INVALID_ARGUMENT / DUPLICATE_NODE or NOT_FOUND /
  // NODE_NOT_FOUND.
  absl::Status RemoveNodes(absl::Span<const std::string> ids);

  // Puts edges. Those that AutoConnect made are always replaced, others with `replace`, each direction by
  // itself. Returns NOT_FOUND / NODE_NOT_FOUND; INVALID_ARGUMENT with reason BAD_EDGE (from a node to itself,
  // or a cost or length out of range), BAD_VALUE (a cost that is not a number), BAD_TAG or DUPLICATE_EDGE;
  // ALREADY_EXISTS / EDGE_EXISTS; RESOURCE_EXHAUSTED / TOO_MANY_TAGS or TOO_MANY_EDGES.
  absl::Status PutEdges(absl::Span<const WaypointEdge> edges, bool replace);
  // Removes edges, in whose place AutoConnect may make others. Returns NOT_FOUND / NODE_NOT_FOUND or
  // EDGE_NOT_FOUND (neither put nor enabled or disabled by name), or INVALID_ARGUMENT / DUPLICATE_EDGE.
  absl::Status RemoveEdges(absl::Span<const EdgeName> edges);

  // Enable or disable. An edge that AutoConnect made and that is disabled becomes one that was put, with the
  // cost and tags it has. They return NOT_FOUND / NODE_NOT_FOUND or EDGE_NOT_FOUND.
  absl::Status SetNodesEnabled(absl::Span<const std::string> ids, bool enabled);
  absl::Status SetEdgesEnabled(absl::Span<const EdgeName> edges, bool enabled);

  // Returns, with fields that begin with '.', the errors of CheckObstacle; BAD_EFFECT for one that does not
  // block; ALREADY_EXISTS / OBSTACLE_EXISTS; RESOURCE_EXHAUSTED / TOO_MANY_OBSTACLES; and BATCH_TOO_LARGE
  // with an empty field.
  absl::Status PutObstacle(std::shared_ptr<const Obstacle> obstacle, bool replace);
  // These return NOT_FOUND / OBSTACLE_NOT_FOUND with field ".id", and the errors of ShiftShape with ".dx".
  absl::Status MoveObstacle(absl::string_view id, double dx, double dy);
  absl::Status ResizeObstacle(absl::string_view id, Shape shape);
  absl::Status RemoveObstacle(absl::string_view id);

  // Blocks an area as an obstacle of that shape would, in addition to all obstacles and in place of an area
  // that was blocked before. It has the id kAreaId, which no obstacle that is put can have. This is for
  // graphs that are not kept. Returns, with fields that begin with '.', the errors of CheckShape, and
  // BATCH_TOO_LARGE with an empty field.
  absl::Status BlockArea(Shape shape);
  static constexpr absl::string_view kAreaId = "(area)";

  // Returns the changes since the editor was made.
  const GraphChanges& changes() const { return changes_; }

  // The editor must not be used afterwards.
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
  // Returns the bits of the tags. A name that nothing carries may give up its bit, unless it is in `kept`.
  absl::StatusOr<TagSet> InternTags(const std::vector<std::string>& tags, TagSet kept);
  absl::StatusOr<std::vector<NodeNumber>> FindNodes(absl::Span<const std::string> ids) const;
  // Returns the directions that a name means, each of which must be new to `seen`.
  absl::StatusOr<std::vector<EdgeEnds>> EndsOf(const EdgeName& name, PairSet& seen) const;

  NodeNumber TakeNumber();
  // Takes a node out of all that is counted or found by it, before it is written again or dropped.
  void TakeNodeOut(NodeNumber number);
  // REQUIRES: unless it is new, TakeNodeOut(number) was called.
  absl::Status WriteNode(const WaypointNode& node, NodeNumber number, bool is_new);
  void DropNode(NodeNumber number);

  // Takes the tags of the arcs that are to be replaced by edges with tags of their own, so that they make
  // room for these. That the arcs change is noted once they are replaced.
  void StripTags(absl::Span<const WaypointEdge> edges);

  // Appends changes of the arcs that were put from and to a node whose position may have changed.
  absl::Status RefreshOwnArcs(NodeNumber node, std::vector<ArcChange>& changes) const;
  // Appends changes of the arcs that AutoConnect makes from and to these nodes.
  absl::Status Reconnect(absl::Span<const NodeNumber> nodes, std::vector<ArcChange>& changes);
  // Appends changes of the arcs between two nodes, given whether they are to be connected.
  void ConnectPair(Pair pair, bool connected, std::vector<ArcChange>& changes) const;
  bool AreConnected(NodeNumber a, NodeNumber b) const;
  bool IsOwnArc(NodeNumber from, NodeNumber to) const;

  absl::Status ReplaceObstacle(std::shared_ptr<const Obstacle> before, std::shared_ptr<const Obstacle> after);
  // Each is appended once, however many parts touch it.
  absl::Status CollectOwnArcs(const Shape& shape, std::vector<ArcChange>& touched) const;
  absl::Status CollectPairs(const Shape& shape, PairSet& touched);

  absl::Status CountPairs(std::size_t count);
  absl::Status Write(std::vector<ArcChange> changes);
  // `is_opened` as in GraphPlaces.
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
