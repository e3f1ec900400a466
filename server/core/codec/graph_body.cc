#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/codec/fields.h"
#include "server/core/codec/map_image.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/tags.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/map/sight_line.h"

namespace waystar::core {
namespace {

void WriteSight(const GridSight& sight, BlockWriter& to) {
  const BitPlane& walkable = sight.walkable();
  WriteValue(sight.origin(), to);
  to.PutDouble(sight.cell_size());
  to.PutNumber(static_cast<std::uint64_t>(walkable.width()));
  to.PutNumber(static_cast<std::uint64_t>(walkable.height()));
  std::string row(static_cast<std::size_t>(walkable.width()), '\0');
  for (int y = 0; y < walkable.height(); ++y) {
    for (int x = 0; x < walkable.width(); ++x) {
      row[static_cast<std::size_t>(x)] = walkable.Test({x, y}) ? '\1' : '\0';
    }
    to.PutBytes(row);
  }
}

std::shared_ptr<const GridSight> ReadSight(BlockReader& from) {
  const auto origin = ReadValue<Point>(from);
  const double cell_size = from.Double();
  const int width = static_cast<int>(from.Number(kMaxMapSide));
  const int height = static_cast<int>(from.Number(kMaxMapSide));
  if (!CheckWorldFrame({.origin = {.x = origin.x, .y = origin.y}, .cell_size = cell_size}).ok() ||
      width < 1 || height < 1) {
    from.Fail("the grid that blocks sight has no such place or size");
  }
  if (!from.ok()) {
    return nullptr;
  }
  BitPlane walkable(width, height, false);
  BitPlaneWriter writer(walkable);
  std::string row(static_cast<std::size_t>(width), '\0');
  for (int y = 0; y < height && from.ok(); ++y) {
    from.Bytes(row.data(), row.size());
    std::vector<Word> words(static_cast<std::size_t>(WordsPerRow(width)), 0);
    for (int x = 0; x < width; ++x) {
      if (row[static_cast<std::size_t>(x)] != '\0') {
        ForEachWord(x, x + 1, [&](std::size_t i, Word mask) { words[i] |= mask; });
      }
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] != 0) {
        writer.row(y)[i] = words[i];
      }
    }
  }
  return std::make_shared<const GridSight>(std::move(walkable), origin, cell_size);
}

WaypointNode NodeOf(const WaypointGraph& graph, NodeNumber node) {
  return {.id = graph.IdOf(node),
          .position = graph.PositionOf(node),
          .enabled = graph.IsEnabled(node),
          .tags = graph.NamesOf(graph.TagsOf(node)),
          .label = std::string(graph.LabelOf(node))};
}

// Writes the explicit arcs of a node. AutoConnect recreates the automatic ones.
void WriteArcs(const WaypointGraph& graph, NodeNumber node, BlockWriter& to) {
  const absl::Span<const Arc> arcs = graph.ArcsOf(node);
  to.PutNumber(static_cast<std::uint64_t>(
      std::count_if(arcs.begin(), arcs.end(), [](const Arc& arc) { return !arc.is_auto(); })));
  for (const Arc& arc : arcs) {
    if (!arc.is_auto()) {
      to.PutNumber(arc.to);
      to.PutBool((arc.flags & Arc::kEnabled) != 0);
      const bool is_length = (arc.flags & Arc::kCostIsLength) != 0;
      to.PutBool(is_length);
      if (!is_length) {
        to.PutNumber(static_cast<std::uint64_t>(arc.cost));
      }
      WriteValue(graph.NamesOf(graph.TagsOfArc(node, arc)), to);
    }
  }
}

WaypointEdge ReadArc(BlockReader& from, const std::string& source, const std::vector<std::string>& ids) {
  WaypointEdge edge;
  edge.name.from = source;
  const std::uint64_t to = from.Number(ids.size() - 1);
  edge.name.to = ids[static_cast<std::size_t>(to)];
  edge.name.one_way = true;
  edge.enabled = from.Bool();
  if (!from.Bool()) {
    edge.cost = CostToDouble(static_cast<Cost>(from.Number(std::numeric_limits<Cost>::max())));
  }
  FieldReader{from}(TagsField(edge.tags));
  return edge;
}

// Builds a graph from its nodes in number order. Nodes are put one at a time, since a batch would be
// renumbered.
class GraphReader {
 public:
  GraphReader(BlockReader& from, const StopCheck* stop) : from_(from), stop_(stop) {}

  absl::StatusOr<WaypointGraph> Read() {
    WAYSTAR_RETURN_IF_ERROR(ReadRule());
    WAYSTAR_RETURN_IF_ERROR(ReadObstacles());
    WAYSTAR_RETURN_IF_ERROR(ReadNodes());
    WAYSTAR_RETURN_IF_ERROR(ReadArcs());
    return std::move(graph_);
  }

 private:
  // Applies one edit, and turns its error into one of the image. Each edit gets its own editor, because an
  // editor limits the number of node pairs it examines.
  template <typename Apply>
  absl::Status Edit(Apply apply) {
    WAYSTAR_RETURN_IF_ERROR(from_.status());
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    GraphEditor editor(std::move(graph_));
    if (const absl::Status status = apply(editor); !status.ok()) {
      from_.Fail(status.message());
    }
    graph_ = std::move(editor).Finish();
    return from_.status();
  }

  absl::Status ReadRule() {
    if (!from_.Bool()) {
      return from_.status();
    }
    AutoConnect rule{.max_distance = from_.Double()};
    if (from_.Bool()) {
      rule.grid = ReadSight(from_);
    }
    return Edit([&](GraphEditor& editor) { return editor.SetAutoConnect(rule); });
  }

  absl::Status ReadObstacles() {
    for (std::uint64_t left = from_.Number(kMaxObstacles); left > 0; --left) {
      auto obstacle = ReadValue<std::shared_ptr<const Obstacle>>(from_);
      WAYSTAR_RETURN_IF_ERROR(
          Edit([&](GraphEditor& editor) { return editor.PutObstacle(std::move(obstacle), false); }));
    }
    return from_.status();
  }

  // Free numbers are first given to dummy nodes, which are then removed in such an order that the numbers are
  // reused in the original order.
  absl::Status ReadNodes() {
    std::vector<WaypointNode> nodes;
    absl::flat_hash_set<std::string> ids;
    for (std::uint64_t left = from_.Number(kMaxNodes); left > 0 && from_.ok(); --left) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, left));
      nodes.push_back(from_.Bool() ? ReadValue<WaypointNode>(from_) : WaypointNode());
      ids.insert(nodes.back().id);
      ids_.push_back(nodes.back().id);
    }
    std::vector<std::string> unused;
    for (std::uint64_t next = 0; WaypointNode & node : nodes) {
      if (node.id.empty()) {
        while (!ids.insert(absl::StrCat(next)).second) {
          ++next;
        }
        node.id = absl::StrCat(next);
        unused.push_back(node.id);
      }
      WAYSTAR_RETURN_IF_ERROR(Edit([&](GraphEditor& editor) { return editor.PutNodes({&node, 1}, false); }));
    }
    std::vector<std::string> freed;
    for (std::size_t i = 0; i < unused.size() && from_.ok(); ++i) {
      freed.push_back(unused[static_cast<std::size_t>(from_.Number(unused.size() - 1))]);
    }
    std::reverse(freed.begin(), freed.end());
    return freed.empty() ? from_.status()
                         : Edit([&](GraphEditor& editor) { return editor.RemoveNodes(freed); });
  }

  absl::Status ReadArcs() {
    for (const std::string& id : ids_) {
      if (id.empty()) {
        continue;
      }
      std::vector<WaypointEdge> edges;
      for (std::uint64_t left = from_.Number(ids_.size()); left > 0 && from_.ok(); --left) {
        edges.push_back(ReadArc(from_, id, ids_));
      }
      WAYSTAR_RETURN_IF_ERROR(from_.status());
      if (!edges.empty()) {
        WAYSTAR_RETURN_IF_ERROR(Edit([&](GraphEditor& editor) { return editor.PutEdges(edges, false); }));
      }
    }
    return from_.status();
  }

  BlockReader& from_;
  const StopCheck* const stop_;
  WaypointGraph graph_ = *WaypointGraph::Create({});
  // Node ids by number; empty for a free number.
  std::vector<std::string> ids_;
};

}  // namespace

void WriteBody(const WaypointGraph& graph, BlockWriter& to, const StopCheck* stop) {
  const GridSight* const grid = graph.sight().grid();
  to.PutBool(graph.max_distance().has_value());
  if (graph.max_distance()) {
    to.PutDouble(*graph.max_distance());
    to.PutBool(grid != nullptr);
    if (grid != nullptr) {
      WriteSight(*grid, to);
    }
  }
  WriteTable<Obstacle>(graph.obstacles(), to, stop);

  const std::vector<NodeNumber> free = graph.FreeNumbers();
  const auto numbers = static_cast<NodeNumber>(graph.node_count() + free.size());
  std::vector<NodeNumber> unused;
  to.PutNumber(numbers);
  for (NodeNumber node = 0; node < numbers && !IsStopped(stop); ++node) {
    to.PutBool(graph.Exists(node));
    if (graph.Exists(node)) {
      WriteValue(NodeOf(graph, node), to);
    } else {
      unused.push_back(node);
    }
  }
  for (const NodeNumber node : free) {
    const auto place = std::lower_bound(unused.begin(), unused.end(), node);
    to.PutNumber(static_cast<std::uint64_t>(place - unused.begin()));
  }
  for (NodeNumber node = 0; node < numbers && !IsStopped(stop); ++node) {
    if (graph.Exists(node)) {
      WriteArcs(graph, node, to);
    }
  }
}

absl::StatusOr<WaypointGraph> ReadGraph(BlockReader& from, const StopCheck* stop) {
  return GraphReader(from, stop).Read();
}

}  // namespace waystar::core
