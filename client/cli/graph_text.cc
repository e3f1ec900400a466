#include "client/cli/graph_text.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/cli/cell_argument.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

// "b 3.5, c 2 (closed)".
std::string EdgesText(const v1::WaypointNodeInfo& info) {
  return absl::StrJoin(info.edges(), ", ", [](std::string* out, const auto& edge) {
    absl::StrAppend(out, edge.to(), " ", absl::StrFormat("%.6g", edge.cost()),
                    edge.open() ? "" : " (closed)");
  });
}

std::string MeshSize(const v1::MeshInfo& mesh) {
  return absl::StrCat(mesh.polygons(), mesh.polygons() == 1 ? " polygon" : " polygons", " in ", mesh.parts(),
                      mesh.parts() == 1 ? " connected part" : " connected parts");
}

}  // namespace

absl::StatusOr<v1::WaypointGraph> ParseGraph(absl::string_view json) {
  v1::WaypointGraph graph;
  const auto parsed = google::protobuf::util::JsonStringToMessage({json.data(), json.size()}, &graph, {});
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(std::string(parsed.message()));
  }
  return graph;
}

std::string NodeText(const v1::WaypointNode& node) {
  return node.label().empty() ? node.id() : absl::StrCat(node.id(), " \"", node.label(), "\"");
}

std::string GraphPathText(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  std::vector<std::string> places(answer.nodes().begin(), answer.nodes().end());
  if (request.start().has_position() && answer.positions_size() > 0) {
    places.insert(places.begin(), FormatPosition(answer.positions(0)));
  }
  if (static_cast<size_t>(answer.positions_size()) > places.size()) {
    places.push_back(FormatPosition(answer.positions(answer.positions_size() - 1)));
  }
  return absl::StrJoin(places, " ");
}

std::string GraphFacts(const v1::MapInfo& info, std::size_t width) {
  const v1::WaypointGraphInfo& graph = info.graph();
  std::vector<TableRow> rows = {
      {"map", info.map()},
      {"size", absl::StrCat(graph.nodes(), " nodes, ", graph.edges(), " one-way edges")},
      {"revision", absl::StrCat(info.version().revision())},
      {"digest", DigestText(info.digest())},
      {"created", absl::FormatTime("%Y-%m-%d %H:%M:%S UTC",
                                   absl::FromUnixSeconds(info.create_time().seconds()), absl::UTCTimeZone())},
      {"obstacles", absl::StrCat(graph.named_obstacles())},
      {"memory", absl::StrCat(info.memory_bytes(), " bytes")},
  };
  if (graph.max_distance() > 0.0) {
    rows.push_back({"connected", absl::StrFormat("by sight, up to %.10g", graph.max_distance())});
  }
  if (graph.tags_size() > 0) {
    rows.push_back({"tags", absl::StrJoin(graph.tags(), " ")});
  }
  return FormatTable(rows, width);
}

std::string MeshFacts(const v1::MapInfo& info, std::size_t width) {
  const v1::MeshInfo& mesh = info.mesh();
  std::vector<TableRow> rows = {
      {"map", info.map()},
      {"size", MeshSize(mesh)},
      {"revision", absl::StrCat(info.version().revision())},
      {"digest", DigestText(info.digest())},
      {"created", absl::FormatTime("%Y-%m-%d %H:%M:%S UTC",
                                   absl::FromUnixSeconds(info.create_time().seconds()), absl::UTCTimeZone())},
      {"from", FormatPosition(mesh.low())},
      {"to", FormatPosition(mesh.high())},
      {"memory", absl::StrCat(info.memory_bytes(), " bytes")},
  };
  if (mesh.portals() > 0) {
    rows.push_back({"portals", absl::StrCat(mesh.portals())});
  }
  return FormatTable(rows, width);
}

std::string NewMapText(const v1::MapInfo& info, const std::string& more) {
  const std::string size =
      info.has_graph()
          ? absl::StrCat(info.graph().nodes(), " nodes, ", info.graph().edges(), " one-way edges")
      : info.has_mesh() ? MeshSize(info.mesh())
                        : absl::StrCat(info.grid().width(), " x ", info.grid().height(), " cells", more);
  return absl::StrCat(info.map(), ": ", size, ", revision ", info.version().revision(), ".\n");
}

absl::StatusOr<std::string> NodeTable(const client::Client& client, const std::string& map,
                                      std::size_t width) {
  v1::ListNodesRequest request;
  request.set_map(map);
  request.set_page_size(int{kNodesInTable});
  const auto page = client.ListNodes(request);
  if (!page.ok()) {
    return page.status();
  }
  std::vector<TableRow> rows = {{"NODE", "POSITION", "EDGES"}};
  for (const v1::WaypointNodeInfo& info : page->nodes()) {
    const std::string disabled = info.node().disabled() ? " (disabled)" : "";
    rows.push_back(
        {NodeText(info.node()) + disabled, FormatPosition(info.node().position()), EdgesText(info)});
  }
  const std::string rest = page->next_page_token().empty() ? "" : "and more: ask ListNodes\n";
  return FormatTable(rows, width) + rest;
}

std::string SearchTable(const SearchNodes& search, std::size_t most, std::size_t width) {
  const std::vector<SearchedNode> nodes = search.All();
  std::vector<TableRow> rows = {{"ORDER", "NODE", "COST", "TOTAL", "FROM"}};
  for (std::size_t i = 0; i < std::min(nodes.size(), most); ++i) {
    const SearchedNode& node = nodes[i];
    rows.push_back({node.is_expanded ? absl::StrCat(i + 1) : "open", node.id, absl::StrFormat("%.6g", node.g),
                    absl::StrFormat("%.6g", node.f), node.parent});
  }
  const std::string rest =
      nodes.size() > most ? absl::StrCat("and ", nodes.size() - most, " more: --full lists all\n") : "";
  return FormatTable(rows, width) + rest;
}

}  // namespace waystar::cli
