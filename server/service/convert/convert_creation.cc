#include "server/service/convert/convert_creation.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/formats/text/rows.h"
#include "server/formats/text/text.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_edits.h"
#include "server/service/convert/convert_shape.h"

namespace waystar::rpc {

absl::StatusOr<core::GridSettings> ToGridSettings(const v1::GridOptions& options) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::GridOverrides overrides, Below("grid", ToOverrides(options)));
  return Below("grid", core::ApplyOverrides({}, overrides));
}

absl::StatusOr<core::GridMap> GridFromRows(const google::protobuf::RepeatedPtrField<std::string>& rows,
                                           const v1::GridOptions& options, int max_side,
                                           const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(core::GridSettings settings, ToGridSettings(options));
  const std::vector<absl::string_view> views(rows.begin(), rows.end());
  return core::ParseRows(views, std::move(settings), core::RowSource{.max_side = max_side, .stop = stop});
}

absl::StatusOr<core::GridMap> GridFromBits(const v1::BitGrid& bits, const v1::GridOptions& options,
                                           int max_side, const StopCheck* stop) {
  WAYSTAR_RETURN_IF_ERROR(
      WithFieldPrefix(core::CheckMapSize(bits.width(), bits.height(), max_side), "bits."));
  const auto width = static_cast<std::size_t>(bits.width());
  const auto height = static_cast<std::size_t>(bits.height());
  const std::size_t row_bytes = (width + 7) / 8;
  const std::string& blocked = bits.blocked();
  if (!blocked.empty() && blocked.size() != row_bytes * height) {
    return MakeError(ErrorReason::kBadSource, "bits.blocked",
                     absl::StrCat(bits.height(), " rows of ", row_bytes, " bytes are ", row_bytes * height,
                                  " bytes, got ", blocked.size()));
  }
  std::vector<std::string> rows(height, std::string(width, '.'));
  for (std::size_t y = 0; y < height && !blocked.empty(); ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      if ((static_cast<std::uint8_t>(blocked[y * row_bytes + x / 8]) >> (x % 8) & 1) != 0) {
        rows[y][x] = '#';
      }
    }
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::GridSettings settings, ToGridSettings(options));
  const std::vector<absl::string_view> views(rows.begin(), rows.end());
  absl::StatusOr<core::GridMap> map =
      core::ParseRows(views, std::move(settings), core::RowSource{.max_side = max_side, .stop = stop});
  // The rows are not from the request.
  return map.ok() || ErrorFieldOf(map.status()) != "rows" ? std::move(map) : WithField(map.status(), "bits");
}

absl::StatusOr<core::GridMap> WithProfiles(absl::StatusOr<core::GridMap> map,
                                           const v1::GridOptions& options) {
  WAYSTAR_RETURN_IF_ERROR(map.status());
  WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(AddProfiles(options, *map), "grid."));
  return map;
}

namespace {

using Texts = google::protobuf::RepeatedPtrField<std::string>;

std::vector<std::string> ToTexts(const Texts& texts) { return {texts.begin(), texts.end()}; }

core::WaypointNode ToNode(const v1::WaypointNode& node) {
  return {.id = node.id(),
          .position = ToWorldPoint(node.position()),
          .enabled = !node.has_enabled() || node.enabled(),
          .tags = ToTexts(node.tags()),
          .label = node.label()};
}

void FillNode(const core::WaypointNode& node, v1::WaypointNode& out) {
  out.set_id(node.id);
  FillPosition(node.position, *out.mutable_position());
  out.set_enabled(node.enabled);
  out.mutable_tags()->Add(node.tags.begin(), node.tags.end());
  out.set_label(node.label);
}

core::EdgeName ToEdgeName(const v1::EdgeName& name) { return {name.from(), name.to(), name.one_way()}; }

absl::StatusOr<std::vector<core::WaypointEdge>> ToEdges(
    const google::protobuf::RepeatedPtrField<v1::WaypointEdge>& edges) {
  std::vector<core::WaypointEdge> out;
  out.reserve(static_cast<std::size_t>(edges.size()));
  for (int i = 0; i < edges.size(); ++i) {
    const v1::WaypointEdge& edge = edges.Get(i);
    if (!edge.has_edge()) {
      return MissingField(absl::StrCat("edges[", i, "].edge"));
    }
    out.push_back({.name = ToEdgeName(edge.edge()),
                   .enabled = !edge.has_enabled() || edge.enabled(),
                   .tags = ToTexts(edge.tags())});
    if (edge.has_cost()) {
      // A negative cost means unset to the core, so it must be rejected here.
      if (edge.cost() < 0.0) {
        return BadNumber(ErrorReason::kBadEdge, absl::StrCat("edges[", i, "].cost"), edge.cost(),
                         absl::StrCat("0 to ", core::kMaxEdgeCost));
      }
      out.back().cost = edge.cost();
    }
  }
  return out;
}

void FillEdgeName(const core::EdgeName& name, v1::EdgeName& out) {
  out.set_from(name.from);
  out.set_to(name.to);
  out.set_one_way(name.one_way);
}

}  // namespace

std::vector<core::EdgeName> ToEdgeNames(const google::protobuf::RepeatedPtrField<v1::EdgeName>& names) {
  return Converted(names, ToEdgeName);
}

absl::StatusOr<core::WaypointSpec> ToWaypointSpec(const v1::WaypointGraph& graph,
                                                  std::shared_ptr<const core::GridSight> grid) {
  core::WaypointSpec spec{.nodes = Converted(graph.nodes(), ToNode)};
  WAYSTAR_ASSIGN_OR_RETURN(spec.edges, ToEdges(graph.edges()));
  if (graph.has_auto_connect()) {
    spec.auto_connect =
        core::AutoConnect{.max_distance = graph.auto_connect().max_distance(), .grid = std::move(grid)};
  }
  for (int i = 0; i < graph.obstacles_size(); ++i) {
    const std::string field = absl::StrCat("obstacles[", i, "].");
    absl::StatusOr<core::PutObstacle> put = ToPut(graph.obstacles(i), HexCoordinates());
    WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(put.status(), field));
    if (put->lifetime) {
      return MakeError(ErrorReason::kBadLifetime, absl::StrCat(field, "lifetime"),
                       "obstacles that a map begins with stay; put those that do not afterwards");
    }
    spec.obstacles.push_back(std::move(put->obstacle));
  }
  return spec;
}

absl::StatusOr<core::PutNodes> ToPutNodes(const v1::WaypointNodes& nodes, bool replace) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(!nodes.nodes().empty(), "nodes"));
  return core::PutNodes{.nodes = Converted(nodes.nodes(), ToNode), .replace = replace};
}

absl::StatusOr<core::RemoveNodes> ToRemoveNodes(const v1::RemoveNodes& edit) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(!edit.nodes().empty(), "nodes"));
  return core::RemoveNodes{ToTexts(edit.nodes())};
}

absl::StatusOr<core::PutEdges> ToPutEdges(const v1::WaypointEdges& edges, bool replace) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(!edges.edges().empty(), "edges"));
  core::PutEdges put{.replace = replace};
  WAYSTAR_ASSIGN_OR_RETURN(put.edges, ToEdges(edges.edges()));
  return put;
}

absl::StatusOr<core::RemoveEdges> ToRemoveEdges(const v1::RemoveEdges& edit) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(!edit.edges().empty(), "edges"));
  return core::RemoveEdges{ToEdgeNames(edit.edges())};
}

absl::StatusOr<core::SetEnabled> ToSetEnabled(const v1::SetEnabled& edit) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(!edit.nodes().empty() || !edit.edges().empty(), "nodes"));
  return core::SetEnabled{
      .nodes = ToTexts(edit.nodes()), .edges = ToEdgeNames(edit.edges()), .enabled = edit.enabled()};
}

void FillNodes(const std::vector<core::WaypointNode>& nodes, v1::WaypointNodes& out) {
  for (const core::WaypointNode& node : nodes) {
    FillNode(node, *out.add_nodes());
  }
}

void FillRemoveNodes(const core::RemoveNodes& edit, v1::RemoveNodes& out) {
  out.mutable_nodes()->Add(edit.nodes.begin(), edit.nodes.end());
}

void FillEdges(const std::vector<core::WaypointEdge>& edges, v1::WaypointEdges& out) {
  for (const core::WaypointEdge& edge : edges) {
    v1::WaypointEdge& written = *out.add_edges();
    FillEdgeName(edge.name, *written.mutable_edge());
    if (edge.cost != core::WaypointEdge::kCostIsLength) {
      written.set_cost(edge.cost);
    }
    written.set_enabled(edge.enabled);
    written.mutable_tags()->Add(edge.tags.begin(), edge.tags.end());
  }
}

void FillRemoveEdges(const core::RemoveEdges& edit, v1::RemoveEdges& out) {
  for (const core::EdgeName& name : edit.edges) {
    FillEdgeName(name, *out.add_edges());
  }
}

void FillSetEnabled(const core::SetEnabled& edit, v1::SetEnabled& out) {
  out.mutable_nodes()->Add(edit.nodes.begin(), edit.nodes.end());
  for (const core::EdgeName& name : edit.edges) {
    FillEdgeName(name, *out.add_edges());
  }
  out.set_enabled(edit.enabled);
}

void FillGraphInfo(const core::WaypointGraph& graph, v1::WaypointGraphInfo& out) {
  out.set_nodes(static_cast<std::int32_t>(graph.node_count()));
  out.set_edges(static_cast<std::int32_t>(graph.arc_count()));
  out.set_named_obstacles(static_cast<std::int32_t>(graph.obstacles().size()));
  const std::vector<std::string> tags = graph.tags();
  out.mutable_tags()->Add(tags.begin(), tags.end());
  out.set_max_distance(graph.max_distance().value_or(0.0));
}

void FillNodeInfo(const core::WaypointGraph& graph, core::NodeNumber node, v1::WaypointNodeInfo& out) {
  FillNode({.id = graph.IdOf(node),
            .position = graph.PositionOf(node),
            .enabled = graph.IsEnabled(node),
            .tags = graph.NamesOf(graph.TagsOf(node)),
            .label = std::string(graph.LabelOf(node))},
           *out.mutable_node());
  for (const core::Arc& arc : graph.ArcsOf(node)) {
    v1::WaypointNodeInfo::OutgoingEdge& edge = *out.add_edges();
    edge.set_to(graph.IdOf(arc.to));
    edge.set_cost(core::CostToDouble(arc.cost));
    edge.set_open(arc.is_open());
    edge.set_automatic(arc.is_auto());
    const std::vector<std::string> tags = graph.NamesOf(graph.TagsOfArc(node, arc));
    edge.mutable_tags()->Add(tags.begin(), tags.end());
  }
}

}  // namespace waystar::rpc
